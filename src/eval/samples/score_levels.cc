#include "eval/samples/score_levels.h"

#include <algorithm>
#include <utility>

namespace tandem::eval {

ScoreLevels LevelsOf(std::vector<ScoredCount> all) {
  std::sort(all.begin(), all.end(), [](const ScoredCount& a, const ScoredCount& b) {
    return a.score != b.score ? a.score > b.score : a.count.query < b.count.query;
  });
  ScoreLevels levels;
  for (const ScoredCount& next : all) {
    const bool same_level = !levels.scores.empty() && levels.scores.back() == next.score;
    if (!same_level) {
      levels.scores.push_back(next.score);
      levels.starts.push_back(levels.counts.size());
    }
    if (same_level && levels.counts.back().query == next.count.query) {
      levels.counts.back().positives += next.count.positives;
      levels.counts.back().others += next.count.others;
    } else {
      levels.counts.push_back(next.count);
    }
  }
  levels.starts.push_back(levels.counts.size());
  return levels;
}

ScoreLevels PoolLevels(std::span<const QuerySamples> samples) {
  std::vector<ScoredCount> all;
  size_t total = 0;
  for (const QuerySamples& query : samples) {
    RefuseNan(query.positives);
    RefuseNan(query.negatives);
    total += query.positives.size() + query.negatives.size();
  }
  all.reserve(total);
  for (size_t q = 0; q < samples.size(); ++q) {
    const auto query = static_cast<uint32_t>(q);
    for (const double score : samples[q].positives) all.push_back({score, {query, 1, 0}});
    for (const double score : samples[q].negatives) all.push_back({score, {query, 0, 1}});
  }
  ScoreLevels levels = LevelsOf(std::move(all));
  for (const QuerySamples& query : samples) {
    levels.positives.push_back(query.positives.size() + query.missing_positives);
    levels.others.push_back(query.negatives.size());
  }
  return levels;
}

}  // namespace tandem::eval

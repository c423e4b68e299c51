#include "eval/samples/corpus_levels.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace tandem::eval {
namespace {

// More thresholds than a reader could tell apart; counts of 7,000 queries then take 86 MB.
constexpr size_t kPositiveCandidates = 2048;
constexpr size_t kOtherCandidates = 1024;

std::vector<double> Distinct(std::vector<double> scores) {
  std::sort(scores.begin(), scores.end(), std::greater<>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  return scores;
}

// Appends at most `most` of `scores`, evenly spread, both ends included.
void AppendSpread(const std::vector<double>& scores, size_t most, std::vector<double>& to) {
  if (scores.size() <= most) {
    to.insert(to.end(), scores.begin(), scores.end());
    return;
  }
  for (size_t i = 0; i < most; ++i) to.push_back(scores[i * (scores.size() - 1) / (most - 1)]);
}

uint32_t CountAbove(std::span<const double> scores, double border) {
  return static_cast<uint32_t>(
      std::count_if(scores.begin(), scores.end(), [border](double s) { return s > border; }));
}

// Adds the levels of one query that were counted; `row` [T] are its counts.
void AddCounted(const QuerySamples& samples, uint32_t query, double border,
                const CorpusCounts& counted, std::vector<ScoredCount>& all) {
  const size_t thresholds = counted.thresholds.size();
  std::vector<double> positives = samples.positives;
  std::sort(positives.begin(), positives.end(), std::greater<>());
  uint32_t found = CountAbove(positives, border);
  uint32_t others = CountAbove(samples.negatives, border);
  for (size_t t = 0; t < thresholds; ++t) {
    uint32_t found_here = found;
    while (found_here < positives.size() && positives[found_here] >= counted.thresholds[t]) {
      ++found_here;
    }
    const uint32_t results = counted.counts[query * thresholds + t];
    const uint32_t others_here = std::max(others, results > found_here ? results - found_here : 0);
    if (found_here > found || others_here > others) {
      all.push_back({counted.thresholds[t], {query, found_here - found, others_here - others}});
    }
    found = found_here;
    others = others_here;
  }
}

}  // namespace

std::vector<double> FloorsOf(std::span<const QuerySamples> samples) {
  std::vector<double> floors;
  floors.reserve(samples.size());
  for (const QuerySamples& query : samples) {
    floors.push_back(query.negatives.size() < kNegativesPerQuery
                         ? kNoFloor
                         : *std::min_element(query.negatives.begin(), query.negatives.end()));
  }
  return floors;
}

double BorderOf(std::span<const double> floors) {
  return floors.empty() ? kNoFloor : *std::max_element(floors.begin(), floors.end());
}

std::vector<double> CandidateThresholds(std::span<const QuerySamples> samples, double border,
                                        std::span<const double> further) {
  std::vector<double> positives, others;
  const auto keep = [border](std::span<const double> from, std::vector<double>& to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to),
                 [border](double score) { return score <= border; });
  };
  for (const QuerySamples& query : samples) {
    keep(query.positives, positives);
    keep(query.negatives, others);
  }
  std::vector<double> candidates;
  AppendSpread(Distinct(std::move(positives)), kPositiveCandidates, candidates);
  AppendSpread(Distinct(std::move(others)), kOtherCandidates, candidates);
  keep(further, candidates);
  return Distinct(std::move(candidates));
}

CorpusLevels LevelsOfCorpus(std::span<const QuerySamples> samples, std::span<const double> floors,
                            const CorpusCounts* counted) {
  if (floors.size() != samples.size()) throw std::logic_error("a floor for each query is needed");
  if (counted != nullptr && counted->counts.size() != samples.size() * counted->thresholds.size()) {
    throw std::logic_error("counts are [queries, thresholds]");
  }
  const double border = BorderOf(floors);
  const ScoreLevels pool = PoolLevels(samples);
  std::vector<ScoredCount> all;
  for (size_t level = 0; level < pool.size() && pool.scores[level] > border; ++level) {
    for (const LevelCount& count : pool.CountsOf(level)) all.push_back({pool.scores[level], count});
  }
  if (counted != nullptr) {
    for (size_t q = 0; q < samples.size(); ++q) {
      AddCounted(samples[q], static_cast<uint32_t>(q), border, *counted, all);
    }
  }
  CorpusLevels corpus;
  corpus.levels = LevelsOf(std::move(all));
  corpus.levels.positives = pool.positives;
  corpus.levels.others = pool.others;
  corpus.unknown_from = counted == nullptr ? border : kNoFloor;
  corpus.cut_queries = static_cast<size_t>(
      std::count_if(floors.begin(), floors.end(), [](double floor) { return floor > kNoFloor; }));
  return corpus;
}

}  // namespace tandem::eval

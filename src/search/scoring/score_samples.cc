#include "search/scoring/score_samples.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace tandem::search {

std::vector<uint32_t> PositivesOf(const data::JudgedQuery& query, double relevance_level) {
  std::vector<uint32_t> positives;
  for (const data::Judgement& judgement : query.judgements) {
    if (judgement.grade >= relevance_level) positives.push_back(judgement.document);
  }
  std::sort(positives.begin(), positives.end());
  return positives;
}

eval::QuerySamples SamplesOf(std::string_view query, const QueryHits& found,
                             std::span<const uint32_t> positives) {
  eval::QuerySamples samples{.query = query};
  samples.positives.assign(found.watched.begin(), found.watched.end());
  for (const Hit& hit : found.hits) {
    if (samples.negatives.size() == eval::kNegativesPerQuery) break;
    if (!std::binary_search(positives.begin(), positives.end(), hit.document)) {
      samples.negatives.push_back(hit.score);
    }
  }
  return samples;
}

void CountMissingPositives(const data::Qrels& qrels, double relevance_level,
                           std::vector<eval::QuerySamples>& samples) {
  std::unordered_map<std::string_view, size_t> positives;  // by query
  for (const data::QueryJudgements& query : qrels.queries()) {
    positives[query.query] = static_cast<size_t>(
        std::count_if(query.judgements.begin(), query.judgements.end(),
                      [&](const auto& judged) { return judged.grade >= relevance_level; }));
  }
  for (eval::QuerySamples& of_query : samples) {
    const auto all = positives.extract(of_query.query);
    if (!all.empty()) of_query.missing_positives = all.mapped() - of_query.positives.size();
  }
  for (const auto& [query, all] : positives) {
    samples.push_back({.query = query, .missing_positives = all});
  }
}

}  // namespace tandem::search

#include "search/score_samples.h"

#include <algorithm>

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

}  // namespace tandem::search

#include "search/scoring/rerank.h"

#include <string_view>
#include <vector>

#include "data/judgements/judged_pairs.h"
#include "search/scoring/bi_encoder_scores.h"

namespace tandem::search {
namespace {

data::JudgedPairs PairsOf(const data::Dataset& dataset, const data::Candidates& candidates) {
  data::JudgedPairs pairs;
  for (size_t q = 0; q < dataset.judged.size(); ++q) {
    const std::vector<uint32_t>& documents = candidates.documents[q];
    if (documents.empty()) continue;
    pairs.query_of.push_back(dataset.judged[q].query);
    pairs.document_of.insert(pairs.document_of.end(), documents.begin(), documents.end());
    pairs.starts.push_back(pairs.document_of.size());
  }
  return pairs;
}

}  // namespace

data::Run Rerank(model::DualEncoder& model, const data::Dataset& dataset,
                 const data::Candidates& candidates, const CacheOptions& cache) {
  const data::JudgedPairs pairs = PairsOf(dataset, candidates);
  const std::string_view similarity = model.similarity() == "dot" ? "dot" : "cosine";
  const BiEncoderScores found = ScoreByEmbeddings(model, dataset, pairs, similarity, cache);
  ReportCounts(found.query_counts, "queries", model.max_tokens(model::TextKind::kQuery));
  ReportCounts(found.document_counts, "documents", model.max_tokens(model::TextKind::kDocument));
  data::Run run;
  for (size_t q = 0; q < pairs.query_of.size(); ++q) {
    data::QueryResults& results = run.AddQuery(dataset.queries.id(pairs.query_of[q]));
    for (size_t p = pairs.starts[q]; p < pairs.starts[q + 1]; ++p) {
      results.results.push_back({dataset.documents.id(pairs.document_of[p]), found.scores[p]});
    }
  }
  return run;
}

}  // namespace tandem::search

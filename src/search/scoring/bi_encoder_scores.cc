#include "search/scoring/bi_encoder_scores.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "search/scoring/pair_scores.h"

namespace tandem::search {
namespace {

using model::TextKind;

// `which` are numbers of `texts`.
CachedEmbeddings Embed(model::DualEncoder& model, TextKind kind, const data::Texts& texts,
                       const std::vector<uint32_t>& which, const CacheOptions& cache) {
  CacheOptions options = cache;
  options.encode.label = kind == TextKind::kQuery ? "encode queries" : "encode documents";
  return EmbedDistinct(
      model, kind, which.size(), [&](size_t i) { return texts.text(which[i]); }, options);
}

}  // namespace

BiEncoderScores ScoreByEmbeddings(model::DualEncoder& model, const data::Dataset& dataset,
                                  const data::JudgedPairs& pairs, std::string_view similarity,
                                  const CacheOptions& cache) {
  const CachedEmbeddings queries =
      Embed(model, TextKind::kQuery, dataset.queries, pairs.query_of, cache);
  const CachedEmbeddings documents =
      Embed(model, TextKind::kDocument, dataset.documents, pairs.document_of, cache);
  const EmbeddedPairs embedded{.queries = queries.rows,
                               .documents = documents.rows,
                               .query_row = queries.row_of,
                               .pairs = {.starts = pairs.starts, .rows = documents.row_of}};
  return {.scores = similarity == "dot" ? PairDots(embedded) : PairCosines(embedded),
          .query_counts = queries.counts,
          .document_counts = documents.counts};
}

}  // namespace tandem::search

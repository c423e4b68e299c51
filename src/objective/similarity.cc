#include "objective/similarity.h"

#include <fmt/format.h>

#include "base/error.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

Scores SimilarityScores(const tensor::Tensor& queries, const tensor::Tensor& documents,
                        const tensor::Tensor& positive, std::string_view kind, const Needs& needs,
                        const WholeBatch& whole) {
  if (kind != "cosine" && kind != "dot") {
    throw UsageError(fmt::format("similarity {} is unknown; known are cosine, dot", kind));
  }
  const auto rows_of = [kind](const tensor::Tensor& embeddings) {
    const tensor::Tensor rows = embeddings.to(tensor::kDouble);
    return kind == "cosine" ? tensor::UnitRows(rows) : rows;
  };
  const tensor::Tensor q = rows_of(queries), d = rows_of(documents);
  Scores scores{.query_document = tensor::ProductTransposed(q, d)};
  if (needs.query_query) {
    scores.query_query =
        tensor::ProductTransposed(q, whole.queries.defined() ? rows_of(whole.queries) : q);
  }
  if (needs.document_document) {
    const auto paired = [&d](const tensor::Tensor& columns) {
      return tensor::TakeRows(d, tensor::MovedTo(columns, d.device()));
    };
    const tensor::Tensor own = paired(positive);
    const tensor::Tensor all = whole.positive.defined() ? paired(whole.positive) : own;
    scores.document_document = tensor::ProductTransposed(own, all);
  }
  return scores;
}

Scores SimilarityScores(const tensor::Tensor& queries, const tensor::Tensor& documents,
                        std::string_view kind) {
  return SimilarityScores(queries, documents, tensor::Tensor(), kind, Needs());
}

}  // namespace tandem::objective

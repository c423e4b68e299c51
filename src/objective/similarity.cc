#include "objective/similarity.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>

#include "base/error.h"

namespace tandem::objective {
namespace {

// Divides each row by its length; a zero row stays zero. The root has an infinite slope at 0; the
// inner `where` keeps it out of the backward pass.
at::Tensor Normalized(const at::Tensor& embeddings) {
  const at::Tensor squared = embeddings.square().sum(1, /*keepdim=*/true);
  const at::Tensor zero = squared.eq(0);
  const at::Tensor inverse = at::where(zero, at::ones_like(squared), squared).rsqrt();
  return embeddings.mul(inverse.masked_fill(zero, 0));
}

}  // namespace

Scores SimilarityScores(const at::Tensor& queries, const at::Tensor& documents,
                        const at::Tensor& positive, std::string_view kind, const Needs& needs,
                        const WholeBatch& whole) {
  if (kind != "cosine" && kind != "dot") {
    throw UsageError(fmt::format("similarity {} is unknown; known are cosine, dot", kind));
  }
  at::Tensor q = queries.to(at::kDouble);
  at::Tensor d = documents.to(at::kDouble);
  if (kind == "cosine") {
    q = Normalized(q);
    d = Normalized(d);
  }
  Scores scores{.query_document = at::matmul(q, d.t())};
  if (needs.query_query) {
    at::Tensor all = q;
    if (whole.queries.defined()) {
      all = whole.queries.to(at::kDouble);
      if (kind == "cosine") all = Normalized(all);
    }
    scores.query_query = at::matmul(q, all.t());
  }
  if (needs.document_document) {
    const auto rows = [&d](const at::Tensor& columns) {
      return d.index_select(0, columns.to(d.device()));
    };
    const at::Tensor own = rows(positive);
    const at::Tensor all = whole.positive.defined() ? rows(whole.positive) : own;
    scores.document_document = at::matmul(own, all.t());
  }
  return scores;
}

Scores SimilarityScores(const at::Tensor& queries, const at::Tensor& documents,
                        std::string_view kind) {
  return SimilarityScores(queries, documents, at::Tensor(), kind, Needs());
}

}  // namespace tandem::objective

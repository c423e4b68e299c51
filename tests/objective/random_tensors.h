// Random batches as tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <vector>

#include "objective/objective.h"
#include "objective/random_batch.h"

namespace tandem::objective {

inline at::Tensor Doubles(std::vector<double>& values, size_t rows) {
  const auto columns = static_cast<int64_t>(values.size() / rows);
  return at::from_blob(values.data(), {static_cast<int64_t>(rows), columns}, at::kDouble).clone();
}

inline at::Tensor Bools(MaskStore& mask, size_t rows) {
  const auto columns = static_cast<int64_t>(mask.size / rows);
  return at::from_blob(mask.cells.get(), {static_cast<int64_t>(rows), columns}, at::kBool).clone();
}

// Scores that want a gradient, and labels.
struct Tensors {
  explicit Tensors(RandomBatch& batch, at::ScalarType dtype = at::kDouble)
      : scores{Doubles(batch.query_document, batch.q).to(dtype).set_requires_grad(true),
               Doubles(batch.query_query, batch.q).to(dtype).set_requires_grad(true),
               Doubles(batch.document_document, batch.q).to(dtype).set_requires_grad(true)},
        labels{.positive =
                   at::from_blob(batch.positive.data(), {static_cast<int64_t>(batch.q)}, at::kLong)
                       .clone(),
               .negative = Bools(batch.negative, batch.q),
               .query_negative = Bools(batch.query_negative, batch.q),
               .document_negative = Bools(batch.document_negative, batch.q),
               .labelled = batch.Labelled(),
               .weights = batch.weights} {}
  Scores scores;
  Labels labels;
};

}  // namespace tandem::objective

// Random batches as tensors.
#pragma once

#include <vector>

#include "objective/objective.h"
#include "objective/random_batch.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

inline tensor::Tensor Doubles(std::vector<double>& values, size_t rows) {
  const auto columns = static_cast<int64_t>(values.size() / rows);
  return tensor::FromBlob(values.data(), {static_cast<int64_t>(rows), columns}, tensor::kDouble)
      .clone();
}

inline tensor::Tensor Bools(MaskStore& mask, size_t rows) {
  const auto columns = static_cast<int64_t>(mask.size / rows);
  return tensor::FromBlob(mask.cells.get(), {static_cast<int64_t>(rows), columns}, tensor::kBool)
      .clone();
}

// Scores that want a gradient, and labels.
struct Tensors {
  explicit Tensors(RandomBatch& batch, tensor::DType dtype = tensor::kDouble)
      : scores{Doubles(batch.query_document, batch.q).to(dtype).set_requires_grad(true),
               Doubles(batch.query_query, batch.q).to(dtype).set_requires_grad(true),
               Doubles(batch.document_document, batch.q).to(dtype).set_requires_grad(true)},
        labels{.positive = tensor::FromBlob(batch.positive.data(), {static_cast<int64_t>(batch.q)},
                                            tensor::kLong)
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

// Graded pairs of documents of one query as tensors: what pairwise_bce and lambda_loss share.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "libtorch/objective/batch_form.h"

namespace tandem::libtorch {

// Some rows of a batch, and the grades of their candidates.
struct GradedRows {
  GradedRows(const DeviceBatch& batch, int64_t first_row, int64_t rows);

  int64_t begin = 0;
  int64_t count = 0;
  at::Tensor scores;  // [count, D]
  at::Tensor grades;  // [count, D]; infinite where a document is no candidate (candidates.h)
};

// A labelled document of each row that may lead pairs.
struct Leaders {
  Leaders(const DeviceBatch& batch, const GradedRows& rows, int64_t number);

  at::Tensor columns;  // int64 [count, 1]
  at::Tensor grades;   // [count, 1]; 0 where a row has no such document
  at::Tensor scores;   // [count, 1]
};

// Sums over the pairs of each row, and their gradient.
class PairLosses {
 public:
  explicit PairLosses(BatchGradient* gradient) : gradient_(gradient) {}

  void Begin(const GradedRows& rows);
  // Adds weight * softplus(scale (s_k - s_leader)) of the pairs that `mask` [count, D] has, and as
  // its gradient that times the query's weight. `weight` [count, D]; undefined: 1.
  void Add(const DeviceBatch& batch, const GradedRows& rows, const Leaders& leaders,
           const at::Tensor& mask, const at::Tensor& weight, double scale);
  // The mean over all pairs; divides the gradient by their number. What was added is multiplied by
  // `factor`.
  objective::Evaluation Finish(const DeviceBatch& batch, double factor);

 private:
  BatchGradient* gradient_;
  std::vector<at::Tensor> losses_, pairs_;  // [count] of each part of the rows
};

}  // namespace tandem::libtorch

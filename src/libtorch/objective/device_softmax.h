// The softmax cross-entropy of softmax.h as tensor operations.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "libtorch/objective/batch_form.h"
#include "objective/softmax.h"

namespace tandem::libtorch {

// Candidates of every query, as CandidateBlock.
struct TensorBlock {
  at::Tensor scores;    // float64 [Q, columns]; undefined: no candidates
  at::Tensor mask;      // bool [Q, columns]
  at::Tensor gradient;  // float64 [Q, columns]; undefined without BatchGradient
};

// Computes what the functions of these names in softmax.h compute. `losses` [Q] are on the host.
double RowSoftmax(const DeviceBatch& batch, std::span<const TensorBlock> candidates,
                  const objective::SoftmaxOptions& options, BatchGradient* gradient,
                  std::vector<double>& losses);
// Where queries share a paired document, a GPU adds the gradients of that column in any order, so
// that runs may differ in the last digit. In batches of training each query has its own column.
double ColumnSoftmax(const DeviceBatch& batch, const TensorBlock& same_tower,
                     const objective::SoftmaxOptions& options, BatchGradient* gradient,
                     std::vector<double>& losses);

TensorBlock Negatives(const DeviceBatch& batch, BatchGradient* gradient);
TensorBlock SameTowerQueries(const DeviceBatch& batch, BatchGradient* gradient);
TensorBlock SameTowerDocuments(const DeviceBatch& batch, BatchGradient* gradient);

}  // namespace tandem::libtorch

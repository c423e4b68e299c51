// The softmax cross-entropy of softmax.h as tensor operations.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "objective/device/device_form.h"
#include "objective/softmax.h"

namespace tandem::objective {

// Candidates of every query, as CandidateBlock.
struct TensorBlock {
  at::Tensor scores;    // float64 [Q, columns]; undefined: no candidates
  at::Tensor mask;      // bool [Q, columns]
  at::Tensor gradient;  // float64 [Q, columns]; undefined without DeviceGradient
};

// As the functions of the same names in softmax.h. `losses` [Q] are on the host.
double RowSoftmax(const DeviceBatch& batch, std::span<const TensorBlock> candidates,
                  const SoftmaxOptions& options, DeviceGradient* gradient,
                  std::vector<double>& losses);
// Where queries share an own document, a GPU adds the gradients of that column in any order, so
// that runs may differ in the last digit. Batches of training have an own column for each query.
double ColumnSoftmax(const DeviceBatch& batch, const TensorBlock& same_tower,
                     const SoftmaxOptions& options, DeviceGradient* gradient,
                     std::vector<double>& losses);

TensorBlock Negatives(const DeviceBatch& batch, DeviceGradient* gradient);
TensorBlock SameTowerQueries(const DeviceBatch& batch, DeviceGradient* gradient);
TensorBlock SameTowerDocuments(const DeviceBatch& batch, DeviceGradient* gradient);

}  // namespace tandem::objective

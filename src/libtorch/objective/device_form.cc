#include "libtorch/objective/device_form.h"

#include <ATen/ops/zeros_like.h>

#include "libtorch/bridge.h"
#include "libtorch/memory_errors.h"
#include "libtorch/objective/device_batch.h"

namespace tandem::libtorch {
namespace {

at::Tensor ZerosFor(const at::Tensor& scores) {
  return scores.defined() ? at::zeros_like(scores) : scores;
}

}  // namespace

objective::Evaluation FormOnScores::Evaluate(const objective::Scores& scores,
                                             const objective::Labels& labels,
                                             const objective::States& states,
                                             objective::DeviceGradient* gradient) const {
  return WithMemoryErrors([&] {
    const DeviceBatch batch = MakeDeviceBatch(scores, labels, states, needs_);
    if (gradient == nullptr) return form_->Evaluate(batch, nullptr);
    BatchGradient sums{.query_document = ZerosFor(batch.query_document),
                       .query_query = ZerosFor(batch.query_query),
                       .document_document = ZerosFor(batch.document_document)};
    objective::Evaluation evaluation = form_->Evaluate(batch, &sums);
    *gradient = {.query_document = FromTorch(sums.query_document),
                 .query_query = FromTorch(sums.query_query),
                 .document_document = FromTorch(sums.document_document),
                 .scale = sums.scale,
                 .bias = sums.bias};
    return evaluation;
  });
}

double FormOnScores::StartingBias(const objective::Scores& scores, const objective::Labels& labels,
                                  const objective::States& states) const {
  return WithMemoryErrors(
      [&] { return form_->StartingBias(MakeDeviceBatch(scores, labels, states, needs_)); });
}

}  // namespace tandem::libtorch

#include "optim/gradients.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "optim/chunks.h"
#include "optim/sums.h"
#include "tensor/machine/device.h"
#include "tensor/row_gradient.h"

namespace tandem::optim {
namespace {

double SumOfSquares(const float* values, int64_t count) {
  return SumOf(count, [values](int64_t i) { return static_cast<double>(values[i]) * values[i]; });
}

bool OnDevice(std::span<const model::NamedParameter> parameters) {
  return tensor::DeviceFormsForced() ||
         std::any_of(parameters.begin(), parameters.end(), [](const auto& parameter) {
           const at::Tensor& gradient = parameter.value.grad();
           return gradient.defined() && !gradient.is_cpu();
         });
}

}  // namespace

double GradientNorm(std::span<const model::NamedParameter> parameters) {
  if (OnDevice(parameters)) return DeviceGradientNorm(parameters);
  std::vector<at::Tensor> gradients;  // contiguous
  std::vector<ChunkedTensor> elements;
  for (const model::NamedParameter& parameter : parameters) {
    const at::Tensor& gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    gradients.push_back(gradient.is_sparse() ? tensor::RowsOf(gradient).values
                                             : gradient.contiguous());
    elements.push_back({.elements = gradients.back().numel()});
  }
  const std::vector<Chunk> chunks = MakeChunks(elements);
  std::vector<double> sums(chunks.size());
  at::parallel_for(0, static_cast<int64_t>(chunks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const Chunk& chunk = chunks[c];
      const auto* values = static_cast<const float*>(gradients[chunk.tensor].data_ptr());
      sums[c] = SumOfSquares(values + chunk.begin, chunk.end - chunk.begin);
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

double DeviceGradientNorm(std::span<const model::NamedParameter> parameters) {
  const at::NoGradGuard no_gradient;
  std::vector<at::Tensor> gradients;
  for (const model::NamedParameter& parameter : parameters) {
    const at::Tensor& gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    gradients.push_back(gradient.is_sparse() ? tensor::RowsOf(gradient).values : gradient);
  }
  if (gradients.empty()) return 0;
  const at::Tensor norms = at::stack(at::_foreach_norm(gradients)).to(at::kDouble);
  return norms.square().sum().sqrt().item<double>();
}

double ClipFactor(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1.0;
}

void ClearGradients(std::span<const model::NamedParameter> parameters) {
  for (const model::NamedParameter& parameter : parameters) {
    parameter.value.mutable_grad() = at::Tensor();
  }
}

}  // namespace tandem::optim

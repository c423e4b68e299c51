#include "optim/gradients.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "optim/chunks.h"
#include "optim/device_rule.h"
#include "optim/sums.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/device.h"

namespace tandem::optim {
namespace {

double SumOfSquares(const float* values, int64_t count) {
  return SumOf(count, [values](int64_t i) { return static_cast<double>(values[i]) * values[i]; });
}

// Those that there are; of a table's the rows that are not zero.
std::vector<tensor::Tensor> GradientsOf(std::span<const model::NamedParameter> parameters) {
  std::vector<tensor::Tensor> gradients;
  for (const model::NamedParameter& parameter : parameters) {
    const GradientTensors gradient = GradientOf(parameter.value);
    if (gradient.defined()) gradients.push_back(gradient.values);
  }
  return gradients;
}

bool OnDevice(std::span<const tensor::Tensor> gradients) {
  return tensor::DeviceFormsForced() ||
         std::any_of(gradients.begin(), gradients.end(),
                     [](const tensor::Tensor& gradient) { return !gradient.is_cpu(); });
}

double NormOnDevice(std::span<const tensor::Tensor> gradients) {
  if (gradients.empty()) return 0;
  const tensor::NoGradGuard no_gradient;
  return BackEndRules().norm(gradients);
}

}  // namespace

double GradientNorm(std::span<const model::NamedParameter> parameters) {
  const std::vector<tensor::Tensor> gradients = GradientsOf(parameters);
  if (OnDevice(gradients)) return NormOnDevice(gradients);
  std::vector<ChunkedTensor> elements;
  for (const tensor::Tensor& gradient : gradients) {
    elements.push_back({.elements = gradient.numel()});
  }
  const std::vector<Chunk> chunks = MakeChunks(elements);
  std::vector<double> sums(chunks.size());
  tensor::ParallelFor(0, static_cast<int64_t>(chunks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const Chunk& chunk = chunks[c];
      const auto* values = gradients[chunk.tensor].data_ptr<float>();
      sums[c] = SumOfSquares(values + chunk.begin, chunk.end - chunk.begin);
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

double DeviceGradientNorm(std::span<const model::NamedParameter> parameters) {
  return NormOnDevice(GradientsOf(parameters));
}

double ClipFactor(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1.0;
}

void ClearGradients(std::span<const model::NamedParameter> parameters) {
  for (const model::NamedParameter& parameter : parameters) {
    parameter.value.set_grad(tensor::Tensor());
  }
}

}  // namespace tandem::optim

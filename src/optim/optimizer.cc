#include "optim/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "tensor/row_gradient.h"

namespace tandem::optim {
namespace {

std::vector<ParameterView> ViewsOf(const std::vector<model::NamedParameter>& parameters) {
  std::vector<ParameterView> views;
  for (const model::NamedParameter& parameter : parameters) {
    const at::Tensor& value = parameter.value;
    if (value.scalar_type() != at::kFloat || !value.is_contiguous()) {
      throw std::invalid_argument(
          fmt::format("parameter {} is not contiguous float32", parameter.name));
    }
    views.push_back({.name = parameter.name,
                     .shape = value.sizes().vec(),
                     .values = static_cast<float*>(value.data_ptr()),
                     .decay = parameter.decay});
  }
  return views;
}

const float* Values(const at::Tensor& tensor) {
  return static_cast<const float*>(tensor.data_ptr());
}

// Appends the tensors that the view points into to `kept`, so that they stay alive.
GradientView ViewOf(const at::Tensor& gradient, bool takes_rows, std::vector<at::Tensor>* kept) {
  if (!gradient.defined()) return {};
  if (gradient.is_sparse() && takes_rows) {
    const auto [rows, values] = tensor::RowsOf(gradient);
    kept->insert(kept->end(), {rows, values});
    const auto* first = static_cast<const int64_t*>(rows.data_ptr());
    return {Values(values), std::span(first, static_cast<size_t>(rows.numel()))};
  }
  kept->push_back(gradient.is_sparse() ? gradient.to_dense() : gradient.contiguous());
  return {Values(kept->back())};
}

void Parallel(int64_t count, const std::function<void(int64_t)>& body) {
  at::parallel_for(0, count, 1, [&body](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace

Optimizer::Optimizer(const OptimizerInfo& info, std::vector<model::NamedParameter> parameters,
                     const config::Params& params)
    : parameters_(std::move(parameters)),
      memory_passes_(info.memory_passes),
      rule_(info.make(ViewsOf(parameters_), params)) {}

Optimizer::Optimizer(const OptimizerInfo& info, std::vector<model::NamedParameter> parameters)
    : Optimizer(info, std::move(parameters), config::Params(info.params)) {}

void Optimizer::Step(double learning_rate, double gradient_scale) {
  ++steps_;
  std::vector<at::Tensor> kept;  // what `gradients` point to
  std::vector<GradientView> gradients;
  for (const model::NamedParameter& parameter : parameters_) {
    gradients.push_back(ViewOf(parameter.value.grad(), rule_->TakesRows(), &kept));
  }
  rule_->Step({.step = steps_, .learning_rate = learning_rate, .gradient_scale = gradient_scale},
              gradients, Parallel);
  for (const model::NamedParameter& parameter : parameters_) {
    parameter.value.unsafeGetTensorImpl()->bump_version();  // libtorch does not see the write
  }
}

std::vector<StateTensor> Optimizer::State() const {
  std::vector<StateTensor> state;
  for (const StateArray& array : rule_->State()) {
    state.push_back({array.name, at::from_blob(array.values, array.shape, at::kFloat)});
  }
  return state;
}

}  // namespace tandem::optim

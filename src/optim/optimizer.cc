#include "optim/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <utility>

#include "config/catalogue_half.h"
#include "tensor/machine/device.h"
#include "tensor/row_gradient.h"

namespace tandem::optim {
namespace {

using Parameters = std::vector<model::NamedParameter>;

void Check(const Parameters& parameters) {
  for (const model::NamedParameter& parameter : parameters) {
    const at::Tensor& value = parameter.value;
    if (value.scalar_type() != at::kFloat || !value.is_contiguous()) {
      throw std::invalid_argument(
          fmt::format("parameter {} is not contiguous float32", parameter.name));
    }
    const at::Device first = parameters.front().value.device();
    if (value.device() != first) {
      throw std::invalid_argument(fmt::format("parameter {} is on {} and {} on {}", parameter.name,
                                              value.device().str(), parameters.front().name,
                                              first.str()));
    }
  }
}

bool OnDevice(const Parameters& parameters, RuleForm form) {
  if (form != RuleForm::kByDevice) return form == RuleForm::kDevice;
  const bool elsewhere = !parameters.empty() && !parameters.front().value.is_cpu();
  return elsewhere || tensor::DeviceFormsForced();
}

std::vector<ParameterView> ViewsOf(const Parameters& parameters) {
  std::vector<ParameterView> views;
  for (const model::NamedParameter& parameter : parameters) {
    const at::Tensor& value = parameter.value;
    views.push_back({.name = parameter.name,
                     .shape = value.sizes().vec(),
                     .values = static_cast<float*>(value.data_ptr()),
                     .decay = parameter.decay});
  }
  return views;
}

const DeviceForm& DeviceFormOf(const OptimizerInfo& info) {
  if (const DeviceForm* form = config::FindHalf(DeviceForms(), info)) return *form;
  throw std::logic_error(fmt::format("optimizer {} has no device form", info.name));
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
                     const config::Params& params, RuleForm form)
    : parameters_(std::move(parameters)), memory_passes_(info.memory_passes) {
  Check(parameters_);
  if (OnDevice(parameters_, form)) {
    const at::NoGradGuard no_gradient;
    device_rule_ = DeviceFormOf(info).make(parameters_, params, {});
  } else {
    rule_ = info.make(ViewsOf(parameters_), params);
  }
}

Optimizer::Optimizer(const OptimizerInfo& info, std::vector<model::NamedParameter> parameters,
                     RuleForm form)
    : Optimizer(info, std::move(parameters), config::Params(info.params), form) {}

void Optimizer::Step(double learning_rate, double gradient_scale) {
  ++steps_;
  const StepPoint point{
      .step = steps_, .learning_rate = learning_rate, .gradient_scale = gradient_scale};
  if (device_rule_ != nullptr) {
    const at::NoGradGuard no_gradient;
    std::vector<at::Tensor> gradients;
    for (const model::NamedParameter& parameter : parameters_) {
      gradients.push_back(parameter.value.grad());
    }
    device_rule_->Step(point, gradients);
  } else {
    std::vector<at::Tensor> kept;  // memory that `gradients` point to
    std::vector<GradientView> gradients;
    for (const model::NamedParameter& parameter : parameters_) {
      gradients.push_back(ViewOf(parameter.value.grad(), rule_->TakesRows(), &kept));
    }
    rule_->Step(point, gradients, Parallel);
  }
  for (const model::NamedParameter& parameter : parameters_) {
    parameter.value.unsafeGetTensorImpl()->bump_version();  // libtorch does not see the write
  }
}

std::vector<StateTensor> Optimizer::State() const {
  if (device_rule_ != nullptr) return device_rule_->State();
  std::vector<StateTensor> state;
  for (const StateArray& array : rule_->State()) {
    state.push_back({array.name, at::from_blob(array.values, array.shape, at::kFloat)});
  }
  return state;
}

}  // namespace tandem::optim

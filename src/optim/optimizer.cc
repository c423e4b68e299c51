#include "optim/optimizer.h"

#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <utility>

#include "config/catalogue_half.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/device.h"

namespace tandem::optim {
namespace {

using Parameters = std::vector<model::NamedParameter>;

void Check(const Parameters& parameters) {
  for (const model::NamedParameter& parameter : parameters) {
    const tensor::Tensor& value = parameter.value;
    if (value.dtype() != tensor::kFloat) {
      throw std::invalid_argument(fmt::format("parameter {} is not float32", parameter.name));
    }
    const tensor::Device first = parameters.front().value.device();
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
    const tensor::Tensor& value = parameter.value;
    views.push_back({.name = parameter.name,
                     .shape = value.sizes().vec(),
                     .values = value.data_ptr<float>(),
                     .decay = parameter.decay});
  }
  return views;
}

const DeviceForm& DeviceFormOf(const OptimizerInfo& info) {
  if (const DeviceForm* form = config::FindHalf(BackEndRules().forms, info)) return *form;
  throw std::logic_error(fmt::format("optimizer {} has no device form", info.name));
}

// Appends the tensors that the view points into to `kept`, so that they stay alive. A parameter
// without elements counts as one without gradient: it has no means.
GradientView ViewOf(const tensor::Tensor& parameter, bool takes_rows,
                    std::vector<tensor::Tensor>* kept) {
  const GradientTensors gradient = GradientOf(parameter);
  if (!gradient.defined() || parameter.numel() == 0) return {};
  if (gradient.rows.defined() && takes_rows) {
    kept->insert(kept->end(), {gradient.rows, gradient.values});
    return {gradient.values.data_ptr<float>(),
            std::span<const int64_t>(gradient.rows.data_ptr<int64_t>(),
                                     static_cast<size_t>(gradient.rows.numel()))};
  }
  kept->push_back(gradient.rows.defined()
                      ? tensor::Dense({gradient.rows, gradient.values}, parameter.sizes())
                      : gradient.values);
  return {kept->back().data_ptr<float>()};
}

void Parallel(int64_t count, const std::function<void(int64_t)>& body) {
  tensor::ParallelFor(0, count, 1, [&body](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace

Optimizer::Optimizer(const OptimizerInfo& info, std::vector<model::NamedParameter> parameters,
                     const config::Params& params, RuleForm form)
    : parameters_(std::move(parameters)), memory_passes_(info.memory_passes) {
  Check(parameters_);
  if (OnDevice(parameters_, form)) {
    const tensor::NoGradGuard no_gradient;
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
    const tensor::NoGradGuard no_gradient;
    std::vector<GradientTensors> gradients;
    for (const model::NamedParameter& parameter : parameters_) {
      gradients.push_back(GradientOf(parameter.value));
    }
    device_rule_->Step(point, gradients);
  } else {
    std::vector<tensor::Tensor> kept;  // memory that `gradients` point to
    std::vector<GradientView> gradients;
    for (const model::NamedParameter& parameter : parameters_) {
      gradients.push_back(ViewOf(parameter.value, rule_->TakesRows(), &kept));
    }
    rule_->Step(point, gradients, Parallel);
  }
  for (const model::NamedParameter& parameter : parameters_) {
    parameter.value.bump_version();
  }
}

std::vector<StateTensor> Optimizer::State() const {
  if (device_rule_ != nullptr) return device_rule_->State();
  std::vector<StateTensor> state;
  for (const StateArray& array : rule_->State()) {
    state.push_back({array.name, tensor::FromBlob(array.values, array.shape, tensor::kFloat)});
  }
  return state;
}

}  // namespace tandem::optim

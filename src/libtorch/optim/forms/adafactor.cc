// The device form of optimizers/adafactor.cc. Parameters of one shape are stacked, so that a model
// of many equal layers needs few operations.
#include "optim/adafactor.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "libtorch/bridge.h"
#include "libtorch/memory_errors.h"
#include "optim/device_rule.h"

namespace tandem::libtorch {
namespace {

struct Tensor {
  std::string name;
  at::Tensor value;
  bool decay;
  // Means over rows [..., R] and columns [..., C]; of a vector its elements, and no columns.
  at::Tensor second;
  at::Tensor second_columns;

  bool factored() const { return value.dim() >= 2; }
};

// The parameters of one update: same shape, same decay.
using Group = std::vector<const Tensor*>;

// [n, ...]. A single tensor is not copied.
at::Tensor Stacked(const std::vector<at::Tensor>& tensors) {
  return tensors.size() == 1 ? tensors.front().unsqueeze(0) : at::stack(tensors);
}

// The gradient of every row of a parameter.
at::Tensor Whole(const optim::GradientTensors& gradient, const at::Tensor& parameter) {
  if (!gradient.rows.defined()) return AsTorch(gradient.values);
  return at::zeros_like(parameter).index_copy_(0, AsTorch(gradient.rows), AsTorch(gradient.values));
}

// The root of the mean square of each of n tensors, float64 [n, 1, ..., 1].
at::Tensor RootMeanSquares(const at::Tensor& stacked) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 1; d < stacked.dim(); ++d) dimensions.push_back(d);
  const auto elements = static_cast<double>(stacked.numel()) / static_cast<double>(stacked.size(0));
  if (dimensions.empty()) return stacked.abs().to(at::kDouble);
  return at::linalg_vector_norm(stacked, 2, at::IntArrayRef(dimensions), /*keepdim=*/true,
                                at::kDouble) /
         std::sqrt(elements);
}

std::vector<at::Tensor> Each(const Group& group, at::Tensor Tensor::*member) {
  std::vector<at::Tensor> tensors;
  for (const Tensor* tensor : group) tensors.push_back(tensor->*member);
  return tensors;
}

// state <- beta state + (1 - beta) now, for each tensor of a group; returns the new ones, stacked.
at::Tensor Decayed(const std::vector<at::Tensor>& states, const at::Tensor& now, double beta) {
  at::_foreach_mul_(states, beta);
  at::_foreach_add_(states, now.to(at::kFloat).unbind(), 1 - beta);
  return Stacked(states);
}

// g / sqrt(V), and the moments after this step. `gradient` [n, ...] is overwritten with it.
void DivideByRoots(const Group& group, at::Tensor& gradient, double beta, double epsilon) {
  const at::Tensor squares = gradient.square();
  if (!group.front()->factored()) {
    gradient.div_(Decayed(Each(group, &Tensor::second), squares + epsilon, beta).sqrt());
    return;
  }
  const auto means = [&](int64_t dimension) {
    return at::mean(squares, {dimension}, /*keepdim=*/false, at::kDouble) + epsilon;
  };
  const at::Tensor rows = Decayed(Each(group, &Tensor::second), means(-1), beta).to(at::kDouble);
  const at::Tensor columns =
      Decayed(Each(group, &Tensor::second_columns), means(-2), beta).to(at::kDouble);
  const at::Tensor row_factors = (rows.mean(-1, /*keepdim=*/true) / rows).sqrt().to(at::kFloat);
  gradient.mul_(row_factors.unsqueeze(-1)).mul_(columns.rsqrt().to(at::kFloat).unsqueeze(-2));
}

class DeviceAdafactor final : public optim::DeviceRule {
 public:
  DeviceAdafactor(std::vector<model::NamedParameter> parameters,
                  const optim::AdafactorOptions& options, const optim::DeviceOptions& device)
      : options_(options), stack_elements_(device.list_elements / 4) {
    for (model::NamedParameter& parameter : parameters) {
      Tensor tensor{.name = std::move(parameter.name),
                    .value = AsTorch(parameter.value),
                    .decay = parameter.decay};
      std::vector<int64_t> shape = tensor.value.sizes().vec();
      if (tensor.factored()) {
        const int64_t columns = shape.back();
        shape.pop_back();
        tensor.second = at::zeros(shape, tensor.value.options());
        shape.back() = columns;
        tensor.second_columns = at::zeros(shape, tensor.value.options());
      } else {
        tensor.second = at::zeros(shape, tensor.value.options());
      }
      tensors_.push_back(std::move(tensor));
    }
  }

  void Step(const optim::StepPoint& point,
            std::span<const optim::GradientTensors> gradients) override {
    WithMemoryErrors([&] { StepGroups(point, gradients); });
  }

  std::vector<optim::StateTensor> State() const override {
    std::vector<optim::StateTensor> state;
    for (const Tensor& tensor : tensors_) {
      if (!tensor.factored()) {
        state.push_back({"second_moment/" + tensor.name, FromTorch(tensor.second)});
        continue;
      }
      state.push_back({"second_moment_rows/" + tensor.name, FromTorch(tensor.second)});
      state.push_back({"second_moment_columns/" + tensor.name, FromTorch(tensor.second_columns)});
    }
    return state;
  }

 private:
  void StepGroups(const optim::StepPoint& point,
                  std::span<const optim::GradientTensors> gradients) const {
    std::vector<bool> done(tensors_.size());
    for (size_t t = 0; t < tensors_.size(); ++t) {
      if (done[t] || !gradients[t].defined() || tensors_[t].value.numel() == 0) continue;
      Group group;
      std::vector<at::Tensor> of_group;
      for (size_t other = t; other < tensors_.size(); ++other) {
        if (done[other] || !gradients[other].defined() || !BelongTogether(t, other)) continue;
        if (other > t && (std::ssize(group) + 1) * tensors_[t].value.numel() > stack_elements_) {
          break;
        }
        done[other] = true;
        group.push_back(&tensors_[other]);
        of_group.push_back(Whole(gradients[other], tensors_[other].value));
      }
      StepGroup(point, group, Stacked(of_group));
    }
  }

  bool BelongTogether(size_t a, size_t b) const {
    return tensors_[a].decay == tensors_[b].decay &&
           tensors_[a].value.sizes() == tensors_[b].value.sizes();
  }

  // `gradient` [n, ...] is overwritten.
  void StepGroup(const optim::StepPoint& point, const Group& group, at::Tensor gradient) const {
    const double beta = 1 - std::pow(static_cast<double>(point.step), -options_.decay_exponent);
    if (point.gradient_scale != 1) gradient.mul_(point.gradient_scale);
    DivideByRoots(group, gradient, beta, options_.epsilon);
    const std::vector<at::Tensor> values = Each(group, &Tensor::value);
    const at::Tensor weights = Stacked(values);
    // The learning rate of each parameter, float64 [n, 1, ...] or of no dimension.
    const at::Tensor rate =
        options_.scale_parameter
            ? RootMeanSquares(weights).clamp_min(options_.scale_epsilon) * point.learning_rate
            : at::full({}, point.learning_rate, weights.options().dtype(at::kDouble));
    const at::Tensor clip = (RootMeanSquares(gradient) / options_.clip_threshold).clamp_min(1);
    gradient.mul_((rate / clip).to(at::kFloat));
    if (group.front()->decay && options_.weight_decay > 0) {
      gradient.addcmul_(weights, (rate * options_.weight_decay).to(at::kFloat));
    }
    at::_foreach_add_(values, gradient.unbind(), -1);
  }

  optim::AdafactorOptions options_;
  int64_t stack_elements_;  // of a group: a step has its gradients, weights and squares in copies
  std::vector<Tensor> tensors_;
};

}  // namespace

extern const optim::DeviceForm kAdafactorOnDevice{
    &optim::kAdafactor,
    [](std::vector<model::NamedParameter> parameters, const config::Params& params,
       const optim::DeviceOptions& options) -> std::unique_ptr<optim::DeviceRule> {
      return WithMemoryErrors([&] {
        return std::make_unique<DeviceAdafactor>(std::move(parameters),
                                                 optim::AdafactorOptionsOf(params), options);
      });
    }};

}  // namespace tandem::libtorch

#include "libtorch/optim/device_moments.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <utility>

#include "libtorch/bridge.h"
#include "libtorch/memory_errors.h"
#include "libtorch/optim/fused_adamw.h"

namespace tandem::libtorch {
namespace {

// Tensors of one length each, which one step of the formula takes together.
struct Lists {
  std::vector<at::Tensor> weights, first, second;  // all pieces
  // The pieces whose moments have not seen their gradient yet.
  std::vector<at::Tensor> gradients, gradient_first, gradient_second;
  int64_t elements = 0;
};

// The moments after dense gradients.
void UpdateMoments(Lists& lists, const optim::MomentCoefficients& c) {
  if (lists.gradients.empty()) return;
  std::vector<at::Tensor> scaled;
  if (c.gradient_scale != 1) scaled = at::_foreach_mul(lists.gradients, c.gradient_scale);
  const std::vector<at::Tensor>& gradients = scaled.empty() ? lists.gradients : scaled;
  at::_foreach_mul_(lists.gradient_first, c.beta1);
  at::_foreach_add_(lists.gradient_first, gradients, c.rest1);
  at::_foreach_mul_(lists.gradient_second, c.beta2);
  at::_foreach_addcmul_(lists.gradient_second, gradients, gradients, c.rest2);
}

void MoveWeights(Lists& lists, const optim::MomentCoefficients& c) {
  const std::vector<at::Tensor> roots = at::_foreach_sqrt(lists.second);
  at::_foreach_mul_(roots, c.inverse_root);
  at::_foreach_add_(roots, c.epsilon);
  if (c.keep != 1) at::_foreach_mul_(lists.weights, c.keep);
  at::_foreach_addcdiv_(lists.weights, lists.first, roots, -c.step_size);
}

class DeviceMoments final : public optim::DeviceRule {
 public:
  DeviceMoments(std::vector<model::NamedParameter> parameters, const optim::MomentOptions& options,
                const optim::DeviceOptions& device)
      : options_(options), list_elements_(device.list_elements) {
    for (model::NamedParameter& parameter : parameters) {
      const at::Tensor value = AsTorch(parameter.value);
      tensors_.push_back({.name = std::move(parameter.name),
                          .value = value,
                          .first = at::zeros_like(value),
                          .second = at::zeros_like(value),
                          .decay = parameter.decay});
    }
  }

  void Step(const optim::StepPoint& point,
            std::span<const optim::GradientTensors> gradients) override {
    WithMemoryErrors([&] {
      for (const bool decay : {true, false}) {
        StepSome(point, gradients, decay, optim::MomentCoefficientsOf(options_, point, decay));
      }
    });
  }

  std::vector<optim::StateTensor> State() const override {
    std::vector<optim::StateTensor> state;
    for (const Tensor& tensor : tensors_) {
      state.push_back({"first_moment/" + tensor.name, FromTorch(tensor.first)});
      state.push_back({"second_moment/" + tensor.name, FromTorch(tensor.second)});
    }
    return state;
  }

 private:
  struct Tensor {
    std::string name;
    at::Tensor value;
    at::Tensor first;  // moments
    at::Tensor second;
    bool decay;
  };

  // The parameters with this `decay`. Dense gradients take the fused step where libtorch has one.
  void StepSome(const optim::StepPoint& point, std::span<const optim::GradientTensors> gradients,
                bool decay, const optim::MomentCoefficients& coefficients) {
    FusedLists fused;
    Lists lists;
    for (size_t t = 0; t < tensors_.size(); ++t) {
      const Tensor& tensor = tensors_[t];
      const optim::GradientTensors& gradient = gradients[t];
      if (tensor.decay != decay || !gradient.defined() || tensor.value.numel() == 0) continue;
      if (gradient.rows.defined()) {
        UpdateRowMoments(tensor, gradient, coefficients);
        AddPieces(tensor, at::Tensor(), coefficients, lists);
      } else if (HasFusedAdamW(tensor.value.device())) {
        fused.values.push_back(tensor.value);
        fused.gradients.push_back(AsTorch(gradient.values));
        fused.first.push_back(tensor.first);
        fused.second.push_back(tensor.second);
      } else {
        AddPieces(tensor, AsTorch(gradient.values), coefficients, lists);
      }
    }
    Finish(lists, coefficients);
    if (fused.values.empty()) return;
    FusedAdamW(fused, {.beta1 = options_.beta1,
                       .beta2 = options_.beta2,
                       .epsilon = options_.epsilon,
                       .weight_decay = decay ? options_.weight_decay : 0,
                       .learning_rate = point.learning_rate,
                       .gradient_scale = point.gradient_scale,
                       .step = point.step});
  }

  // Computes what a whole gradient would give: the moments of all rows decay.
  static void UpdateRowMoments(const Tensor& tensor, const optim::GradientTensors& gradient,
                               const optim::MomentCoefficients& c) {
    const at::Tensor rows = AsTorch(gradient.rows);
    const at::Tensor scaled = AsTorch(gradient.values) * c.gradient_scale;
    at::Tensor first = tensor.first, second = tensor.second;
    first.mul_(c.beta1).index_add_(0, rows, scaled, c.rest1);
    second.mul_(c.beta2).index_add_(0, rows, scaled * scaled, c.rest2);
  }

  // Adds a tensor in pieces; without `gradient` its moments are those after the step already.
  void AddPieces(const Tensor& tensor, const at::Tensor& gradient,
                 const optim::MomentCoefficients& coefficients, Lists& lists) const {
    for (int64_t begin = 0; begin < tensor.value.numel();) {
      const int64_t count = std::min(list_elements_ - lists.elements, tensor.value.numel() - begin);
      const auto piece = [&](const at::Tensor& whole) {
        return whole.view({-1}).narrow(0, begin, count);
      };
      lists.weights.push_back(piece(tensor.value));
      lists.first.push_back(piece(tensor.first));
      lists.second.push_back(piece(tensor.second));
      if (gradient.defined()) {
        lists.gradients.push_back(piece(gradient));
        lists.gradient_first.push_back(lists.first.back());
        lists.gradient_second.push_back(lists.second.back());
      }
      lists.elements += count;
      begin += count;
      if (lists.elements == list_elements_) Finish(lists, coefficients);
    }
  }

  // Does the step for the lists and empties them.
  static void Finish(Lists& lists, const optim::MomentCoefficients& coefficients) {
    if (lists.weights.empty()) return;
    UpdateMoments(lists, coefficients);
    MoveWeights(lists, coefficients);
    lists = {};
  }

  optim::MomentOptions options_;
  int64_t list_elements_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::unique_ptr<optim::DeviceRule> MakeDeviceMoments(std::vector<model::NamedParameter> parameters,
                                                     const optim::MomentOptions& options,
                                                     const optim::DeviceOptions& device) {
  return WithMemoryErrors(
      [&] { return std::make_unique<DeviceMoments>(std::move(parameters), options, device); });
}

}  // namespace tandem::libtorch

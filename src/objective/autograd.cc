// Makes every formula of the catalogue differentiable for tensors.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/process/asked_forms.h"
#include "objective/batch_arrays.h"
#include "objective/catalogue.h"
#include "objective/device_form.h"
#include "objective/objective.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {
namespace {

using tensor::Tensor;

// The scores and states that get gradients: three matrices of scores, the scale and the bias.
constexpr size_t kInputs = 5;
using Inputs = std::array<Tensor, kInputs>;

Inputs InputsOf(const Scores& scores, const States& states) {
  return {scores.query_document, scores.query_query, scores.document_document, states.scale,
          states.bias};
}

Tensor ZerosFor(const Tensor& scores) {
  return scores.defined() ? tensor::Zeros(scores.sizes(), tensor::kDouble) : Tensor();
}

double* MutableDoubles(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<double>() : nullptr;
}

Forms Resolved(Forms forms) {
  static const bool portable = FormsOfEnvironment() == AskedForms::kPortable;
  return forms == Forms::kBySize && portable ? Forms::kDevice : forms;
}

// A loss, with its gradients where they were wanted: of matrices of scores where these were judged.
struct Judgement {
  Evaluation evaluation;
  DeviceGradient gradient;
};

// The gradients in the types of the inputs, and where these are. Undefined for an input that wants
// none.
Inputs GradientsFor(const Inputs& inputs, const DeviceGradient& gradient) {
  Inputs gradients = {gradient.query_document, gradient.query_query, gradient.document_document};
  for (size_t i = 0; i < kInputs; ++i) {
    if (!tensor::NeedsGradient({inputs[i]})) {
      gradients[i] = Tensor();
      continue;
    }
    if (i >= 3) {
      const double value = i == 3 ? gradient.scale : gradient.bias;
      gradients[i] = tensor::Full(inputs[i].sizes(), value, tensor::kDouble);
    }
    // The smaller type is what goes from one memory to another.
    gradients[i] = tensor::MovedTo(gradients[i].to(inputs[i].dtype()), inputs[i].device());
  }
  return gradients;
}

// The loss as a function of the inputs. The gradients are ready when the value is: they only enter
// the graph here.
Tensor Recorded(double loss, const Inputs& inputs, Inputs gradients) {
  return tensor::WithBackward("Objective", tensor::Full({}, loss, tensor::kDouble), inputs,
                              [gradients = std::move(gradients)](const Tensor& grad) {
                                const auto factor = grad.item<double>();
                                std::vector<Tensor> scaled(gradients.begin(), gradients.end());
                                for (Tensor& gradient : scaled) {
                                  // Usually the loss itself is differentiated, and its gradient is
                                  // 1: no product is needed then, which would copy a Q x D matrix.
                                  if (gradient.defined() && factor != 1)
                                    gradient = tensor::Mul(gradient, factor);
                                }
                                return scaled;
                              });
}

class FormulaObjective final : public Objective {
 public:
  FormulaObjective(const ObjectiveInfo& info, const config::Params& params, Forms forms)
      : info_(info),
        params_(params),
        needs_(info.needs(params)),
        forms_(Resolved(forms)),
        formula_(info.make(params)) {}

  using Objective::Evaluate;
  Loss Evaluate(const Scores& scores, const Labels& labels, const States& states) const override {
    const Inputs inputs = InputsOf(scores, states);
    const bool wanted = tensor::NeedsGradient(inputs);
    Judgement judged;
    if (const DeviceForm* form = FormFor(scores)) {
      const tensor::NoGradGuard no_gradient;
      judged.evaluation =
          form->Evaluate(scores, labels, states, wanted ? &judged.gradient : nullptr);
    } else {
      judged = JudgeOnHost(scores, labels, states, wanted);
    }
    Evaluation& result = judged.evaluation;
    Loss loss{.count = result.count, .losses = std::move(result.losses)};
    if (wanted) {
      loss.value = Recorded(result.loss, inputs, GradientsFor(inputs, judged.gradient));
    } else {
      loss.value = tensor::Full({}, result.loss, tensor::kDouble);
    }
    return loss;
  }

  double StartingBias(const Scores& scores, const Labels& labels,
                      const States& states) const override {
    if (const DeviceForm* form = FormFor(scores)) {
      const tensor::NoGradGuard no_gradient;
      return form->StartingBias(scores, labels, states);
    }
    return formula_->StartingBias(MakeBatchArrays(scores, labels, states, needs_).batch);
  }

 private:
  // The form that judges these scores on a device; null: the host does.
  const DeviceForm* FormFor(const Scores& scores) const {
    const bool wanted =
        forms_ == Forms::kDevice || (forms_ == Forms::kBySize && !scores.query_document.is_cpu() &&
                                     scores.query_document.numel() >= kDeviceCells);
    if (!wanted) return nullptr;
    std::call_once(device_form_made_, [this] { device_form_ = MakeDeviceForm(info_, params_); });
    if (device_form_ == nullptr && !said_host_.exchange(true)) {
      Note(
          fmt::format("objective {} has no form for devices: its scores are copied to the host, "
                      "and their gradient back",
                      info_.name));
    }
    return device_form_.get();
  }

  // Scores that are on a device are copied to the host, and GradientsFor copies gradients back.
  Judgement JudgeOnHost(const Scores& scores, const Labels& labels, const States& states,
                        bool wanted) const {
    Judgement judged;
    const BatchArrays arrays = MakeBatchArrays(scores, labels, states, needs_);
    if (!wanted) {
      judged.evaluation = formula_->Evaluate(arrays.batch, nullptr);
      return judged;
    }
    DeviceGradient& sums = judged.gradient;
    sums = {.query_document = ZerosFor(scores.query_document),
            .query_query = ZerosFor(scores.query_query),
            .document_document = ZerosFor(scores.document_document)};
    Gradient gradient = {.query_document = MutableDoubles(sums.query_document),
                         .query_query = MutableDoubles(sums.query_query),
                         .document_document = MutableDoubles(sums.document_document)};
    judged.evaluation = formula_->Evaluate(arrays.batch, &gradient);
    sums.scale = gradient.scale;
    sums.bias = gradient.bias;
    return judged;
  }

  const ObjectiveInfo& info_;
  config::Params params_;
  Needs needs_;
  Forms forms_;
  std::unique_ptr<const Formula> formula_;
  // Made when scores first ask for it, since it takes the back end; null: the objective has none.
  mutable std::unique_ptr<const DeviceForm> device_form_;
  mutable std::once_flag device_form_made_;
  mutable std::atomic<bool> said_host_ = false;  // the note of FormFor
};

}  // namespace

std::unique_ptr<const Objective> MakeObjective(const ObjectiveInfo& info,
                                               const config::Params& params, Forms forms) {
  return std::make_unique<FormulaObjective>(info, params, forms);
}

std::unique_ptr<const Objective> MakeObjective(std::string_view name, const config::Params& params,
                                               Forms forms) {
  return MakeObjective(FindObjective(name), params, forms);
}

}  // namespace tandem::objective

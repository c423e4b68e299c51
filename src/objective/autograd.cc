// Makes every formula of the catalogue differentiable for tensors. The only source of this room
// that includes custom_function.h, which costs seconds to compile.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/process/asked_forms.h"
#include "config/catalogue_half.h"
#include "objective/batch_arrays.h"
#include "objective/catalogue.h"
#include "objective/device/device_batch.h"
#include "objective/device/device_form.h"
#include "objective/objective.h"

namespace tandem::objective {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// The scores and states that get gradients, in the order in which FormulaFunction takes them.
constexpr size_t kInputs = 5;
constexpr size_t kMatrices = 3;  // the first of them

Variable Zeros(const Variable& like, at::Device device) {
  if (!like.defined()) return {};
  return at::zeros(like.sizes(), at::TensorOptions(at::kDouble).device(device));
}

// autograd does not take undefined tensors as inputs, so an empty tensor stands for a missing one.
Variable Given(const Variable& input) { return input.defined() ? input : at::empty({0}); }

bool Wants(const Variable& input) { return input.defined() && input.requires_grad(); }

double* MutableDoubles(const Variable& tensor) {
  return tensor.defined() ? tensor.data_ptr<double>() : nullptr;
}

struct Gradients {
  variable_list tensors;  // undefined where there is no input
};

class FormulaFunction : public torch::autograd::Function<FormulaFunction> {
 public:
  // The gradient is ready when the value is: `value` and `gradients` only enter the graph here.
  // The scores and states come as inputs so that their gradients have somewhere to go.
  static Variable forward(AutogradContext* context, const Variable& query_document,
                          const Variable& query_query, const Variable& document_document,
                          const Variable& scale, const Variable& bias, double value,
                          const Gradients& gradients) {
    const Variable inputs[kInputs] = {query_document, query_query, document_document, scale, bias};
    variable_list kept;
    for (size_t i = 0; i < kInputs; ++i) {
      kept.push_back(Wants(inputs[i]) ? gradients.tensors[i].to(inputs[i].options()) : Variable());
    }
    context->save_for_backward(kept);
    return at::scalar_tensor(value, query_document.options().dtype(at::kDouble));
  }

  static variable_list backward(AutogradContext* context, const variable_list& output) {
    variable_list gradients = context->get_saved_variables();
    const double factor = output[0].item<double>();
    for (Variable& gradient : gradients) {
      // Usually the loss itself is differentiated, and its gradient is 1: no product is needed
      // then, which would copy a Q x D matrix.
      if (gradient.defined() && factor != 1) gradient = gradient.mul(factor);
    }
    gradients.resize(kInputs + 2);  // `value` and `gradients` have none
    return gradients;
  }
};

Forms Resolved(Forms forms) {
  static const bool portable = FormsOfEnvironment() == AskedForms::kPortable;
  return forms == Forms::kBySize && portable ? Forms::kDevice : forms;
}

std::unique_ptr<const DeviceForm> DeviceFormOf(const ObjectiveInfo& info,
                                               const config::Params& params) {
  const DeviceFormInfo* form = config::FindHalf(DeviceForms(), info);
  return form == nullptr ? nullptr : form->make(params);
}

// A loss with its gradients, which are there where they were wanted.
struct Judgement {
  Evaluation evaluation;
  variable_list gradients = variable_list(kInputs);
};

class FormulaObjective final : public Objective {
 public:
  FormulaObjective(const ObjectiveInfo& info, const config::Params& params, Forms forms)
      : name_(info.name),
        needs_(info.needs(params)),
        forms_(Resolved(forms)),
        formula_(info.make(params)),
        device_form_(DeviceFormOf(info, params)) {}

  using Objective::Evaluate;
  Loss Evaluate(const Scores& scores, const Labels& labels, const States& states) const override {
    const Variable inputs[kInputs] = {scores.query_document, scores.query_query,
                                      scores.document_document, states.scale, states.bias};
    const bool wanted =
        at::GradMode::is_enabled() && std::any_of(std::begin(inputs), std::end(inputs), Wants);
    Judgement judged = OnDevice(scores) ? JudgeOnDevice(inputs, scores, labels, states, wanted)
                                        : JudgeOnHost(inputs, scores, labels, states, wanted);
    Evaluation& result = judged.evaluation;
    if (!wanted) {
      return {at::scalar_tensor(result.loss, scores.query_document.options().dtype(at::kDouble)),
              result.count, std::move(result.losses)};
    }
    return {FormulaFunction::apply(Given(inputs[0]), Given(inputs[1]), Given(inputs[2]),
                                   Given(inputs[3]), Given(inputs[4]), result.loss,
                                   Gradients{std::move(judged.gradients)}),
            result.count, std::move(result.losses)};
  }

  double StartingBias(const Scores& scores, const Labels& labels,
                      const States& states) const override {
    if (OnDevice(scores)) {
      const at::NoGradGuard no_gradient;
      return device_form_->StartingBias(MakeDeviceBatch(scores, labels, states, needs_));
    }
    return formula_->StartingBias(MakeBatchArrays(scores, labels, states, needs_).batch);
  }

 private:
  bool OnDevice(const Scores& scores) const {
    const bool wanted =
        forms_ == Forms::kDevice || (forms_ == Forms::kBySize && !scores.query_document.is_cpu() &&
                                     scores.query_document.numel() >= kDeviceCells);
    if (wanted && device_form_ == nullptr && !said_host_.exchange(true)) {
      Note(
          fmt::format("objective {} has no form for devices: its scores are copied to the host, "
                      "and their gradient back",
                      name_));
    }
    return wanted && device_form_ != nullptr;
  }

  // Scores that are on a device are copied to the host, and FormulaFunction copies gradients back.
  Judgement JudgeOnHost(const Variable (&inputs)[kInputs], const Scores& scores,
                        const Labels& labels, const States& states, bool wanted) const {
    Judgement judged;
    variable_list& gradients = judged.gradients;
    const BatchArrays arrays = MakeBatchArrays(scores, labels, states, needs_);
    for (size_t i = 0; i < kInputs && wanted; ++i) gradients[i] = Zeros(inputs[i], at::kCPU);
    Gradient gradient = {.query_document = MutableDoubles(gradients[0]),
                         .query_query = MutableDoubles(gradients[1]),
                         .document_document = MutableDoubles(gradients[2])};
    judged.evaluation = formula_->Evaluate(arrays.batch, wanted ? &gradient : nullptr);
    SetStates(gradient.scale, gradient.bias, gradients);
    return judged;
  }

  Judgement JudgeOnDevice(const Variable (&inputs)[kInputs], const Scores& scores,
                          const Labels& labels, const States& states, bool wanted) const {
    const at::NoGradGuard no_gradient;
    Judgement judged;
    variable_list& gradients = judged.gradients;
    const DeviceBatch batch = MakeDeviceBatch(scores, labels, states, needs_);
    for (size_t i = 0; i < kInputs && wanted; ++i) {
      gradients[i] = Zeros(inputs[i], i < kMatrices ? batch.query_document.device() : at::kCPU);
    }
    DeviceGradient gradient = {.query_document = gradients[0],
                               .query_query = gradients[1],
                               .document_document = gradients[2]};
    judged.evaluation = device_form_->Evaluate(batch, wanted ? &gradient : nullptr);
    SetStates(gradient.scale, gradient.bias, gradients);
    return judged;
  }

  static void SetStates(double scale, double bias, variable_list& gradients) {
    if (gradients[3].defined()) gradients[3].fill_(scale);
    if (gradients[4].defined()) gradients[4].fill_(bias);
  }

  std::string_view name_;
  Needs needs_;
  Forms forms_;
  std::unique_ptr<const Formula> formula_;
  std::unique_ptr<const DeviceForm> device_form_;  // null: the objective has none
  mutable std::atomic<bool> said_host_ = false;    // the note of OnDevice
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

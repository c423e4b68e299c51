// Makes every formula of the catalogue differentiable for tensors. The only source of this room
// that includes custom_function.h, which costs seconds to compile.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "objective/batch_arrays.h"
#include "objective/catalogue.h"
#include "objective/objective.h"

namespace tandem::objective {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// The scores and states that get gradients, in the order in which FormulaFunction takes them.
constexpr size_t kInputs = 5;

Variable Zeros(const Variable& like) {
  return like.defined() ? at::zeros(like.sizes(), at::kDouble) : Variable();
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

class FormulaObjective final : public Objective {
 public:
  FormulaObjective(const ObjectiveInfo& info, const config::Params& params)
      : needs_(info.needs(params)), formula_(info.make(params)) {}

  using Objective::Evaluate;
  Loss Evaluate(const Scores& scores, const Labels& labels, const States& states) const override {
    const BatchArrays arrays = MakeBatchArrays(scores, labels, states, needs_);
    const Variable inputs[kInputs] = {scores.query_document, scores.query_query,
                                      scores.document_document, states.scale, states.bias};
    const bool wanted =
        at::GradMode::is_enabled() && std::any_of(std::begin(inputs), std::end(inputs), Wants);
    Gradients gradients;
    if (wanted) {
      for (const Variable& input : inputs) gradients.tensors.push_back(Zeros(input));
    } else {
      gradients.tensors.resize(kInputs);
    }
    Gradient gradient = {.query_document = MutableDoubles(gradients.tensors[0]),
                         .query_query = MutableDoubles(gradients.tensors[1]),
                         .document_document = MutableDoubles(gradients.tensors[2])};
    Evaluation result = formula_->Evaluate(arrays.batch, wanted ? &gradient : nullptr);
    if (!wanted) {
      return {at::scalar_tensor(result.loss, scores.query_document.options().dtype(at::kDouble)),
              result.count, std::move(result.losses)};
    }
    if (gradients.tensors[3].defined()) gradients.tensors[3].fill_(gradient.scale);
    if (gradients.tensors[4].defined()) gradients.tensors[4].fill_(gradient.bias);
    return {FormulaFunction::apply(Given(inputs[0]), Given(inputs[1]), Given(inputs[2]),
                                   Given(inputs[3]), Given(inputs[4]), result.loss, gradients),
            result.count, std::move(result.losses)};
  }

  double StartingBias(const Scores& scores, const Labels& labels,
                      const States& states) const override {
    return formula_->StartingBias(MakeBatchArrays(scores, labels, states, needs_).batch);
  }

 private:
  Needs needs_;
  std::unique_ptr<const Formula> formula_;
};

}  // namespace

std::unique_ptr<const Objective> MakeObjective(std::string_view name,
                                               const config::Params& params) {
  return std::make_unique<FormulaObjective>(FindObjective(name), params);
}

}  // namespace tandem::objective

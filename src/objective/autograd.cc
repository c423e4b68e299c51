// Makes every formula of the catalogue differentiable for tensors. The only source of this room
// that includes custom_function.h, which costs seconds to compile.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "objective/catalogue.h"
#include "objective/objective.h"

namespace tandem::objective {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor AsDouble(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  return tensor.detach().to(at::kCPU, at::kDouble).contiguous();
}

const double* Doubles(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<double>() : nullptr;
}

const bool* Bools(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<bool>() : nullptr;
}

void CheckFinite(const at::Tensor& scores, const char* rows, const char* columns) {
  if (!scores.defined()) return;
  const double* values = scores.data_ptr<double>();
  for (int64_t i = 0; i < scores.numel(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw NumericError(fmt::format("the score of {} {} and {} {} is {}: it must be finite", rows,
                                   i / scores.size(1), columns, i % scores.size(1), values[i]));
  }
}

// A caller's mistake, not a user's.
void CheckShape(const at::Tensor& tensor, at::IntArrayRef shape, const char* name, bool needed) {
  if (!tensor.defined() && !needed) return;
  if (!tensor.defined()) throw std::logic_error(fmt::format("this objective needs {}", name));
  if (tensor.sizes() != shape) throw std::logic_error(fmt::format("{} has a wrong shape", name));
}

void CheckShapes(const Scores& scores, const Labels& labels, const Needs& needs) {
  const int64_t q = scores.query_document.size(0);
  const int64_t d = scores.query_document.size(1);
  CheckShape(labels.positive, {q}, "labels.positive", true);
  CheckShape(labels.negative, {q, d}, "labels.negative", true);
  CheckShape(labels.grades, {q, d}, "labels.grades", needs.grades);
  CheckShape(labels.labelled, {q, d}, "labels.labelled", needs.grades || needs.teacher);
  CheckShape(labels.teacher, {q, d}, "labels.teacher", needs.teacher);
  CheckShape(scores.query_query, {q, q}, "scores.query_query", needs.query_query);
  CheckShape(labels.query_negative, {q, q}, "labels.query_negative", needs.query_query);
  CheckShape(scores.document_document, {q, q}, "scores.document_document", needs.document_document);
  CheckShape(labels.document_negative, {q, q}, "labels.document_negative", needs.document_document);
}

// CPU copies (or the tensors themselves, where they are that already) that a Batch points into.
struct Arrays {
  at::Tensor query_document, query_query, document_document;
  at::Tensor positive, grades, labelled, negative, query_negative, document_negative, teacher;
  at::Tensor bank_positives, bank_negatives;
  Batch batch;
};

std::span<const double> Span(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.data_ptr<double>(), static_cast<size_t>(tensor.numel())};
}

at::Tensor AsMask(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.to(at::kCPU, at::kBool).contiguous() : tensor;
}

Arrays MakeArrays(const Scores& scores, const Labels& labels, const States& states) {
  Arrays a{.query_document = AsDouble(scores.query_document),
           .query_query = AsDouble(scores.query_query),
           .document_document = AsDouble(scores.document_document),
           .positive = labels.positive.to(at::kCPU, at::kLong).contiguous(),
           .grades = AsDouble(labels.grades),
           .labelled = AsMask(labels.labelled),
           .negative = AsMask(labels.negative),
           .query_negative = AsMask(labels.query_negative),
           .document_negative = AsMask(labels.document_negative),
           .teacher = AsDouble(labels.teacher),
           .bank_positives = AsDouble(states.bank_positives),
           .bank_negatives = AsDouble(states.bank_negatives)};
  CheckFinite(a.query_document, "query", "document");
  CheckFinite(a.query_query, "query", "query");
  CheckFinite(a.document_document, "document", "document");
  a.batch = {.queries = a.query_document.size(0),
             .documents = a.query_document.size(1),
             .query_document = Doubles(a.query_document),
             .query_query = Doubles(a.query_query),
             .document_document = Doubles(a.document_document),
             .positive = a.positive.data_ptr<int64_t>(),
             .grades = Doubles(a.grades),
             .labelled = Bools(a.labelled),
             .negative = Bools(a.negative),
             .query_negative = Bools(a.query_negative),
             .document_negative = Bools(a.document_negative),
             .teacher = Doubles(a.teacher),
             .bank_positives = Span(a.bank_positives),
             .bank_negatives = Span(a.bank_negatives),
             .scale = states.scale.defined() ? states.scale.item<double>() : 0,
             .bias = states.bias.defined() ? states.bias.item<double>() : 0,
             .threads = at::get_num_threads()};
  for (int64_t i = 0; i < a.batch.queries; ++i) {
    if (a.batch.positive[i] < 0 || a.batch.positive[i] >= a.batch.documents) {
      throw std::logic_error("labels.positive names a column that there is not");
    }
  }
  return a;
}

// In the order of the inputs of FormulaFunction.
constexpr size_t kInputs = 5;

Variable Zeros(const Variable& like) {
  return like.defined() ? at::zeros(like.sizes(), at::kDouble) : Variable();
}

// autograd takes no undefined inputs.
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
      // Usually the loss itself is differentiated: no copy of a Q x D matrix then.
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
    CheckShapes(scores, labels, needs_);
    const Arrays arrays = MakeArrays(scores, labels, states);
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
    const Evaluation result = formula_->Evaluate(arrays.batch, wanted ? &gradient : nullptr);
    if (!wanted) {
      return {at::scalar_tensor(result.loss, scores.query_document.options().dtype(at::kDouble)),
              result.count};
    }
    if (gradients.tensors[3].defined()) gradients.tensors[3].fill_(gradient.scale);
    if (gradients.tensors[4].defined()) gradients.tensors[4].fill_(gradient.bias);
    return {FormulaFunction::apply(Given(inputs[0]), Given(inputs[1]), Given(inputs[2]),
                                   Given(inputs[3]), Given(inputs[4]), result.loss, gradients),
            result.count};
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

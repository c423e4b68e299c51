#include "train/objective/objective_states.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <utility>

#include "base/json/json.h"

namespace tandem::train {
namespace {

at::Tensor Number(double value, bool learned) {
  return at::full({1}, value, at::kFloat).set_requires_grad(learned);
}

// Returns a tensor that shares the bank's memory; undefined for an empty bank.
at::Tensor TensorOf(std::span<float> scores) {
  if (scores.empty()) return {};
  return at::from_blob(scores.data(), {static_cast<int64_t>(scores.size())}, at::kFloat);
}

at::Tensor CopyOf(std::span<const float> scores) {
  if (scores.empty()) return {};
  return at::from_blob(const_cast<float*>(scores.data()), {static_cast<int64_t>(scores.size())},
                       at::kFloat)
      .to(at::kDouble);
}

void SetNumber(const at::Tensor& number, double value) {
  *static_cast<float*>(number.data_ptr()) = static_cast<float>(value);
  number.unsafeGetTensorImpl()->bump_version();  // libtorch did not see the write
}

// Adds scores [n] on any device to the bank. Copies only the scores that the bank takes to the
// host.
void AddScores(int64_t step, const at::Tensor& scores, int64_t capacity, ScoreBank& bank) {
  const int64_t total = scores.numel(), count = std::min(total, capacity);
  at::Tensor taken = scores;
  if (count < total) {  // spread as in ScoreBank::Add
    taken = scores.index_select(
        0, at::arange(count, scores.options().dtype(at::kLong)).mul_(total).floor_divide_(count));
  }
  taken = taken.to(at::kCPU, at::kDouble).contiguous();
  bank.Add(step, static_cast<size_t>(count),
           [value = taken.data_ptr<double>()]() mutable { return *value++; });
}

double NumberOf(const at::Tensor& number) {
  return static_cast<double>(*static_cast<const float*>(number.data_ptr()));
}

}  // namespace

ObjectiveStates::ObjectiveStates(const objective::StatePlan& plan)
    : plan_(plan),
      started_(plan.bias.has_value()),
      positives_(plan.bank, plan.bank_max_age),
      negatives_(plan.bank, plan.bank_max_age) {
  if (!plan.logistic) return;
  scale_ = Number(plan.scale, plan.learn_scale);
  bias_ = Number(plan.bias.value_or(0), plan.learn_bias);
}

objective::States ObjectiveStates::View(bool with_bank) const {
  objective::States states{.scale = scale_};
  if (started_) states.bias = bias_;
  if (!with_bank) return states;
  states.bank_positives = CopyOf(positives_.scores());
  states.bank_negatives = CopyOf(negatives_.scores());
  return states;
}

void ObjectiveStates::StartBias(double bias) {
  SetNumber(bias_, bias);
  started_ = true;
}

void ObjectiveStates::BeginStep(int64_t step) {
  step_ = step;
  positives_.DropOld(step);
  negatives_.DropOld(step);
}

void ObjectiveStates::Keep(const at::Tensor& query_document, const objective::Labels& labels) {
  if (plan_.bank == 0 || step_ == 0) return;
  const at::Tensor scores = query_document.detach();
  const at::Tensor own = scores.gather(1, labels.positive.to(scores.device()).unsqueeze(1));
  AddScores(step_, own.flatten(), plan_.bank, positives_);
  const at::Tensor allowed = labels.negative.to(scores.device());
  AddScores(step_, scores.masked_select(allowed), plan_.bank, negatives_);
}

std::vector<model::NamedParameter> ObjectiveStates::Learned() const {
  std::vector<model::NamedParameter> learned;
  for (model::NamedParameter& number : Numbers()) {
    if (number.value.requires_grad()) learned.push_back(std::move(number));
  }
  return learned;
}

std::vector<model::NamedParameter> ObjectiveStates::Numbers() const {
  if (!plan_.logistic) return {};
  return {{.name = "objective.scale", .value = scale_, .decay = false},
          {.name = "objective.bias", .value = bias_, .decay = false}};
}

std::vector<optim::StateTensor> ObjectiveStates::Tensors() {
  std::vector<optim::StateTensor> tensors;
  const at::Tensor positives = TensorOf(positives_.scores());
  const at::Tensor negatives = TensorOf(negatives_.scores());
  if (positives.defined()) tensors.push_back({"bank/positives", positives});
  if (negatives.defined()) tensors.push_back({"bank/negatives", negatives});
  return tensors;
}

void ObjectiveStates::VisitState(StateVisitor visit) {
  visit.Member("started", started_);
  positives_.VisitState(visit, "bank_positives");
  negatives_.VisitState(visit, "bank_negatives");
}

report::NamedNumbers ObjectiveStates::Figures() const {
  report::NamedNumbers figures;
  if (const auto calibration = Calibration()) {
    figures = {{"scale", calibration->scale}, {"bias", calibration->bias}};
  }
  if (plan_.bank > 0) {
    figures.push_back({"bank_positives", static_cast<int64_t>(positives_.scores().size())});
    figures.push_back({"bank_negatives", static_cast<int64_t>(negatives_.scores().size())});
  }
  return figures;
}

std::optional<weights::Calibration> ObjectiveStates::Calibration() const {
  if (!plan_.logistic) return std::nullopt;
  return weights::Calibration{.scale = NumberOf(scale_), .bias = NumberOf(bias_)};
}

}  // namespace tandem::train

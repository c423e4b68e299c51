#include "train/objective/objective_states.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::train {
namespace {

tensor::Tensor Number(double value, bool learned) {
  return tensor::Full({1}, value, tensor::kFloat).set_requires_grad(learned);
}

// Returns a tensor that shares the bank's memory; undefined for an empty bank.
tensor::Tensor TensorOf(std::span<float> scores) {
  if (scores.empty()) return {};
  return tensor::FromBlob(scores.data(), {static_cast<int64_t>(scores.size())}, tensor::kFloat);
}

tensor::Tensor CopyOf(std::span<const float> scores) {
  if (scores.empty()) return {};
  return tensor::FromBlob(const_cast<float*>(scores.data()), {static_cast<int64_t>(scores.size())},
                          tensor::kFloat)
      .to(tensor::kDouble);
}

void SetNumber(const tensor::Tensor& number, double value) {
  *number.data_ptr<float>() = static_cast<float>(value);
  number.bump_version();
}

// Returns the cells of scores [Q, D], counted row by row, that hold the queries' paired documents.
std::vector<int64_t> PositiveCells(const objective::Labels& labels, int64_t columns) {
  const auto* positive = labels.positive.data_ptr<int64_t>();
  std::vector<int64_t> cells;
  for (int64_t q = 0; q < labels.positive.numel(); ++q) cells.push_back(q * columns + positive[q]);
  return cells;
}

// Returns the cells that are allowed as negatives, at most `most`, spread evenly over all of them
// as in ScoreBank::Add.
std::vector<int64_t> NegativeCells(const tensor::Tensor& allowed, int64_t most) {
  const bool* cell = allowed.data_ptr<bool>();
  const int64_t total = std::count(cell, cell + allowed.numel(), true);
  const int64_t count = std::min(total, most);
  std::vector<int64_t> cells;
  for (int64_t i = 0, seen = 0; std::ssize(cells) < count; ++i) {
    if (cell[i] && seen++ >= std::ssize(cells) * total / count) cells.push_back(i);
  }
  return cells;
}

// Returns the scores of these cells as float64 on the host. Copies no others there.
std::vector<double> ScoresAt(const tensor::Tensor& scores, const std::vector<int64_t>& cells) {
  if (scores.is_cpu()) {
    const tensor::Tensor all = scores.to(tensor::kDouble);
    const auto* score = all.data_ptr<double>();
    std::vector<double> taken(cells.size());
    std::transform(cells.begin(), cells.end(), taken.begin(),
                   [score](int64_t cell) { return score[cell]; });
    return taken;
  }
  const tensor::Tensor numbers =
      tensor::FromBlob(const_cast<int64_t*>(cells.data()), {std::ssize(cells)}, tensor::kLong);
  const tensor::Tensor taken =
      tensor::OnCpu(tensor::TakeRows(scores.flatten(), tensor::MovedTo(numbers, scores.device())))
          .to(tensor::kDouble);
  const auto* score = taken.data_ptr<double>();
  return {score, score + taken.numel()};
}

void AddScores(int64_t step, const std::vector<double>& scores, ScoreBank& bank) {
  bank.Add(step, scores.size(), [value = scores.begin()]() mutable { return *value++; });
}

double NumberOf(const tensor::Tensor& number) {
  return static_cast<double>(*number.data_ptr<float>());
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

void ObjectiveStates::Keep(const tensor::Tensor& query_document, const objective::Labels& labels) {
  if (plan_.bank == 0 || step_ == 0) return;
  const tensor::Tensor scores = query_document.detach();
  AddScores(step_, ScoresAt(scores, PositiveCells(labels, scores.size(1))), positives_);
  AddScores(step_, ScoresAt(scores, NegativeCells(labels.negative, plan_.bank)), negatives_);
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
  const tensor::Tensor positives = TensorOf(positives_.scores());
  const tensor::Tensor negatives = TensorOf(negatives_.scores());
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

// What an objective learns and keeps: the score bank, the bias, and what a checkpoint has of them.
#include "train/objective/objective_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "optim/catalogue.h"
#include "optim/gradients.h"
#include "optim/optimizer.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/values.h"

namespace tandem::train {
namespace {

using testing::ElementsAre;

std::vector<float> Kept(const ScoreBank& bank) {
  return {bank.scores().begin(), bank.scores().end()};
}

void Add(ScoreBank& bank, int64_t step, const std::vector<double>& scores) {
  bank.Add(step, scores.size(), [&, next = size_t{0}]() mutable { return scores[next++]; });
}

TEST(ScoreBank, KeepsTheLastScores) {
  ScoreBank bank(4, 0);
  Add(bank, 1, {1, 2});
  Add(bank, 2, {3});
  EXPECT_THAT(Kept(bank), ElementsAre(1, 2, 3));
  Add(bank, 3, {4, 5});
  EXPECT_THAT(Kept(bank), ElementsAre(2, 3, 4, 5));
}

TEST(ScoreBank, SpreadsWhatItTakesOfALargerBatch) {
  ScoreBank bank(3, 0);
  Add(bank, 1, {0});
  Add(bank, 2, {10, 11, 12, 13, 14, 15, 16});
  EXPECT_THAT(Kept(bank), ElementsAre(10, 12, 14));
}

TEST(ScoreBank, DropsWhatIsTooOld) {
  ScoreBank bank(10, 2);
  Add(bank, 1, {1, 2});
  Add(bank, 2, {3});
  bank.DropOld(3);
  EXPECT_THAT(Kept(bank), ElementsAre(1, 2, 3));
  bank.DropOld(4);
  EXPECT_THAT(Kept(bank), ElementsAre(3));
  bank.DropOld(5);
  EXPECT_THAT(Kept(bank), ElementsAre());
}

TEST(ScoreBank, GoesOnFromItsState) {
  ScoreBank bank(4, 2);
  Add(bank, 1, {1, 2, 3});
  Add(bank, 2, {4, 5});
  ScoreBank other(4, 2);
  Json state;
  bank.VisitState(StateVisitor::Writer(state), "bank");
  EXPECT_EQ(state.Dump(), R"({"bank":[[1,2],[2,2]]})");
  other.VisitState(StateVisitor::Reader(state), "bank");
  ASSERT_EQ(other.scores().size(), bank.scores().size());
  std::copy(bank.scores().begin(), bank.scores().end(), other.scores().begin());
  for (ScoreBank* one : {&bank, &other}) {
    one->DropOld(4);
    Add(*one, 4, {6});
    EXPECT_THAT(Kept(*one), ElementsAre(4, 5, 6));
  }
}

objective::Labels LabelsOfTwo() {
  objective::Labels labels;
  labels.positive = tensor::Of<int64_t>({2}, {1, 0});
  labels.negative = tensor::Of<bool>({2, 3}, {true, false, false, false, false, true});
  return labels;
}

tensor::Tensor Scores() { return tensor::Doubles({2, 3}, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5}); }

TEST(ObjectiveStates, KeepsOwnScoresAndAllowedNegatives) {
  ObjectiveStates states({.bank = 8});
  states.Keep(tensor::Doubles({2, 3}, {9, 9, 9, 9, 9, 9}), LabelsOfTwo());
  states.BeginStep(1);
  states.Keep(Scores(), LabelsOfTwo());
  const objective::States view = states.View(/*with_bank=*/true);
  EXPECT_THAT(tensor::ValuesOf<double>(view.bank_positives), ElementsAre(1.5, 3.5));
  EXPECT_THAT(tensor::ValuesOf<double>(view.bank_negatives), ElementsAre(0.5, 5.5));
  EXPECT_FALSE(view.bank_positives.requires_grad());
  EXPECT_FALSE(view.bias.defined());
  EXPECT_FALSE(states.View(/*with_bank=*/false).bank_positives.defined());
}

// As ScoreBank.SpreadsWhatItTakesOfALargerBatch: of seven the first, the third and the fifth.
TEST(ObjectiveStates, KeepsNegativesOfAllPartsOfABatchThatHasMore) {
  ObjectiveStates states({.bank = 3});
  states.BeginStep(1);
  objective::Labels labels;
  labels.positive = tensor::Of<int64_t>({2}, {1, 0});
  labels.negative = tensor::Of<bool>({2, 4}, {true, false, true, true, true, true, true, true});
  states.Keep(tensor::Doubles({2, 4}, {10, -1, 11, 12, 13, 14, 15, 16}), labels);
  EXPECT_THAT(tensor::ValuesOf<double>(states.View(true).bank_positives), ElementsAre(-1, 13));
  EXPECT_THAT(tensor::ValuesOf<double>(states.View(true).bank_negatives), ElementsAre(10, 12, 14));
}

// States with a learned bias and an optimizer over it, as a run has them.
struct Learning {
  Learning() : states(Plan()), optimizer(MakeOptimizer(states)) {}

  static objective::StatePlan Plan() {
    return {
        .logistic = true, .learn_bias = true, .scale = 20, .learning_rate_factor = 100, .bank = 4};
  }

  static optim::Optimizer MakeOptimizer(const ObjectiveStates& states) {
    config::Params params(optim::kAdamW.params);
    params.Set("weight_decay", 0.5);
    return {optim::kAdamW, states.Learned(), params};
  }
  // A step along a gradient of 1.
  void Learn(int64_t step) {
    states.BeginStep(step);
    optim::ClearGradients(states.Learned());
    tensor::Sum(states.View(false).bias).backward();
    optimizer.Step(0.001 * states.learning_rate_factor(), 1);
  }

  ObjectiveStates states;
  optim::Optimizer optimizer;
};

TEST(ObjectiveStates, LearnsTheBiasAtItsOwnRateWithoutDecay) {
  Learning learning;
  ObjectiveStates& states = learning.states;
  EXPECT_TRUE(states.bias_is_open());
  EXPECT_FALSE(states.View(false).bias.defined());
  states.StartBias(-3);
  EXPECT_FALSE(states.bias_is_open());
  ASSERT_EQ(states.Learned().size(), 1);
  learning.Learn(1);  // Adam's first step is the rate itself
  EXPECT_NEAR(states.View(false).bias.item<double>(), -3 - 100 * 0.001, 1e-5);
  EXPECT_EQ(states.View(false).scale.item<double>(), 20);
}

TEST(ObjectiveStates, StaysWhereItIsGivenAndNotLearned) {
  ObjectiveStates states({.logistic = true, .scale = 10, .bias = -2});
  EXPECT_FALSE(states.bias_is_open());
  EXPECT_TRUE(states.Learned().empty());
  EXPECT_EQ(states.Calibration()->scale, 10);
  EXPECT_EQ(states.Calibration()->bias, -2);
}

TEST(ObjectiveStates, ACopyHasBanksOfItsOwn) {
  ObjectiveStates states({.bank = 8});
  states.BeginStep(1);
  ObjectiveStates copy = states;
  copy.Keep(Scores(), LabelsOfTwo());
  EXPECT_TRUE(copy.View(true).bank_positives.defined());
  EXPECT_FALSE(states.View(true).bank_positives.defined());
  EXPECT_TRUE(ObjectiveStates().empty());
  EXPECT_FALSE(states.empty());
}

TEST(ObjectiveStates, GoOnFromACheckpoint) {
  Learning before;
  before.states.StartBias(-3);
  before.Learn(1);
  before.states.Keep(Scores(), LabelsOfTwo());

  Learning resumed;
  Json state;
  before.states.VisitState(StateVisitor::Writer(state));
  resumed.states.VisitState(StateVisitor::Reader(state));
  resumed.optimizer.set_steps(before.optimizer.steps());
  const auto copy = [](const auto& from, const auto& to, const auto& value) {
    ASSERT_EQ(from.size(), to.size());
    for (size_t i = 0; i < from.size(); ++i) {
      EXPECT_EQ(from[i].name, to[i].name);
      value(to[i]).copy_(value(from[i]));
    }
  };
  copy(before.states.Numbers(), resumed.states.Numbers(),
       [](const auto& one) { return one.value.detach(); });
  copy(before.states.Tensors(), resumed.states.Tensors(),
       [](const auto& one) { return one.value; });
  copy(before.optimizer.State(), resumed.optimizer.State(),
       [](const auto& one) { return one.value; });
  for (Learning* one : {&before, &resumed}) one->Learn(2);
  EXPECT_EQ(resumed.states.Figures(), before.states.Figures());
  EXPECT_EQ(resumed.states.Figures().back(), (report::NamedNumber{"bank_negatives", 2}));
  EXPECT_EQ(tensor::ValuesOf<double>(resumed.states.View(true).bank_negatives),
            tensor::ValuesOf<double>(before.states.View(true).bank_negatives));
}

}  // namespace
}  // namespace tandem::train

#include "train/setup/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "eval/measure.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"

namespace tandem::train {
namespace {

RunPlan Plan(const config::Recipe& recipe,
             const sampling::SamplerInfo& sampler = sampling::kUniform, uint32_t queries = 100) {
  std::vector<uint64_t> hashes(queries);
  for (uint64_t d = 0; d < queries; ++d) hashes[d] = d;
  sampling::Examples examples(1, hashes);
  for (uint32_t q = 0; q < queries; ++q) examples.Add(q, std::vector<sampling::Judged>{{q, 1}});
  return MakePlan(recipe,
                  *sampler.make(examples, {.batch = static_cast<size_t>(*recipe.train.batch)}));
}

TEST(Plan, CountsStepsOfEpochsWithAccumulation) {
  config::Recipe recipe;
  recipe.train.batch = 8;  // 13 batches a pass
  EXPECT_EQ(Plan(recipe).steps, 13);
  recipe.train.epochs = 2.5;
  EXPECT_EQ(Plan(recipe).steps, 33);
  recipe.train.accumulate = 4;
  EXPECT_EQ(Plan(recipe).steps, 9);
  EXPECT_EQ(Plan(recipe).batches, 33);  // one in the last step
  recipe.train.epochs.reset();
  recipe.train.steps = 70;
  EXPECT_EQ(Plan(recipe).steps, 70);
  EXPECT_EQ(Plan(recipe).batches, std::nullopt);
}

TEST(Plan, SharesAreOfTheRunAndAtLeastOneStep) {
  config::Recipe recipe;
  recipe.train.epochs.reset();
  recipe.train.steps = 200;
  recipe.validation.holdout = config::Quantity::Percent(5);
  recipe.schedule.warmup = config::Quantity::Percent(5);
  recipe.train.checkpoint_every = config::Quantity::Percent(25);
  recipe.validation.every = config::Quantity::Percent(0.1);
  const RunPlan plan = Plan(recipe);
  EXPECT_EQ(plan.warmup, 10);
  EXPECT_EQ(plan.checkpoint_every, 50);
  EXPECT_EQ(plan.validate_every, 1);
  recipe.schedule.warmup = config::Quantity::Count(500);
  EXPECT_EQ(Plan(recipe).warmup, 500);  // longer than the run: it stays so (transformers)
}

// However few queries there are, patience ends no run before each of them has been trained on.
TEST(Plan, TheRecipeToStartWithTrainsAnEpochBeforePatienceEndsIt) {
  const std::vector<config::Catalogue> catalogues = {
      sampling::SamplerCatalogue(), objective::ObjectiveCatalogue(), optim::OptimizerCatalogue(),
      optim::ScheduleCatalogue(), eval::MeasureCatalogue()};
  const config::Recipe recipe =
      config::LoadRecipe(std::string(TANDEM_SOURCE_DIR) + "/recipes/start.toml", {}, catalogues)
          .recipe;
  ASSERT_GT(recipe.validation.patience, 0);
  for (uint32_t queries = 1; queries < 2000; queries += 7) {
    const RunPlan plan = Plan(recipe, sampling::kUniform, queries);
    const auto an_epoch = static_cast<double>(plan.steps) / *recipe.train.epochs;
    const int64_t first_end = recipe.validation.patience * plan.validate_every;
    EXPECT_GE(static_cast<double>(std::min(first_end, plan.steps)), an_epoch) << queries;
  }
}

std::vector<int64_t> Validations(const RunPlan& plan) {
  std::vector<int64_t> steps;
  for (int64_t step = 1; step <= plan.steps; ++step) {
    if (plan.ValidationDue(step)) steps.push_back(step);
  }
  return steps;
}

// Whatever the number of steps: no more validations than the share says, the end among them.
TEST(Plan, QuartersOfARunAreFour) {
  config::Recipe recipe;
  recipe.train.epochs.reset();
  recipe.validation.holdout = config::Quantity::Percent(5);
  for (const double share : {25.0, 10.0}) {
    recipe.validation.every = config::Quantity::Percent(share);
    for (int64_t steps = 1; steps < 300; ++steps) {
      recipe.train.steps = steps;
      EXPECT_LE(static_cast<double>(Validations(Plan(recipe)).size()), 100 / share) << steps;
    }
  }
  recipe.train.steps = 29;
  recipe.validation.every = config::Quantity::Percent(25);
  EXPECT_EQ(Validations(Plan(recipe)), (std::vector<int64_t>{8, 16, 24, 29}));
  recipe.train.steps = 28;
  EXPECT_EQ(Validations(Plan(recipe)), (std::vector<int64_t>{7, 14, 21, 28}));
}

TEST(Plan, NoValidationIsNearTheEndButThatOfTheEnd) {
  EXPECT_EQ(Validations({.steps = 22, .validate_every = 10, .validates_by_share = true}),
            (std::vector<int64_t>{10, 22}));
  EXPECT_EQ(Validations({.steps = 23, .validate_every = 10, .validates_by_share = true}),
            (std::vector<int64_t>{10, 20, 23}));
  EXPECT_EQ(Validations({.steps = 2, .validate_every = 1, .validates_by_share = true}),
            (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Validations({.steps = 3, .validate_every = 10, .validates_by_share = true}),
            (std::vector<int64_t>{3}));
  // Steps are taken as they are asked for.
  EXPECT_EQ(Validations({.steps = 22, .validate_every = 10}), (std::vector<int64_t>{10, 20, 22}));
  // By progress: 33 %, 66 %, and 100 % in place of 99 %.
  const RunPlan plan{.validate_every = 1, .by_progress = true, .validate_share = 0.33};
  std::vector<int64_t> percents;
  for (int64_t percent = 1; percent <= 100; ++percent) {
    const auto now = static_cast<double>(percent);
    const LoopState state{.progress = now / 100, .progress_before = (now - 1) / 100};
    if (plan.ValidationDue(state)) percents.push_back(percent);
  }
  EXPECT_EQ(percents, (std::vector<int64_t>{33, 66, 100}));
}

TEST(Plan, CountsTheValidationsThatFollow) {
  for (int64_t every = 0; every < 12; ++every) {
    for (int64_t steps = 1; steps < 40; ++steps) {
      const RunPlan plan{
          .steps = steps, .validate_every = every, .validates_by_share = steps % 2 == 0};
      const std::vector<int64_t> due = Validations(plan);
      for (int64_t step = 0; step <= steps; ++step) {
        const auto after = std::count_if(due.begin(), due.end(),
                                         [step](int64_t validated) { return validated > step; });
        EXPECT_EQ(plan.ValidationsAfter({.step = step}), after)
            << step << " of " << steps << " by " << every;
      }
    }
  }
  const RunPlan plan{.validate_every = 1, .by_progress = true, .validate_share = 0.33};
  EXPECT_EQ(plan.ValidationsAfter({.progress = 0}), 3);
  EXPECT_EQ(plan.ValidationsAfter({.progress = 0.5}), 2);
  EXPECT_EQ(plan.ValidationsAfter({.progress = 0.995}), 1);
  EXPECT_EQ(plan.ValidationsAfter({.progress = 1}), 0);
}

TEST(Plan, TheLastStepIsAlwaysSavedAndValidated) {
  RunPlan plan{.steps = 25, .checkpoint_every = 10, .validate_every = 10};
  for (const int64_t step : {10, 20, 25}) {
    EXPECT_TRUE(plan.CheckpointDue(step));
    EXPECT_TRUE(plan.ValidationDue(step));
  }
  EXPECT_FALSE(plan.CheckpointDue(24));
  EXPECT_FALSE(plan.ValidationDue(11));
  plan.checkpoint_every = 0;
  plan.validate_every = 0;
  EXPECT_FALSE(plan.CheckpointDue(10));
  EXPECT_TRUE(plan.CheckpointDue(25));
  EXPECT_FALSE(plan.ValidationDue(25));
}

// Where passes follow from training, epochs have no number of steps ahead; steps have.
TEST(Plan, GoesByProgressWhereTheNumberOfStepsIsNotKnown) {
  config::Recipe recipe;
  recipe.train.batch = 8;
  recipe.train.epochs = 2;
  recipe.validation.holdout = config::Quantity::Percent(5);
  recipe.validation.every = config::Quantity::Percent(50);
  recipe.train.checkpoint_every = config::Quantity::Count(7);
  EXPECT_FALSE(Plan(recipe).by_progress);
  const RunPlan plan = Plan(recipe, sampling::kInfoBatch);
  EXPECT_TRUE(plan.by_progress);
  EXPECT_EQ(plan.steps, 26);  // an estimate
  EXPECT_EQ(plan.checkpoint_share, 0);
  EXPECT_EQ(plan.checkpoint_every, 7);
  EXPECT_EQ(plan.validate_share, 0.5);
  recipe.train.epochs.reset();
  recipe.train.steps = 20;
  EXPECT_FALSE(Plan(recipe, sampling::kInfoBatch).by_progress);
}

TEST(Plan, MinesBeforeTheFirstStepAndEverySoOftenFromThere) {
  config::Recipe recipe;
  recipe.train.epochs.reset();
  recipe.train.steps = 200;
  EXPECT_EQ(Plan(recipe).mining.RoundsBy({.step = 100}), 0);
  recipe.mining.every = config::Quantity::Percent(25);
  const MiningPlan plan = Plan(recipe).mining;
  EXPECT_EQ(plan.every, 50);
  EXPECT_EQ(plan.RoundsBy({.step = 0}), 1);
  EXPECT_EQ(plan.RoundsBy({.step = 49, .progress = 0.9}), 1);
  EXPECT_EQ(plan.RoundsBy({.step = 50}), 2);
  EXPECT_EQ(plan.RoundsBy({.step = 199}), 4);
  recipe.mining.every = config::Quantity::Percent(0.1);
  EXPECT_EQ(Plan(recipe).mining.every, 1);
}

TEST(Plan, MiningFollowsProgressWhereTheNumberOfStepsIsNotKnown) {
  config::Recipe recipe;
  recipe.train.epochs = 4;
  recipe.mining.every = config::Quantity::Percent(10);
  const RunPlan plan = Plan(recipe, sampling::kInfoBatch);
  ASSERT_TRUE(plan.by_progress);
  EXPECT_EQ(plan.mining.RoundsBy({.step = 0}), 1);
  EXPECT_EQ(plan.mining.RoundsBy({.step = 3, .progress = 0.0999}), 1);
  EXPECT_EQ(plan.mining.RoundsBy({.step = 3, .progress = 0.1 + 0.1 + 0.1}), 4);
  recipe.mining.every = config::Quantity::Count(5);
  EXPECT_EQ(Plan(recipe, sampling::kInfoBatch).mining.RoundsBy({.step = 5, .progress = 0.01}), 2);
}

TEST(Plan, SharesAreDueWhenProgressGetsToThem) {
  const RunPlan plan{
      .steps = 3, .by_progress = true, .checkpoint_share = 0.1, .validate_share = 0.5};
  std::vector<int64_t> checkpoints, validations;
  LoopState state;
  for (state.step = 1; state.progress < 1; ++state.step) {
    state.progress_before = state.progress;
    state.progress = std::min(1.0, 0.04 * static_cast<double>(state.step));
    if (plan.CheckpointDue(state)) checkpoints.push_back(state.step);
    if (plan.ValidationDue(state)) validations.push_back(state.step);
  }
  EXPECT_EQ(checkpoints, (std::vector<int64_t>{3, 5, 8, 10, 13, 15, 18, 20, 23, 25}));
  EXPECT_EQ(validations, (std::vector<int64_t>{13, 25}));
  const RunPlan steps{.steps = 3, .checkpoint_every = 4, .by_progress = true};
  EXPECT_TRUE(steps.CheckpointDue(LoopState{.step = 8, .progress = 0.5}));
  EXPECT_FALSE(steps.CheckpointDue(LoopState{.step = 3, .progress = 0.5}));
  EXPECT_TRUE(steps.CheckpointDue(LoopState{.step = 9, .progress = 1}));
  EXPECT_FALSE(steps.ValidationDue(LoopState{.step = 9, .progress = 1}));
}

}  // namespace
}  // namespace tandem::train

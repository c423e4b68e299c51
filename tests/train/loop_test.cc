// The loop on a small model: what a step is, against the same arithmetic written out here.
#include "train/loop.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "optim/gradients.h"
#include "optim/optimizer.h"
#include "sampling/catalogue.h"
#include "train/bag_encoder.h"
#include "train/example_texts.h"

namespace tandem::train {
namespace {

class LoopTest : public testing::Test {
 protected:
  LoopTest() {
    data::Dataset dataset;
    for (uint32_t t = 0; t < 24; ++t) {
      dataset.queries.Add(fmt::format("q{}", t), fmt::format("query on topic{}", t));
      dataset.documents.Add(fmt::format("d{}", t), fmt::format("text {} on topic{}", t % 5, t));
      dataset.judged.push_back({.query = t, .judgements = {{t, 1}}});
    }
    set_ = data::BuildTrainingSet(std::move(dataset), 1);
    std::vector<uint32_t> all;
    for (uint32_t e = 0; e < 24; ++e) all.push_back(e);
    texts_ = std::make_unique<ExampleTexts>(MakeExampleTexts(set_, 1, all, model_, 1));
    batches_ = std::make_unique<BatchMaker>(*texts_, sampling::MaskRules());
    recipe_.train.batch = 6;
    recipe_.train.accumulate = 2;
    recipe_.optimizer.learning_rate = 0.05;
    recipe_.optimizer.clip = 0.5;
    recipe_.objective = {"infonce", config::Params(objective::FindObjective("infonce").params)};
    goal_ = MakeGoal(recipe_.objective);
  }

  // Runs `steps` steps with the loop.
  LoopState Run(int64_t steps) {
    const RunFolder folder(temporary_.path());
    folder.Prepare();
    LineLog metrics(folder.metrics(), 0), timing(folder.timing(), std::nullopt);
    const auto sampler = sampling::kUniform.make(texts_->examples, SamplerOptionsOf(recipe_));
    optim::Optimizer optimizer(optim::kAdamW, model_.Parameters());
    Loop loop({.recipe = &recipe_,
               .plan = {.steps = steps, .warmup = 1},
               .model = &model_,
               .goal = &goal_,
               .batches = batches_.get(),
               .sampler = sampler.get(),
               .optimizer = &optimizer,
               .schedule = &optim::kLinear,
               .folder = &folder,
               .metrics = &metrics,
               .timing = &timing});
    loop.Run();
    return loop.state();
  }

  TemporaryFolder temporary_;
  config::Recipe recipe_;
  model::BagEncoder model_;
  data::TrainingSet set_;
  std::unique_ptr<ExampleTexts> texts_;
  std::unique_ptr<BatchMaker> batches_;
  Goal goal_;
};

// The gradient of a step is the mean over its batches, clipped as a whole; the rate follows the
// schedule; dropout is named by the number of the batch.
TEST_F(LoopTest, AStepIsTheMeanOverItsBatchesClippedAndScheduled) {
  const LoopState state = Run(3);
  model::BagEncoder twin;
  const auto sampler = sampling::kUniform.make(texts_->examples, SamplerOptionsOf(recipe_));
  optim::Optimizer optimizer(optim::kAdamW, twin.Parameters());
  const double rates[] = {0.05 / 2, 0.05, 0.05 / 2};  // warm-up of one step, then 2/2 and 1/2
  for (const double rate : rates) {
    std::vector<at::Tensor> mean;
    for (int part = 0; part < 2; ++part) {
      optim::ClearGradients(twin.Parameters());
      ForwardBackward(twin, batches_->Make(sampler->Next()), goal_, {});
      for (size_t p = 0; p < 3; ++p) {
        const at::Tensor half = twin.Parameters()[p].value.grad() * 0.5;
        if (part == 0)
          mean.push_back(half);
        else
          mean[p] = mean[p] + half;
      }
    }
    double squares = 0;
    for (const at::Tensor& gradient : mean) squares += gradient.pow(2).sum().item<double>();
    ASSERT_GT(std::sqrt(squares), 0.5) << "nothing would be clipped";
    for (size_t p = 0; p < 3; ++p) {
      twin.Parameters()[p].value.mutable_grad() = mean[p] * (0.5 / std::sqrt(squares));
    }
    optimizer.Step(rate, 1);
  }
  for (size_t p = 0; p < 3; ++p) {
    const at::Tensor got = model_.Parameters()[p].value, want = twin.Parameters()[p].value;
    EXPECT_LT((got - want).abs().max().item<double>(), 1e-5) << p;
  }
  EXPECT_EQ(state.step, 3);
  EXPECT_EQ(state.queries, 36);
  ASSERT_EQ(model_.seen_options.size(), 6);
  for (uint64_t b = 0; b < 6; ++b) {
    EXPECT_TRUE(model_.seen_options[b].training);
    EXPECT_EQ(model_.seen_options[b].step, b);
    EXPECT_EQ(model_.seen_options[b].seed, 1);
  }
}

// A line's loss is the mean of the steps since the line before.
TEST_F(LoopTest, MetricsAverageOverTheirLine) {
  const auto losses = [this](int64_t every) {
    recipe_.logging.every = every;
    model_ = model::BagEncoder();
    Run(6);
    std::vector<double> values;
    std::istringstream lines(ReadFile(temporary_.path() / "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      values.push_back(nlohmann::json::parse(line).at("loss"));
    }
    return values;
  };
  const std::vector<double> single = losses(1), triple = losses(3);
  ASSERT_EQ(single.size(), 6);
  ASSERT_EQ(triple.size(), 2);
  EXPECT_NEAR(triple[0], (single[0] + single[1] + single[2]) / 3, 1e-9);
  EXPECT_NEAR(triple[1], (single[3] + single[4] + single[5]) / 3, 1e-9);
}

}  // namespace
}  // namespace tandem::train

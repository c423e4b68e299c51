// The gradient cache against the direct gradient: every objective, a real encoder with dropout,
// graded documents and a teacher's scores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "model/dual_encoder.h"
#include "optim/gradients.h"
#include "sampling/catalogue.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "train/graded_data.h"
#include "train/inputs/example_texts.h"
#include "train/step/plain_step.h"

namespace tandem::train {
namespace {

class GradientCacheSetting {
 protected:
  explicit GradientCacheSetting(const model::LoadOptions& options) : set_(Graded()) {
    WriteTinyModel(folder_.path());
    model_ = model::DualEncoder::Load(folder_.path(), options);
    std::vector<uint32_t> all(set_.examples.size());
    std::iota(all.begin(), all.end(), 0);
    texts_ = MakeExampleTexts(set_, 1, all, *model_, ModelPrompts(*model_), 1);
  }
  // The gradients of all parameters as one vector, and the loss.
  std::pair<std::vector<tensor::Tensor>, double> Gradients(const TrainingBatch& batch,
                                                           const TrainingObjective& objective,
                                                           int64_t chunk_tokens, uint64_t step) {
    const double loss =
        MakeStep(chunk_tokens)
            ->ForwardBackward(*model_, batch, objective, states_,
                              {.forward = {.training = true, .seed = 3, .step = step}})
            .loss;
    std::vector<tensor::Tensor> gradients;
    for (const auto& parameter : model_->Parameters()) {
      gradients.push_back(GradientOf(parameter.value));
    }
    optim::ClearGradients(model_->Parameters());
    return {std::move(gradients), loss};
  }

  TemporaryFolder folder_;
  data::TrainingSet set_;
  std::unique_ptr<model::DualEncoder> model_;
  ExampleTexts texts_;
  ObjectiveStates states_;
};

class GradientCache : public GradientCacheSetting,
                      public testing::TestWithParam<const objective::ObjectiveInfo*> {
 protected:
  GradientCache() : GradientCacheSetting({.dropout = 0.1}) {}
};
INSTANTIATE_TEST_SUITE_P(Catalogue, GradientCache,
                         testing::ValuesIn(objective::Objectives().begin(),
                                           objective::Objectives().end()),
                         [](const auto& test) { return std::string(test.param->name); });

double LargestOfAll(const std::vector<tensor::Tensor>& tensors) {
  double largest = 0;
  for (const tensor::Tensor& tensor : tensors) largest = std::max(largest, LargestOf(tensor));
  return largest;
}

TEST_P(GradientCache, EqualsTheDirectGradientWithDropout) {
  const config::ObjectiveRecipe recipe{std::string(GetParam()->name),
                                       config::Params(GetParam()->params)};
  const TrainingObjective objective = MakeTrainingObjective(recipe);
  states_ = StartingStates(recipe);
  const auto sampler = sampling::kUniform.make(
      texts_.examples,
      {.seed = 1, .batch = 8, .negatives = 2, .graded_own = objective.needs.graded_own});
  const BatchMaker maker(texts_, {}, objective.needs);
  const TrainingBatch batch = maker.Make(sampler->Next());
  const auto [want, loss] = Gradients(batch, objective, 0, 5);
  const double size = LargestOfAll(want);
  ASSERT_GT(size, 0);
  // Dropout is at work: another step has another gradient.
  const auto other = Gradients(batch, objective, 0, 6).first;
  double difference = 0;
  for (size_t p = 0; p < want.size(); ++p) {
    difference = std::max(difference, tandem::LargestDifference(other[p], want[p]));
  }
  EXPECT_GT(difference, 1e-2 * size);
  for (const int64_t chunk : {1, 37, 200, 100000}) {
    const auto [got, cached_loss] = Gradients(batch, objective, chunk, 5);
    EXPECT_NEAR(cached_loss, loss, 1e-5 * std::max(1.0, std::abs(loss)));
    for (size_t p = 0; p < want.size(); ++p) {
      EXPECT_LT(tandem::LargestDifference(got[p], want[p]), 1e-4 * size)
          << model_->Parameters()[p].name << ", chunks of " << chunk;
    }
  }
}

// Pooling without prompts and widths of their own reach every chunk.
class HeadedStep : public GradientCacheSetting, public testing::Test {
 protected:
  HeadedStep()
      : GradientCacheSetting(
            {.dropout = 0.1,
             .query_prompt = "alpha beta ",
             .document_prompt = "gamma ",
             .pooling = {.mode = weights::PoolingMode::kWeightedMean, .include_prompt = false}}) {}
  TrainingBatch Batch(const ExampleTexts& texts) const {
    const auto sampler =
        sampling::kUniform.make(texts.examples, {.seed = 1, .batch = 8, .negatives = 2});
    return BatchMaker(texts, {}, {}).Make(sampler->Next());
  }
  static TrainingObjective Objective() {
    return MakeTrainingObjective(
        {std::string(objective::kInfoNce.name), config::Params(objective::kInfoNce.params)});
  }
};

TEST_F(HeadedStep, TheCacheGivesTheDirectGradientOfAllWidthsWithoutPrompts) {
  TrainingObjective objective = Objective();
  const TrainingBatch batch = Batch(texts_);
  const auto [whole, whole_loss] = Gradients(batch, objective, 0, 5);
  objective.widths = {{32, 1}, {8, 0.5}, {4, 2}};
  const auto [want, loss] = Gradients(batch, objective, 0, 5);
  EXPECT_GT(loss, 1.1 * whole_loss);
  const double size = LargestOfAll(want);
  for (const int64_t chunk : {1, 37, 200}) {
    const auto [got, cached_loss] = Gradients(batch, objective, chunk, 5);
    EXPECT_NEAR(cached_loss, loss, 1e-5 * std::max(1.0, std::abs(loss)));
    for (size_t p = 0; p < want.size(); ++p) {
      EXPECT_LT(tandem::LargestDifference(got[p], want[p]), 1e-4 * size)
          << model_->Parameters()[p].name << ", chunks of " << chunk;
    }
  }
}

TEST_F(HeadedStep, PacksOfAllBatchesSayWherePromptsEnd) {
  const TrainingBatch batch = Batch(texts_);
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {6, 12}}) {
    const tensor::Tensor prompts = batch.Pack(begin, end).prompt_tokens;
    ASSERT_TRUE(prompts.defined());
    for (int64_t t = begin; t < end; ++t) {
      EXPECT_EQ(prompts[t - begin].item<int32_t>(), t < batch.queries ? 3 : 2) << t;
    }
  }
  // What pooling leaves out changes the step.
  const auto included = model::DualEncoder::Load(
      folder_.path(), {.dropout = 0.1,
                       .query_prompt = "alpha beta ",
                       .document_prompt = "gamma ",
                       .pooling = {.mode = weights::PoolingMode::kWeightedMean}});
  std::vector<uint32_t> all(set_.examples.size());
  std::iota(all.begin(), all.end(), 0);
  const ExampleTexts texts = MakeExampleTexts(set_, 1, all, *included, ModelPrompts(*included), 1);
  EXPECT_FALSE(Batch(texts).Pack(0, 3).prompt_tokens.defined());
  const TrainingBatch with_prompts = Batch(texts);
  EXPECT_GT(std::abs(PlainStep().Forward(*included, with_prompts, Objective(), states_, {}).loss -
                     PlainStep().Forward(*model_, batch, Objective(), states_, {}).loss),
            1e-3);
}

// Cosines come from whole embeddings and a validation's loss is theirs; the filter and the losses
// of queries go by the widest width.
TEST_F(HeadedStep, WidthsLeaveCosinesAndValidationAlone) {
  TrainingObjective objective = Objective();
  const TrainingBatch batch = Batch(texts_);
  const StepOptions options{.with_equal_scores_loss = true};
  const StepOutcome whole =
      PlainStep().ForwardBackward(*model_, batch, objective, states_, options);
  const double validated = PlainStep().Forward(*model_, batch, objective, states_, {}).loss;
  objective.widths = {{8, 1}, {4, 1}};
  const StepOutcome cut = PlainStep().ForwardBackward(*model_, batch, objective, states_, options);
  EXPECT_EQ(cut.cosines, whole.cosines);
  EXPECT_NE(cut.losses, whole.losses);
  EXPECT_EQ(cut.count, whole.count);
  EXPECT_NEAR(cut.equal_scores_loss, 2 * whole.equal_scores_loss, 1e-9);
  EXPECT_EQ(PlainStep().Forward(*model_, batch, objective, states_, {}).loss, validated);
  objective.widths = {{32, 1}};
  const StepOutcome same = PlainStep().ForwardBackward(*model_, batch, objective, states_, options);
  EXPECT_EQ(same.loss, whole.loss);
  EXPECT_EQ(same.losses, whole.losses);
}

// With two encoders, each text goes through the encoder of its kind, whatever the chunk size.
class TwoTowerStep : public GradientCacheSetting, public testing::TestWithParam<weights::Towers> {
 protected:
  TwoTowerStep()
      : GradientCacheSetting({.dropout = 0.1, .towers = GetParam(), .projection = 8, .seed = 2}) {
    const tensor::NoGradGuard no_gradient;
    for (const auto& parameter : model_->Parameters()) {
      if (parameter.name.starts_with("document.")) parameter.value.mul_(1.1);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Towers, TwoTowerStep,
                         testing::Values(weights::Towers::kSeparate,
                                         weights::Towers::kSeparateSharedProjection),
                         [](const auto& test) {
                           return test.param == weights::Towers::kSeparate ? "Separate"
                                                                           : "SharedProjection";
                         });

TEST_P(TwoTowerStep, EachKindGoesThroughItsTowerAndTheCacheGivesTheDirectGradient) {
  const TrainingObjective objective = MakeTrainingObjective(
      {std::string(objective::kInfoNce.name), config::Params(objective::kInfoNce.params)});
  const auto sampler =
      sampling::kUniform.make(texts_.examples, {.seed = 1, .batch = 8, .negatives = 2});
  const TrainingBatch batch = BatchMaker(texts_, {}, objective.needs).Make(sampler->Next());
  {
    const tensor::NoGradGuard no_gradient;
    for (const auto kind : {model::TextKind::kQuery, model::TextKind::kDocument}) {
      model_->Prepare(kind, tensor::Precision::kFp32, tensor::Passes::kForward);
    }
    const tensor::Tensor queries =
        model_->Encode(batch.Pack(0, batch.queries), model::TextKind::kQuery, {});
    const tensor::Tensor documents =
        model_->Encode(batch.Pack(batch.queries, batch.texts()), model::TextKind::kDocument, {});
    const BatchOutcome outcome =
        PlainStep().Forward(*model_, batch, objective, ObjectiveStates(), {});
    for (int64_t i = 0; i < batch.queries; ++i) {
      EXPECT_NEAR(outcome.cosines[i], DotOf(queries[i], documents[i]), 1e-5);
    }
  }
  const auto [want, loss] = Gradients(batch, objective, 0, 5);
  const double size = LargestOfAll(want);
  for (const int64_t chunk : {1, 37, 200, 100000}) {
    const auto [got, cached_loss] = Gradients(batch, objective, chunk, 5);
    EXPECT_NEAR(cached_loss, loss, 1e-5 * std::max(1.0, std::abs(loss)));
    for (size_t p = 0; p < want.size(); ++p) {
      EXPECT_GT(LargestOf(want[p]), 0) << model_->Parameters()[p].name;
      EXPECT_LT(tandem::LargestDifference(got[p], want[p]), 1e-4 * size)
          << model_->Parameters()[p].name << ", chunks of " << chunk;
    }
  }
}

}  // namespace
}  // namespace tandem::train

// One step: what the model gets to see, the gradient cache against the direct gradient, learning.
#include "train/step/step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hashes/text_hash.h"
#include "config/params.h"
#include "objective/similarity.h"
#include "optim/gradients.h"
#include "optim/optimizer.h"
#include "sampling/catalogue.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"
#include "train/bag_encoder.h"
#include "train/inputs/example_texts.h"
#include "train/step/cached_step.h"
#include "train/step/plain_step.h"

namespace tandem::train {
namespace {

config::ObjectiveRecipe Objective(std::string_view name) {
  return {std::string(name), config::Params(objective::FindObjective(name).params)};
}

int64_t CountTrue(const tensor::Tensor& mask) {
  const bool* cell = mask.data_ptr<bool>();
  return std::count(cell, cell + mask.numel(), true);
}

// Sixteen topics; query and document of a topic share a word.
data::TrainingSet Topics() {
  data::Dataset dataset;
  for (int t = 0; t < 16; ++t) {
    const std::string topic = fmt::format("topic{}", t);
    dataset.queries.Add(fmt::format("q{}", t), fmt::format("about {} please", topic));
    dataset.documents.Add(fmt::format("d{}", t), fmt::format("a text on {} and more of it", topic));
    dataset.documents.Add(fmt::format("n{}", t), fmt::format("noise {}", t));
    dataset.judged.push_back(
        {.query = static_cast<uint32_t>(t),
         .judgements = {{static_cast<uint32_t>(2 * t), 1}, {static_cast<uint32_t>(2 * t + 1), 0}}});
  }
  return data::BuildTrainingSet(std::move(dataset), 1);
}

class Step : public testing::Test {
 protected:
  Step() : set_(Topics()) {
    for (uint32_t e = 0; e < 16; ++e) all_.push_back(e);
    texts_ = std::make_unique<ExampleTexts>(
        MakeExampleTexts(set_, 1, all_, model_, ModelPrompts(model_), 1));
    maker_ = std::make_unique<BatchMaker>(*texts_, sampling::MaskRules());
    sampler_ = sampling::kUniform.make(texts_->examples, {.seed = 3, .batch = 8, .negatives = 1});
  }
  std::vector<tensor::Tensor> Gradients() {
    std::vector<tensor::Tensor> gradients;
    for (const auto& parameter : model_.Parameters()) {
      gradients.push_back(parameter.value.grad().clone());
    }
    optim::ClearGradients(model_.Parameters());
    return gradients;
  }

  // The sampler's next batch, with a grade and a teacher's score for each judged document.
  TrainingBatch LabelledBatch() {
    const objective::Needs needs = {.grades = true, .teacher = true};
    TrainingBatch batch = BatchMaker(*texts_, sampling::MaskRules(), needs).Make(sampler_->Next());
    objective::LabelledCells& labelled = batch.labels.labelled;
    for (objective::LabelledCell& cell : labelled.cells) {
      cell.teacher = cell.column < batch.queries ? 2 : 0;
    }
    for (double& teacher : labelled.own_teachers) teacher = 2;
    return batch;
  }

  // An objective's states, the bias started from `batch`.
  ObjectiveStates StartedStates(const config::ObjectiveRecipe& recipe, const TrainingBatch& batch) {
    ObjectiveStates states = StartingStates(recipe);
    if (states.bias_is_open()) {
      states.StartBias(
          PlainStep().StartingBias(model_, batch, MakeTrainingObjective(recipe), states, {}));
    }
    return states;
  }

  model::BagEncoder model_;
  data::TrainingSet set_;
  std::vector<uint32_t> all_;
  std::unique_ptr<ExampleTexts> texts_;
  std::unique_ptr<BatchMaker> maker_;
  std::unique_ptr<sampling::Sampler> sampler_;
};

TEST_F(Step, EncodesQueriesAndDocumentsInOnePassWithKeysOfTheBatch) {
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  EXPECT_EQ(batch.queries, 8);
  EXPECT_EQ(batch.documents, 16);
  PlainStep().ForwardBackward(model_, batch, MakeTrainingObjective(Objective("infonce")), {},
                              {.forward = {.training = true, .seed = 5, .step = 7}});
  ASSERT_EQ(model_.seen_options.size(), 1);
  EXPECT_TRUE(model_.seen_options[0].training);
  EXPECT_EQ(model_.seen_options[0].seed, 5);
  EXPECT_EQ(model_.seen_options[0].step, 7);
  const auto* keys = model_.seen_keys[0].data_ptr<int64_t>();
  for (int64_t text = 0; text < 24; ++text) EXPECT_EQ(keys[text], text);
}

TEST_F(Step, ABatchHoldsTheTextsOfItsPlan) {
  const sampling::Batch plan = sampler_->Next();
  const TrainingBatch batch = maker_->Make(plan);
  const tensor::PackedTokens all = batch.Pack(0, batch.texts());
  const auto* ids = all.ids.data_ptr<int32_t>();
  std::vector<int32_t> want;
  const text::Tokenizer& tokenizer = model_.tokenizer(model::TextKind::kQuery);
  for (const uint32_t q : plan.queries) tokenizer.Encode(set_.queries.text(q), 8, &want);
  for (const uint32_t d : plan.documents) {
    tokenizer.Encode(set_.documents.text(d), 16, &want);
  }
  EXPECT_EQ(std::vector<int32_t>(ids, ids + all.tokens()), want);
  EXPECT_EQ(batch.tokens(), static_cast<int64_t>(want.size()));
  for (int64_t row = 0; row < 8; ++row) {
    EXPECT_EQ(batch.labels.positive[row].item<int64_t>(), row);
    EXPECT_FALSE(batch.labels.negative[row][row].item<bool>());
    EXPECT_TRUE(batch.labels.negative[row][8 + row].item<bool>());  // its judged negative
  }
  EXPECT_TRUE(batch.labels.labelled.empty());  // nobody asked for grades or teacher scores
}

// Of the eight queries of a batch, as a sampler might want them.
const std::vector<double> kWeights = {2, 0, 0.5, 1, 3, 1, 0.25, 1.5};

TEST_F(Step, GradientCacheEqualsTheDirectGradientForEveryObjective) {
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    const TrainingObjective objective = MakeTrainingObjective(Objective(info->name));
    TrainingBatch batch = LabelledBatch();
    batch.labels.weights = kWeights;
    const ObjectiveStates states = StartedStates(Objective(info->name), batch);
    optim::ClearGradients(states.Learned());
    const StepOutcome direct = PlainStep().ForwardBackward(model_, batch, objective, states, {});
    const std::vector<tensor::Tensor> want = Gradients();
    for (const int64_t chunk : {1, 7, 40, 100000}) {
      model_.seen_keys.clear();
      const StepOutcome cached =
          CachedStep(chunk).ForwardBackward(model_, batch, objective, states, {});
      EXPECT_NEAR(cached.loss, direct.loss, 1e-5 * std::max(1.0, direct.loss));
      for (size_t i = 0; i < 8; ++i) {
        EXPECT_NEAR(cached.losses[i], direct.losses[i], 1e-5 * std::max(1.0F, direct.losses[i]));
      }
      const std::vector<tensor::Tensor> got = Gradients();
      for (size_t p = 0; p < got.size(); ++p) {
        const double size = LargestOf(want[p]);
        ASSERT_GT(size, 0) << info->name;
        EXPECT_LT(tandem::LargestDifference(got[p], want[p]), 1e-5 * size)
            << info->name << " in chunks of " << chunk;
      }
      // Whatever the chunks: keys are those of the batch, once without and once with graph.
      int64_t key = 0;
      for (const tensor::Tensor& keys : model_.seen_keys) {
        for (int64_t i = 0; i < keys.size(0); ++i) {
          EXPECT_EQ(keys[i].item<int64_t>(), key++ % batch.texts());
        }
      }
      EXPECT_EQ(key, 2 * batch.texts());
    }
  }
}

// The losses are those of the objective on the scores of the embeddings.
TEST_F(Step, EveryQueryHasItsLossOfTheObjective) {
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    SCOPED_TRACE(info->name);
    const TrainingObjective objective = MakeTrainingObjective(Objective(info->name));
    TrainingBatch batch = LabelledBatch();
    batch.labels.weights = kWeights;
    const ObjectiveStates states = StartedStates(Objective(info->name), batch);
    const StepOutcome outcome = PlainStep().ForwardBackward(model_, batch, objective, states, {});
    optim::ClearGradients(model_.Parameters());
    const tensor::Tensor rows =
        model_.Encode(batch.Pack(0, batch.texts()), model::TextKind::kQuery, {});
    const objective::Scores scores = objective::SimilarityScores(
        rows.narrow(0, 0, batch.queries), rows.narrow(0, batch.queries, batch.documents),
        batch.labels.positive, objective.similarity, objective.needs);
    const objective::Loss loss =
        objective.loss->Evaluate(scores, batch.labels, states.View(/*with_bank=*/true));
    EXPECT_EQ(outcome.loss, loss.value.item<double>());
    EXPECT_EQ(outcome.losses, (std::vector<float>(loss.losses.begin(), loss.losses.end())));
    EXPECT_EQ(outcome.losses.size(), 8u);
  }
}

TEST_F(Step, WeightsOfQueriesCountInTrainingOnly) {
  const TrainingObjective objective = MakeTrainingObjective(Objective("infonce"));
  TrainingBatch batch = maker_->Make(sampler_->Next());
  const StepOutcome plain = PlainStep().ForwardBackward(model_, batch, objective, {}, {});
  const std::vector<tensor::Tensor> want = Gradients();
  batch.labels.weights.assign(8, 2);
  const StepOutcome doubled =
      PlainStep().ForwardBackward(model_, batch, objective, {}, {.with_equal_scores_loss = true});
  EXPECT_EQ(doubled.loss, 2 * plain.loss);
  EXPECT_EQ(doubled.count, plain.count);
  EXPECT_EQ(doubled.losses, plain.losses);
  const std::vector<tensor::Tensor> got = Gradients();
  for (size_t p = 0; p < got.size(); ++p) {
    const double size = LargestOf(want[p]);
    EXPECT_LT(tandem::LargestDifference(got[p], tensor::Mul(want[p], 2)), 1e-6 * size) << p;
  }
  // What equal scores would lose is comparable with the loss: it weighs queries alike.
  batch.labels.weights.clear();
  EXPECT_NEAR(
      doubled.equal_scores_loss,
      2 * PlainStep()
              .ForwardBackward(model_, batch, objective, {}, {.with_equal_scores_loss = true})
              .equal_scores_loss,
      1e-12);
  batch.labels.weights = kWeights;
  EXPECT_EQ(PlainStep().Forward(model_, batch, objective, {}, {}).loss, plain.loss);
  EXPECT_EQ(PlainStep().Forward(model_, batch, objective, {}, {}).losses, plain.losses);
}

TEST_F(Step, ABatchHasTheWeightsOfItsPlan) {
  sampling::Batch plan = sampler_->Next();
  EXPECT_TRUE(maker_->Make(plan).labels.weights.empty());
  plan.weights = kWeights;
  EXPECT_EQ(maker_->Make(plan).labels.weights, kWeights);
}

TEST_F(Step, ForwardHasNoDropoutAndNoGradient) {
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  const TrainingObjective objective = MakeTrainingObjective(Objective("mann_whitney"));
  const double loss = PlainStep().Forward(model_, batch, objective, {}, {.training = true}).loss;
  EXPECT_FALSE(model_.seen_options[0].training);
  for (const auto& parameter : model_.Parameters()) {
    EXPECT_FALSE(parameter.value.grad().defined());
  }
  EXPECT_EQ(loss, PlainStep().ForwardBackward(model_, batch, objective, {}, {}).loss);
}

TEST_F(Step, CosinesAreThoseOfQueriesAndTheirOwnDocuments) {
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  const BatchOutcome outcome =
      PlainStep().Forward(model_, batch, MakeTrainingObjective(Objective("infonce")), {}, {});
  const tensor::Tensor rows =
      model_.Encode(batch.Pack(0, batch.texts()), model::TextKind::kQuery, {}).detach();
  ASSERT_EQ(outcome.cosines.size(), 8);
  for (int64_t i = 0; i < 8; ++i) {
    const tensor::Tensor a = rows[i], b = rows[8 + i];
    const double want = DotOf(a, b) / std::sqrt(DotOf(a, a) * DotOf(b, b));
    EXPECT_NEAR(outcome.cosines[i], want, 1e-5);
  }
}

TEST_F(Step, EveryObjectiveLearnsTheTopics) {
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    model::BagEncoder model;
    const TrainingObjective objective = MakeTrainingObjective(Objective(info->name));
    ObjectiveStates states = StartedStates(Objective(info->name), LabelledBatch());
    optim::Optimizer optimizer(optim::kAdam, model.Parameters());
    double first = 0, last = 0;
    for (int step = 0; step < 60; ++step) {
      optim::ClearGradients(model.Parameters());
      StepOutcome outcome =
          PlainStep().ForwardBackward(model, LabelledBatch(), objective, std::move(states), {});
      states = std::move(outcome.states);
      last = outcome.loss;
      if (step == 0) first = last;
      optimizer.Step(0.02, 1);
    }
    EXPECT_LT(last, 0.1 * first) << info->name;
  }
}

// A step's states come back; those that went in stay as they were.
TEST_F(Step, TheScoreBankGoesInAndComesOut) {
  config::ObjectiveRecipe recipe = Objective("mann_whitney");
  recipe.params.Set("bank", int64_t{1000});
  const TrainingObjective objective = MakeTrainingObjective(recipe);
  ObjectiveStates states = StartingStates(recipe);
  states.BeginStep(1);
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  const StepOutcome first = PlainStep().ForwardBackward(model_, batch, objective, states, {});
  EXPECT_FALSE(states.View(/*with_bank=*/true).bank_positives.defined());
  EXPECT_EQ(first.states.View(/*with_bank=*/true).bank_positives.size(0), batch.queries);
  const StepOutcome second =
      PlainStep().ForwardBackward(model_, batch, objective, first.states, {});
  EXPECT_EQ(second.states.View(/*with_bank=*/true).bank_positives.size(0), 2 * batch.queries);
}

// The gradient is scaled, the loss is not.
TEST_F(Step, TheWeightScalesTheGradientAlone) {
  const TrainingObjective objective = MakeTrainingObjective(Objective("infonce"));
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  for (const int64_t chunk : {0, 40}) {
    const double loss = MakeStep(chunk)->ForwardBackward(model_, batch, objective, {}, {}).loss;
    const std::vector<tensor::Tensor> want = Gradients();
    EXPECT_EQ(MakeStep(chunk)->ForwardBackward(model_, batch, objective, {}, {.weight = 3}).loss,
              loss);
    const std::vector<tensor::Tensor> got = Gradients();
    for (size_t p = 0; p < got.size(); ++p) {
      const double size = LargestOf(want[p]);
      EXPECT_LT(tandem::LargestDifference(got[p], tensor::Mul(want[p], 3)), 1e-5 * size) << p;
    }
  }
}

// Only a training step filters: a model that scores everything alike would otherwise have no
// negatives, and loss 0, in validation.
TEST_F(Step, TheFalseNegativeFilterIsOffOutsideTraining) {
  TrainingObjective objective = MakeTrainingObjective(Objective("infonce"));
  objective.false_negative_rules.score = -2;  // above it is every cosine
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  const BatchOutcome plain =
      PlainStep().Forward(model_, batch, MakeTrainingObjective(Objective("infonce")), {}, {});
  EXPECT_GT(plain.loss, 0);
  const BatchOutcome validated = PlainStep().Forward(model_, batch, objective, {}, {});
  EXPECT_EQ(validated.loss, plain.loss);
  EXPECT_EQ(validated.false_negatives, 0);
  const StepOutcome trained = PlainStep().ForwardBackward(model_, batch, objective, {}, {});
  EXPECT_EQ(trained.loss, 0);
  EXPECT_EQ(trained.negatives, CountTrue(batch.labels.negative));
  EXPECT_EQ(trained.false_negatives, trained.negatives);
}

// With equal scores a softmax over n allowed documents has the loss ln n.
TEST_F(Step, KnowsTheLossOfEqualScores) {
  const TrainingObjective objective = MakeTrainingObjective(Objective("infonce"));
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  double want = 0;
  for (int64_t row = 0; row < batch.queries; ++row) {
    want += std::log(1 + static_cast<double>(CountTrue(batch.labels.negative[row])));
  }
  want /= static_cast<double>(batch.queries);
  EXPECT_NEAR(PlainStep()
                  .ForwardBackward(model_, batch, objective, {}, {.with_equal_scores_loss = true})
                  .equal_scores_loss,
              want, 1e-9);
  // A model whose embeddings are all the same has exactly this loss.
  for (const auto& parameter : model_.Parameters()) parameter.value.detach().fill_(0.5);
  EXPECT_NEAR(PlainStep().ForwardBackward(model_, batch, objective, {}, {}).loss, want, 1e-5);
}

TEST_F(Step, AWeightThatIsNotFiniteIsANumericError) {
  model_.Parameters()[2].value.detach().fill_(std::numeric_limits<float>::infinity());
  const TrainingBatch batch = maker_->Make(sampler_->Next());
  EXPECT_THROW(PlainStep().ForwardBackward(model_, batch,
                                           MakeTrainingObjective(Objective("infonce")), {}, {}),
               NumericError);
}

TEST(MakeStepTest, ChoosesTheKindOfStep) {
  const auto is_plain = [](const std::unique_ptr<const train::Step>& step) {
    return dynamic_cast<const PlainStep*>(step.get()) != nullptr;
  };
  const std::unique_ptr<dist::ProcessGroup> alone = dist::ProcessGroup::Alone();
  EXPECT_TRUE(is_plain(MakeStep()));
  EXPECT_TRUE(is_plain(MakeStep(0, alone.get())));
  EXPECT_NE(dynamic_cast<const CachedStep*>(MakeStep(1).get()), nullptr);
  EXPECT_NE(dynamic_cast<const CachedStep*>(MakeStep(1, alone.get()).get()), nullptr);
}

}  // namespace
}  // namespace tandem::train

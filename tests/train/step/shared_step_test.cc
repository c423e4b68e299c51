// The step of several processes (threads here) against that of one: every objective, a real encoder
// with dropout, graded documents, weights, widths, the false-negative filter, the gradient cache.
#include "train/step/shared_step.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/ranks.h"
#include "optim/gradients.h"
#include "sampling/catalogue.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "tensor/core/tensor.h"
#include "tensor/forms.h"
#include "train/graded_data.h"
#include "train/inputs/example_texts.h"

namespace tandem::train {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

// How a step is made.
struct StepCase {
  std::string objective;
  config::Params params;
  int64_t chunk_tokens = 0;
  bool two_towers = false;
  bool filter = false;
  bool equal_scores = false;
  std::vector<objective::Width> widths = {};
  size_t batch = 8;
};

StepCase CaseOf(const objective::ObjectiveInfo& info) {
  return {.objective = std::string(info.name), .params = config::Params(info.params)};
}

// One process of a run: a model of its own, and the same data.
class Process {
 public:
  Process(const std::filesystem::path& folder, const StepCase& how)
      : how_(how),
        set_(Graded()),
        model_(model::DualEncoder::Load(
            folder,
            {.dropout = 0.1,
             .towers = how.two_towers ? weights::Towers::kSeparate : weights::Towers::kShared})),
        recipe_{how.objective, how.params},
        objective_(MakeTrainingObjective(recipe_)),
        states_(StartingStates(recipe_)) {
    std::vector<uint32_t> all(set_.examples.size());
    std::iota(all.begin(), all.end(), 0);
    texts_ = MakeExampleTexts(set_, 1, all, *model_, ModelPrompts(*model_), 1);
    objective_.widths = how.widths;
    if (how.filter) objective_.false_negative_rules.relative_margin = 0.05;
    if (states_.bias_is_open()) states_.StartBias(-0.5);
    sampler_ = sampling::kUniform.make(
        texts_.examples,
        {.seed = 1, .batch = how.batch, .negatives = 2, .graded_own = objective_.needs.graded_own});
  }

  // Makes a step and returns its outcome.
  StepOutcome Step(uint64_t step, dist::ProcessGroup* group, dist::GradientReducer* reducer) {
    const BatchMaker batches(texts_, {}, objective_.needs);
    const sampling::Batch plan = sampler_->Next();
    const std::unique_ptr<const train::Step> kind = MakeStep(how_.chunk_tokens, group);
    TrainingBatch batch =
        batches.Make(plan, kind->ScoredQueries(std::ssize(plan.queries), objective_));
    for (int64_t q = 0; q < batch.queries; ++q) {
      batch.labels.weights.push_back(0.25 * static_cast<double>(q % 5));
    }
    optim::ClearGradients(Trained());
    StepOutcome outcome =
        kind->ForwardBackward(*model_, batch, objective_, states_,
                              {.forward = {.training = true, .seed = 3, .step = step},
                               .weight = 0.5,
                               .with_equal_scores_loss = how_.equal_scores,
                               .reducer = reducer});
    states_ = outcome.states;
    return outcome;
  }

  std::vector<model::NamedParameter> Trained() const {
    std::vector<model::NamedParameter> trained = model::TrainedOf(model_->Parameters());
    for (model::NamedParameter& learned : states_.Learned()) trained.push_back(learned);
    return trained;
  }

 private:
  StepCase how_;
  data::TrainingSet set_;
  std::unique_ptr<model::DualEncoder> model_;
  config::ObjectiveRecipe recipe_;
  TrainingObjective objective_;
  ObjectiveStates states_;
  ExampleTexts texts_;
  std::unique_ptr<sampling::Sampler> sampler_;
};

void ExpectSameOutcome(const StepOutcome& got, const StepOutcome& want) {
  EXPECT_NEAR(got.loss, want.loss, 1e-6 * std::max(1.0, std::abs(want.loss)));
  // In the portable form the rounding of an embedding depends on the texts beside it.
  const double bound = tensor::UsePortableOps::Active() ? 1e-6 : 1e-9;
  EXPECT_NEAR(got.equal_scores_loss, want.equal_scores_loss,
              bound * std::max(1.0, std::abs(want.equal_scores_loss)));
  EXPECT_EQ(got.count, want.count);
  EXPECT_EQ(got.negatives, want.negatives);
  EXPECT_EQ(got.false_negatives, want.false_negatives);
  ASSERT_EQ(got.losses.size(), want.losses.size());
  for (size_t q = 0; q < want.losses.size(); ++q) {
    EXPECT_NEAR(got.losses[q], want.losses[q], 1e-5 * std::max(1.0F, std::abs(want.losses[q])));
  }
  ASSERT_EQ(got.cosines.size(), want.cosines.size());
  for (size_t q = 0; q < want.cosines.size(); ++q) {
    EXPECT_NEAR(got.cosines[q], want.cosines[q], 1e-5);
  }
}

// Two steps in the group's process equal those of `alone` up to the rounding of sums.
void ExpectSameSteps(Process& process, dist::ProcessGroup& group,
                     const std::vector<StepOutcome>& outcomes,
                     const std::vector<std::vector<tensor::Tensor>>& gradients) {
  dist::GradientReducer reducer(group, process.Trained());
  for (size_t step = 0; step < outcomes.size(); ++step) {
    SCOPED_TRACE(fmt::format("step {} of rank {}", step, group.rank()));
    ExpectSameOutcome(process.Step(step, &group, &reducer), outcomes[step]);
    const auto trained = process.Trained();
    double size = 0;
    for (const tensor::Tensor& want : gradients[step]) {
      if (want.defined()) size = std::max(size, LargestOf(want));
    }
    for (size_t p = 0; p < trained.size(); ++p) {
      const tensor::Tensor got = GradientOf(trained[p].value), want = gradients[step][p];
      ASSERT_EQ(got.defined(), want.defined()) << trained[p].name;
      if (!want.defined()) continue;
      const bool number = want.numel() == 1;  // what the objective learns has a size of its own
      const double bound = 1e-5 * (number ? LargestOf(want) : size);
      EXPECT_LE(tandem::LargestDifference(got, want), bound) << trained[p].name;
    }
  }
}

void ExpectSameForRanks(const StepCase& how, int ranks) {
  TemporaryFolder folder;
  WriteTinyModel(folder.path());
  Process alone(folder.path(), how);
  std::vector<StepOutcome> outcomes;
  std::vector<std::vector<tensor::Tensor>> gradients;
  for (uint64_t step = 0; step < 2; ++step) {
    outcomes.push_back(alone.Step(step, nullptr, nullptr));
    std::vector<tensor::Tensor>& of_step = gradients.emplace_back();
    for (const model::NamedParameter& parameter : alone.Trained()) {
      const tensor::Tensor gradient = GradientOf(parameter.value);
      of_step.push_back(gradient.defined() ? gradient.clone() : gradient);
    }
  }
  const auto errors = dist::RunRanks(ranks, [&](dist::ProcessGroup& group) {
    EXPECT_NE(dynamic_cast<const train::SharedStep*>(MakeStep(how.chunk_tokens, &group).get()),
              nullptr);
    Process process(folder.path(), how);
    ExpectSameSteps(process, group, outcomes, gradients);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

class SharedStep : public testing::TestWithParam<const objective::ObjectiveInfo*> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, SharedStep,
                         testing::ValuesIn(objective::Objectives().begin(),
                                           objective::Objectives().end()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST_P(SharedStep, EqualsThatOfOneProcess) {
  StepCase how = CaseOf(*GetParam());
  ExpectSameForRanks(how, 2);
  how.chunk_tokens = 40;
  how.equal_scores = true;
  ExpectSameForRanks(how, 3);
}

TEST(SharedStepTest, EqualsThatOfOneProcessWithWidthsAndFilter) {
  StepCase how = CaseOf(objective::kInfoNce);
  how.widths = {{32, 1}, {8, 0.5}};
  how.filter = true;
  how.equal_scores = true;
  ExpectSameForRanks(how, 2);
}

TEST(SharedStepTest, EqualsThatOfOneProcessWithTwoTowers) {
  StepCase how = CaseOf(objective::kBixse);
  how.two_towers = true;
  ExpectSameForRanks(how, 2);
  how.chunk_tokens = 40;
  ExpectSameForRanks(how, 3);
}

TEST(SharedStepTest, EqualsThatOfOneProcessInBothDirectionsAndTowers) {
  StepCase how = CaseOf(objective::FindObjective("samtone"));
  how.params.Set("directions", std::string("both"));
  how.params.Set("same_tower", std::string("both"));
  ExpectSameForRanks(how, 2);
}

TEST(SharedStepTest, EqualsThatOfOneProcessWithAScoreBank) {
  StepCase how = CaseOf(objective::kMannWhitney);
  how.params.Set("bank", int64_t{16});
  ExpectSameForRanks(how, 2);
}

TEST(SharedStepTest, SomeProcessesMayHaveNoQueryOfABatch) {
  StepCase how = CaseOf(objective::kInfoNce);
  how.batch = 2;
  ExpectSameForRanks(how, 5);
}

// A query with three documents is four texts.
TEST(SharedStepTest, SomeProcessesMayHaveNoTextOfABatch) {
  StepCase how = CaseOf(objective::kInfoNce);
  how.batch = 1;
  ExpectSameForRanks(how, 5);
  how.chunk_tokens = 40;
  ExpectSameForRanks(how, 5);
}

TEST(ShareTextsTest, GivesEachProcessAboutTheSameTokens) {
  TemporaryFolder folder;
  WriteTinyModel(folder.path());
  const data::TrainingSet set = Graded();
  const auto model = model::DualEncoder::Load(folder.path());
  std::vector<uint32_t> all(set.examples.size());
  std::iota(all.begin(), all.end(), 0);
  const ExampleTexts texts = MakeExampleTexts(set, 1, all, *model, ModelPrompts(*model), 1);
  const auto sampler =
      sampling::kUniform.make(texts.examples, {.seed = 1, .batch = 12, .negatives = 3});
  const TrainingBatch batch = BatchMaker(texts, {}).Make(sampler->Next());
  for (const int ranks : {1, 2, 3, 5}) {
    const TextShares shares = ShareTexts(batch, ranks);
    int64_t query = 0, document = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const dist::Share q = shares.queries[static_cast<size_t>(rank)];
      const dist::Share d = shares.documents[static_cast<size_t>(rank)];
      EXPECT_EQ(q.begin, query);
      EXPECT_EQ(d.begin, document);
      query = q.end;
      document = d.end;
      // The longest text has 32 tokens.
      EXPECT_NEAR(static_cast<double>(batch.Part(q, d).tokens()),
                  static_cast<double>(batch.tokens()) / ranks, 32);
    }
    EXPECT_EQ(query, batch.queries);
    EXPECT_EQ(document, batch.documents);
  }
}

}  // namespace
}  // namespace tandem::train

// The loop on a small model: its steps against the same arithmetic written out in this file.
#include "train/run/loop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "optim/gradients.h"
#include "optim/optimizer.h"
#include "sampling/catalogue.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"
#include "train/bag_encoder.h"
#include "train/inputs/example_texts.h"
#include "train/observers/metrics_observer.h"
#include "train/observers/progress_observer.h"
#include "train/observers/validation_observer.h"
#include "train/observers/warning_observer.h"
#include "train/step/plain_step.h"

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
    texts_ = std::make_unique<ExampleTexts>(
        MakeExampleTexts(set_, 1, all, model_, ModelPrompts(model_), 1));
    batches_ = std::make_unique<BatchMaker>(*texts_, sampling::MaskRules());
    recipe_.train.batch = 6;
    recipe_.train.accumulate = 2;
    recipe_.optimizer.learning_rate = 0.05;
    recipe_.optimizer.clip = 0.5;
    recipe_.objective = {"infonce", config::Params(objective::FindObjective("infonce").params)};
    objective_ = MakeTrainingObjective(recipe_.objective);
  }

  virtual std::unique_ptr<sampling::Sampler> MakeSampler() const {
    return sampling::kUniform.make(texts_->examples, SamplerOptionsOf(recipe_));
  }

  // Runs `steps` steps with the loop, `observers` and metrics.
  LoopState Run(int64_t steps, std::vector<LoopObserver*> observers = {}) {
    LineLog metrics(temporary_.path() / "metrics.jsonl", 0);
    LineLog timing(temporary_.path() / "timing.jsonl", std::nullopt);
    MetricsObserver writes_metrics(metrics, timing, recipe_.logging.every);
    observers.push_back(&writes_metrics);
    const auto sampler = MakeSampler();
    optim::Optimizer optimizer(optim::kAdamW, model_.Parameters());
    optim::Optimizer nothing_learned(optim::kAdamW, {});
    ObjectiveStates states = StartingStates(recipe_.objective);
    Updater updater(optimizer, nothing_learned, optim::kLinear,
                    {.learning_rate = recipe_.optimizer.learning_rate,
                     .clip = recipe_.optimizer.clip,
                     .warmup = 1,
                     .steps = steps,
                     .loss_scale = loss_scale_});
    Loop loop({.model = model_,
               .objective = objective_,
               .states = states,
               .batches = *batches_,
               .sampler = *sampler,
               .updater = updater,
               .step = step_},
              {.steps = steps,
               .batch = *recipe_.train.batch,
               .accumulate = recipe_.train.accumulate,
               .seed = 1},
              observers);
    complete_ = loop.Run();
    return loop.state();
  }

  std::vector<nlohmann::json> Metrics() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(ReadFile(temporary_.path() / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  TemporaryFolder temporary_;
  config::Recipe recipe_;
  model::BagEncoder model_;
  data::TrainingSet set_;
  std::unique_ptr<ExampleTexts> texts_;
  std::unique_ptr<BatchMaker> batches_;
  TrainingObjective objective_;
  PlainStep step_;
  bool complete_ = false;  // what Loop::Run returned
  LossScaleOptions loss_scale_;
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
    std::vector<tensor::Tensor> mean;
    for (int part = 0; part < 2; ++part) {
      optim::ClearGradients(twin.Parameters());
      step_.ForwardBackward(twin, batches_->Make(sampler->Next()), objective_, {}, {});
      for (size_t p = 0; p < 3; ++p) {
        const tensor::Tensor half = tensor::Mul(twin.Parameters()[p].value.grad(), 0.5);
        part == 0 ? mean.push_back(half) : void(mean[p].add_(half));
      }
    }
    double squares = 0;
    for (const tensor::Tensor& gradient : mean) squares += DotOf(gradient, gradient);
    ASSERT_GT(std::sqrt(squares), 0.5) << "nothing would be clipped";
    for (size_t p = 0; p < 3; ++p) {
      twin.Parameters()[p].value.set_grad(tensor::Mul(mean[p], 0.5 / std::sqrt(squares)));
    }
    optimizer.Step(rate, 1);
  }
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_LT(tandem::LargestDifference(model_.Parameters()[p].value, twin.Parameters()[p].value),
              1e-5)
        << p;
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
    for (const nlohmann::json& line : Metrics()) values.push_back(line.at("loss"));
    return values;
  };
  const std::vector<double> single = losses(1), triple = losses(3);
  ASSERT_EQ(single.size(), 6);
  ASSERT_EQ(triple.size(), 2);
  EXPECT_NEAR(triple[0], (single[0] + single[1] + single[2]) / 3, 1e-9);
  EXPECT_NEAR(triple[1], (single[3] + single[4] + single[5]) / 3, 1e-9);
}

// The epoch is how often all queries were seen: 12 of 24 in each step.
TEST_F(LoopTest, TheEpochOfALineIsAFraction) {
  recipe_.logging.every = 1;
  EXPECT_EQ(Run(3).epoch, 1.5);
  std::vector<double> epochs;
  for (const nlohmann::json& line : Metrics()) epochs.push_back(line.at("epoch"));
  EXPECT_EQ(epochs, (std::vector<double>{0.5, 1, 1.5}));
}

// The numbers of a run with a scaled loss are those of a plain one. The first scales are so large
// that gradients of float32 overflow.
TEST_F(LoopTest, AScaledLossChangesNothingButTheStepsThatOverflow) {
  recipe_.logging.every = 2;
  Run(4);
  const std::vector<model::NamedParameter> plain = model_.Parameters();
  EXPECT_FALSE(Metrics().at(0).contains("loss_scale"));
  model_ = model::BagEncoder();
  loss_scale_ = {.on = true, .start = 4096};
  Run(4);
  for (size_t p = 0; p < plain.size(); ++p) {
    EXPECT_TRUE(AreEqual(model_.Parameters()[p].value, plain[p].value)) << plain[p].name;
  }
  EXPECT_EQ(Metrics().at(1).at("loss_scale"), 4096);
  EXPECT_EQ(Metrics().at(1).at("skipped_steps"), 0);
  loss_scale_.start = 0x1p140;
  model_ = model::BagEncoder();
  Run(100);  // where norms are in float32, squares overflow for some 70 of them
  const nlohmann::json first = Metrics().at(0), last = Metrics().back();
  EXPECT_EQ(first.at("skipped_steps"), 2);
  EXPECT_EQ(first.at("loss_scale"), 0x1p138);
  EXPECT_TRUE(first.at("gradient_norm").is_null());
  EXPECT_EQ(last.at("skipped_steps"), 0);
  EXPECT_GT(last.at("gradient_norm"), 0);
}

// Whose memory is full stands in the place where a step is made.
TEST_F(LoopTest, AFullDeviceNamesTheBatchThatDidNotFit) {
  model_.on_encode = [] { throw MemoryError(uint64_t{1} << 30); };
  try {
    Run(1);
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("is out of memory: a batch of 6 queries with "));
  }
}

// Gradients of a model on the batches of a pass, each in memory of its own.
struct PassGradients {
  std::vector<std::vector<tensor::Tensor>> of_batches;
  std::vector<int64_t> queries;
};

// Batches of 18 queries and of 6, in turn; query q has document q. Keeps the losses that it hears.
class UnevenSampler final : public sampling::Sampler {
 public:
  explicit UnevenSampler(std::vector<std::vector<float>>& heard) : heard_(heard) {}

  void AddFeedback(const sampling::Feedback& feedback) override {
    heard_.emplace_back(feedback.losses.begin(), feedback.losses.end());
  }
  sampling::Batch Next() override {
    const bool first = !std::exchange(second_is_next_, !second_is_next_);
    sampling::Batch batch;
    for (uint32_t q = first ? 0 : 18; q < (first ? 18 : 24); ++q) batch.queries.push_back(q);
    batch.documents = batch.queries;
    batch.extra_starts.assign(batch.rows() + 1, static_cast<uint32_t>(batch.columns()));
    passes_ += static_cast<double>(batch.rows()) / 24;
    return batch;
  }
  uint64_t BatchesIn(double epochs) const override { return static_cast<uint64_t>(2 * epochs); }
  uint64_t QueriesIn(uint64_t /*pass*/) const override { return 24; }
  double Passes() const override { return passes_; }
  sampling::SamplerState State() const override { return {.values = Json::object()}; }
  void Restore(const sampling::SamplerState&) override {}

 private:
  std::vector<std::vector<float>>& heard_;
  bool second_is_next_ = false;
  double passes_ = 0;
};

class AccumulationTest : public LoopTest {
 protected:
  AccumulationTest() { recipe_.train.batch = 18; }
  std::unique_ptr<sampling::Sampler> MakeSampler() const override {
    return std::make_unique<UnevenSampler>(losses_);
  }

  PassGradients Gradients() {
    model::BagEncoder twin;
    PassGradients pass;
    const auto sampler = MakeSampler();
    for (int part = 0; part < 2; ++part) {
      const TrainingBatch batch = batches_->Make(sampler->Next());
      optim::ClearGradients(twin.Parameters());
      step_.ForwardBackward(twin, batch, objective_, {}, {});
      pass.queries.push_back(batch.queries);
      pass.of_batches.emplace_back();
      for (const auto& parameter : twin.Parameters()) {
        pass.of_batches.back().push_back(parameter.value.grad().clone());
      }
    }
    return pass;
  }

  // The norm of the gradient in which the batches have these weights.
  static double Norm(const PassGradients& pass, const std::vector<double>& weights) {
    double squares = 0;
    for (size_t p = 0; p < pass.of_batches[0].size(); ++p) {
      const tensor::Tensor mean = tensor::Add(tensor::Mul(pass.of_batches[0][p], weights[0]),
                                              tensor::Mul(pass.of_batches[1][p], weights[1]));
      squares += DotOf(mean, mean);
    }
    return std::sqrt(squares);
  }

  mutable std::vector<std::vector<float>> losses_;  // of every batch, as the sampler heard them
};

TEST_F(AccumulationTest, TheSamplerHearsTheLossOfEveryQuery) {
  Run(1);
  ASSERT_EQ(losses_.size(), 2u);
  EXPECT_EQ(losses_[0].size(), 18u);
  EXPECT_EQ(losses_[1].size(), 6u);
  double sum = 0;
  for (const std::vector<float>& losses : losses_) {
    for (const float loss : losses) sum += loss;
  }
  EXPECT_NEAR(Metrics().at(0).at("loss"), sum / 24, 1e-6);
}

// A row of one batch then weighs as much as a row of the other.
TEST_F(AccumulationTest, WeighsByQueriesWhereTheObjectiveIsSeparableByRow) {
  const PassGradients pass = Gradients();
  ASSERT_EQ(pass.queries, (std::vector<int64_t>{18, 6}));
  Run(1);
  const double norm = Metrics().at(0).at("gradient_norm");
  EXPECT_NEAR(norm, Norm(pass, {0.75, 0.25}), 1e-5 * norm);
  EXPECT_GT(std::abs(norm - Norm(pass, {0.5, 0.5})), 1e-3 * norm);
}

// Its pairs are within a batch, and their number is no sum over queries.
TEST_F(AccumulationTest, WeighsBatchesAlikeWhereItIsNot) {
  recipe_.objective = {"mann_whitney",
                       config::Params(objective::FindObjective("mann_whitney").params)};
  objective_ = MakeTrainingObjective(recipe_.objective);
  const PassGradients pass = Gradients();
  Run(1);
  const double norm = Metrics().at(0).at("gradient_norm");
  EXPECT_NEAR(norm, Norm(pass, {0.5, 0.5}), 1e-5 * norm);
}

// A model whose embeddings are all the same, and an optimizer that leaves it so.
TEST_F(LoopTest, ARunThatTellsNothingApartWarns) {
  const CapturedMessages captured;
  for (const auto& parameter : model_.Parameters()) parameter.value.detach().fill_(0.5);
  recipe_.optimizer.learning_rate = 0;
  WarningObserver warnings;
  Run(30, {&warnings});
  EXPECT_THAT(captured.text(),
              testing::HasSubstr("warning: step 20: for 20 steps the loss (1.7918) "
                                 "has been that of a model that gives all "
                                 "documents the same score (1.7918)"));
  EXPECT_THAT(captured.text(),
              testing::HasSubstr("warning: for its last 30 steps the run had the loss"));
}

TEST_F(LoopTest, ARunThatLearnsDoesNotWarn) {
  const CapturedMessages captured;
  WarningObserver warnings;
  Run(30, {&warnings});
  EXPECT_EQ(captured.text(), "");
}

TEST_F(LoopTest, AFilterThatTakesMostNegativesWarns) {
  const CapturedMessages captured;
  objective_.false_negative_rules.score = -2;  // every cosine is above it
  WarningObserver warnings;
  Run(3, {&warnings});
  EXPECT_THAT(captured.text(), testing::HasSubstr("warning: step 1: the false-negative filter left "
                                                  "out 60 of 60 negatives"));
  EXPECT_THAT(captured.text(), testing::HasSubstr("warning: in 3 of 3 steps the false-negative "
                                                  "filter left out most negatives"));
}

// The bar's loss is the mean over the last steps, whatever the last batch had.
TEST_F(LoopTest, ProgressShowsTheMeanLossOfItsWindow) {
  const CapturedMessages captured(ProgressView::kLines);
  recipe_.logging.every = 1;
  ProgressObserver progress(4, {.steps = 8}, std::nullopt);
  Run(8, {&progress});
  double mean = 0;  // of the last four steps, each on a line of its own
  for (size_t step = 4; step < 8; ++step) mean += Metrics().at(step).at("loss").get<double>() / 4;
  EXPECT_THAT(captured.text(), testing::HasSubstr(fmt::format("8/8 steps, ")));
  EXPECT_THAT(captured.text(), testing::HasSubstr(fmt::format(", loss {:.4f}, ", mean)));
}

// A validation that takes a while and always finds the same.
class SlowValidator final : public Validator {
 public:
  std::optional<Validated> Measure(model::DualEncoder&, const ObjectiveStates&,
                                   const ValidationProgress&) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return Validated{.value = 0.5};
  }
  void TryBeginning(model::DualEncoder&, const ObjectiveStates&) override {}
  double EstimateSeconds(model::DualEncoder&, const ObjectiveStates&) override { return 0.03; }
  std::string name() const override { return "ndcg@10"; }
  bool Better(double value, double other) const override { return value > other; }
  size_t queries() const override { return 1; }
};

// Not at the end of the run, when it is too late, and not again there.
TEST_F(LoopTest, ValidationsThatTakeMuchOfTheTimeAreSaidOnceAndEarly) {
  const CapturedMessages captured;
  SlowValidator validator;
  const RunFolder folder(temporary_.path());
  const config::ValidationRecipe recipe{.data = "dev", .every = config::Quantity::Count(1)};
  // Of a longer run than the three steps that are made: 101 validations of 30 ms.
  ValidationObserver validation(validator, folder, {.steps = 100, .validate_every = 1}, recipe);
  Run(3, {&validation});
  const std::string advice = "validation takes about ";
  const size_t first = captured.text().find(advice);
  ASSERT_NE(first, std::string::npos) << captured.text();
  EXPECT_EQ(captured.text().find(advice, first + 1), std::string::npos);
  EXPECT_THAT(captured.text(),
              testing::HasSubstr("; less with --set \"validation.every=2 steps\"\n"));
  EXPECT_LT(first, captured.text().find("4 validations took "));
}

// Notes the calls that it gets, and answers as it is told to.
class Recorder final : public LoopObserver {
 public:
  Recorder(std::string name, std::vector<std::string>* calls)
      : name_(std::move(name)), calls_(calls) {}

  Next Begin(const Loop&) override { return Note("begin", Next::kGoOn); }
  Next BeforeStep(const Loop&) override { return Note("before", before); }
  Next AfterStep(const Loop& loop, const StepReport& report) override {
    EXPECT_EQ(report.queries, 12);
    EXPECT_GT(report.seconds, 0);
    return Note(fmt::format("after {}", loop.state().step), after);
  }
  void End(const Loop&) override { Note("end", Next::kGoOn); }
  void Interrupt(const Loop&) override { Note("interrupt", Next::kGoOn); }

  Next before = Next::kGoOn;
  Next after = Next::kGoOn;

 private:
  Next Note(const std::string& call, Next next) {
    calls_->push_back(name_ + " " + call);
    return next;
  }

  std::string name_;
  std::vector<std::string>* calls_;
};

TEST_F(LoopTest, CallsObserversInOrder) {
  std::vector<std::string> calls;
  Recorder a("a", &calls), b("b", &calls);
  EXPECT_EQ(Run(2, {&a, &b}).step, 2);
  EXPECT_TRUE(complete_);
  EXPECT_EQ(calls, (std::vector<std::string>{"a begin", "b begin", "a before", "b before",
                                             "a after 1", "b after 1", "a before", "b before",
                                             "a after 2", "b after 2", "a end", "b end"}));
}

TEST_F(LoopTest, AnObserverEndsTheRunAfterAllHaveSeenTheStep) {
  std::vector<std::string> calls;
  Recorder a("a", &calls), b("b", &calls);
  a.after = Next::kStop;
  const LoopState state = Run(5, {&a, &b});
  EXPECT_EQ(state.step, 1);
  EXPECT_TRUE(state.stopped_early);
  EXPECT_TRUE(complete_);
  EXPECT_EQ(calls, (std::vector<std::string>{"a begin", "b begin", "a before", "b before",
                                             "a after 1", "b after 1", "a end", "b end"}));
}

TEST_F(LoopTest, AnObserverInterruptsTheRun) {
  std::vector<std::string> calls;
  Recorder a("a", &calls), b("b", &calls);
  a.before = Next::kInterrupt;
  const LoopState state = Run(5, {&a, &b});
  EXPECT_EQ(state.step, 0);
  EXPECT_FALSE(complete_);
  EXPECT_EQ(calls, (std::vector<std::string>{"a begin", "b begin", "a before", "a interrupt",
                                             "b interrupt"}));
}

}  // namespace
}  // namespace tandem::train

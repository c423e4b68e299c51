// `tandem train` with batches of one task, of similar lengths, and of a number of tokens.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

using Sets = std::vector<std::string>;

// Two sources: the tiny data set, and twenty lines with texts of their own.
class CompositionCommand : public RunTest {
 protected:
  CompositionCommand()
      : RunTest(R"(
seed = 3
threads = 1
precision = "fp32"
[objective]
name = "infonce"
[model]
base = "{0}/base"
[data]
negatives = 1
[[data.source]]
path = "{0}/data"
[[data.source]]
path = "{0}/lines.jsonl"
[optimizer]
learning_rate = 1e-3
[train]
accumulate = 2
epochs = 3
checkpoint_every = "4 steps"
keep_checkpoints = 100
[logging]
every = 1
)") {
    WriteLines(20);
  }

  void WriteLines(int count, const std::string& negatives = "") const {
    const std::vector<std::string> words = TinyWords();
    std::string lines;
    for (int i = 0; i < count; ++i) {
      const std::string& word = words[i % words.size()];
      lines += fmt::format("{{\"query\": \"{0} {1}\", \"pos\": [\"{0} {1} {0}\"]{2}}}\n", word, i,
                           negatives);
    }
    WriteFileAtomically(Path("lines.jsonl"), lines);
  }

  ProgramResult With(const std::string& output, const Sets& sets,
                     const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> further = SetFlags(sets);
    further.insert(further.end(), flags.begin(), flags.end());
    return Train(output, further);
  }

  // Exit code 2, and all that is said.
  std::string Refusal(const Sets& sets) const {
    const ProgramResult result = With("refused", sets);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(Path("refused")));
    return result.err;
  }
};

TEST_F(CompositionCommand, EveryCompositionTrainsAndGoesOnFromItsCheckpoints) {
  const std::vector<Sets> compositions = {
      {"sampling.by_task=true", "train.batch=7"},
      {"sampling.similar_lengths=true", "train.batch=7"},
      {"train.batch_tokens=200"},
      {"sampling.by_task=true", "sampling.similar_lengths=true", "train.batch_tokens=200"}};
  int number = 0;
  for (const char* sampler : {"uniform", "dynamic_pruning", "infobatch"}) {
    for (Sets sets : compositions) {
      sets.push_back(fmt::format("sampling.name={}", sampler));
      const std::string output = fmt::format("run-{}", number++);
      SCOPED_TRACE(fmt::format("{} {}", output, fmt::join(sets, " ")));
      const ProgramResult whole = With(output, sets);
      ASSERT_EQ(whole.exit_code, 0) << whole.err;
      ExpectTheSameFromEveryCheckpoint(output, SetFlags(sets), 2);
    }
  }
}

// Two batches a step. An epoch has all 68 queries, whatever that is in steps.
TEST_F(CompositionCommand, NoStepHasMoreTokensThanItsBatchesMayHave) {
  const ProgramResult result = With("run", {"train.batch_tokens=200"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("about "));
  double before = 0;
  for (const double tokens : MetricOf("run", "tokens")) {
    EXPECT_LE(tokens - before, 400);
    EXPECT_GT(tokens - before, 200);
    before = tokens;
  }
  EXPECT_EQ(MetricOf("run", "queries").back(), 3 * 68);
  EXPECT_DOUBLE_EQ(MetricOf("run", "epoch").back(), 3);
  const std::string resolved = ReadFile(Path("run/recipe.resolved.toml"));
  EXPECT_THAT(resolved, HasSubstr("batch_tokens = 200\n"));
  EXPECT_THAT(resolved, Not(HasSubstr("\nbatch = ")));
  const ProgramResult inspected = RunTandem({"inspect", Path("run"), "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(inspected.out)["most_tokens_per_step"], 400);
  EXPECT_THAT(ReadFile(Path("run/model/README.md")), HasSubstr("tokens a step, at most"));
}

TEST_F(CompositionCommand, AValidationLossIsMeasuredInSuchBatchesToo) {
  for (const Sets& sets : {Sets{"sampling.by_task=true"}, Sets{"train.batch_tokens=200"}}) {
    Sets all = sets;
    all.insert(all.end(), {"validation.holdout=20", "validation.measure=loss",
                           "validation.every=50%", "train.epochs=1"});
    const std::string output = sets[0].substr(0, 5);
    const ProgramResult result = With(output, all);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(ReadFile(Path(output + "/metrics.jsonl")), HasSubstr("\"event\":\"validation\""));
  }
}

TEST_F(CompositionCommand, TheQueryThatIsTooLongIsNamed) {
  EXPECT_THAT(Refusal({"train.batch_tokens=12"}),
              testing::ContainsRegex("train.batch_tokens is 12, but query [^ ]* with its document "
                                     "[^ ]* and 1 further ones has up to [0-9]+ tokens"));
  EXPECT_THAT(Refusal({"train.batch_tokens=12", "data.negatives=0"}),
              testing::ContainsRegex("train.batch_tokens is 12, but query [^ ]* with its document "
                                     "[^ ]* has up to [0-9]+ tokens.* give [0-9]+ or more"));
}

TEST_F(CompositionCommand, ATaskOfOneQueryHasNothingToCompareItWith) {
  WriteLines(1);
  EXPECT_THAT(Refusal({"sampling.by_task=true", "data.negatives=0"}),
              HasSubstr("sampling.by_task needs two training queries of each task"));
  EXPECT_THAT(Refusal({"sampling.by_task=true"}), HasSubstr("lines.jsonl has 1:"));
  EXPECT_EQ(With("mixed", {"train.epochs=1"}).exit_code, 0);
  WriteLines(1, ", \"neg\": [\"another one\"]");
  const ProgramResult result = With("run", {"sampling.by_task=true", "train.epochs=1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(CompositionCommand, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(Refusal({"train.batch_tokens=200", "train.batch=8"}),
              HasSubstr("train.batch contradicts train.batch_tokens; give one of them"));
  EXPECT_THAT(Refusal({"train.batch_tokens=1"}),
              HasSubstr("train.batch_tokens must be from 2 to 1000000000 tokens, found 1"));
  EXPECT_THAT(Refusal({"data.train=" + Path("data"), "sampling.by_task=true"}),
              HasSubstr("sampling.by_task does nothing here: it needs several [[data.source]]"));
  EXPECT_THAT(Refusal({"train.batch_tokens=200", "optimizer.learning_rate_scaling=sqrt_batch"}),
              HasSubstr("optimizer.learning_rate_scaling needs train.batch"));
  // The longest query has a batch alone, and all are as long.
  EXPECT_THAT(Refusal({"train.batch_tokens=24", "data.negatives=0"}),
              HasSubstr("train.batch_tokens makes a first batch of 1 queries"));
}

TEST_F(CompositionCommand, ARunByTokensCanBecomeLongerOnlyInSteps) {
  const Sets constant = {"schedule.name=constant", "schedule.warmup=0", "train.batch_tokens=200"};
  const auto with = [&](const char* length) {
    Sets sets = constant;
    sets.emplace_back(length);
    return sets;
  };
  ASSERT_EQ(With("epochs", with("train.epochs=1")).exit_code, 0);
  const ProgramResult epochs = With("epochs", with("train.epochs=2"), {"--resume"});
  EXPECT_EQ(epochs.exit_code, 2);
  EXPECT_THAT(epochs.err, HasSubstr("Only a run with train.steps can be made longer"));
  ASSERT_EQ(With("steps", with("train.steps=8")).exit_code, 0);
  const ProgramResult steps = With("steps", with("train.steps=12"), {"--resume"});
  ASSERT_EQ(steps.exit_code, 0) << steps.err;
  ASSERT_EQ(With("at-once", with("train.steps=12")).exit_code, 0);
  ExpectSameFiles("steps", "at-once");
}

}  // namespace
}  // namespace tandem

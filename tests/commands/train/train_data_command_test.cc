// `tandem train`: which of the data a run uses, and what it says about them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

class TrainData : public RunTest {
 protected:
  TrainData()
      : RunTest(R"(
threads = 1
precision = "fp32"
[model]
base = "{0}/base"
dropout = 0.0
[data]
train = "{0}/f.jsonl"
[objective]
name = "infonce"
[train]
batch = 4
epochs = 1
[logging]
every = 1
)") {
    std::string lines;
    for (int q = 0; q < 8; ++q) {
      lines += fmt::format(
          "{{\"anchor\": \"alpha {0}\", \"positive\": \"beta {0}\", \"negative\": \"gamma "
          "{0}\"}}\n",
          q);
    }
    Write(lines);
  }
  void Write(const std::string& lines) { WriteFileAtomically(Path("f.jsonl"), lines); }
};

// Eight texts a step without the negatives, twelve with them; all have as many tokens.
TEST_F(TrainData, NegativesOfTripletsAreTrainedOn) {
  const ProgramResult with = Train("with");
  ASSERT_EQ(with.exit_code, 0) << with.err;
  EXPECT_THAT(with.err, HasSubstr("data.negatives = 1: 8 of 8 training queries have judged "
                                  "negatives (1 each)"));
  EXPECT_THAT(ReadFile(Path("with/recipe.resolved.toml")), HasSubstr("negatives = 1\n"));
  const ProgramResult without = Train("without", {"--set", "data.negatives=0"});
  ASSERT_EQ(without.exit_code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("data.negatives = 0: 8 of 8 training queries have judged "
                                     "negatives (1 each), which are not used: a query is trained "
                                     "against the other documents of its batch alone\n"));
  EXPECT_EQ(MetricOf("with", "tokens").at(0), MetricOf("without", "tokens").at(0) / 8 * 12);
  const ProgramResult check = Train("", {"--check"});
  EXPECT_THAT(check.out, HasSubstr("data.negatives: 1 (8 of 8 training queries have judged "
                                   "negatives (1 each))\n"));
}

TEST_F(TrainData, NegativesThatAreNotThere) {
  const ProgramResult fewer = Train("", {"--set", "data.negatives=5", "--check"});
  EXPECT_EQ(fewer.exit_code, 0) << fewer.err;
  EXPECT_THAT(fewer.err, HasSubstr("warning: data.negatives = 5, but 8 of 8 training queries have "
                                   "fewer judged negatives; they bring what they have"));
  Write(
      "{\"anchor\": \"alpha\", \"positive\": \"beta\"}\n"
      "{\"anchor\": \"gamma\", \"positive\": \"delta\"}\n");
  const ProgramResult none = Train("none", {"--set", "data.negatives=5"});
  EXPECT_EQ(none.exit_code, 3) << none.err;
  EXPECT_THAT(none.err, HasSubstr("no training query has judged negatives, but data.negatives "
                                  "asks for 5"));
  EXPECT_THAT(Train("zero", {}).err,
              HasSubstr("data.negatives = 0: no training query has judged negatives, so that each "
                        "is trained against the other documents of its batch alone; `tandem mine`, "
                        "or [mining] in the recipe, finds hard negatives\n"));
}

// A run of before, whose recipe took no negatives where the key was not given.
TEST_F(TrainData, AResumedRunKeepsItsNumberOfNegatives) {
  ASSERT_EQ(Train("run", {"--set", "data.negatives=0"}).exit_code, 0);
  const ProgramResult resumed = Train("run", {"--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("data.negatives = 0: "));
  EXPECT_EQ(Train("run", {"--resume", "--set", "data.negatives=1"}).exit_code, 2);
}

TEST_F(TrainData, ABatchOfMoreQueriesThanThereAre) {
  const ProgramResult result = Train("run", {"--set", "train.batch=1000"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: train.batch is 1000, but there are 8 training "
                                    "queries; a batch has at most 8"));
  EXPECT_THAT(result.err, HasSubstr("1 steps of 8 queries"));
}

TEST_F(TrainData, DuplicatesThatForceSmallBatches) {
  std::string lines;
  for (int q = 0; q < 8; ++q) {
    lines += fmt::format("{{\"anchor\": \"alpha {0}\", \"positive\": \"beta {1}\"}}\n", q,
                         q < 3 ? 0 : q);
  }
  Write(lines);
  const ProgramResult result = Train("run", {"--set", "sampling.no_duplicates=true"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("an epoch has 3 batches of at most 3 queries instead of 2 of up "
                        "to 4; sampling.no_duplicates = \"mask\""));
  const std::string resolved =
      ReadFile(std::filesystem::path(Path("run")) / "recipe.resolved.toml");
  EXPECT_THAT(resolved, HasSubstr("no_duplicates = true\n"));
  // A run that began so goes on so where the recipe leaves the choice.
  const ProgramResult resumed = Train("run", {"--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const ProgramResult masked = Train("masked");
  ASSERT_EQ(masked.exit_code, 0) << masked.err;
  EXPECT_THAT(masked.err, HasSubstr("2 steps of 4 queries"));
  EXPECT_THAT(masked.err, HasSubstr("so that up to 2 of them meet in a batch"));
  const ProgramResult unmasked = Train(
      "unmasked", {"--set", "sampling.no_duplicates=mask", "--set", "data.masks.copies=false"});
  EXPECT_EQ(unmasked.exit_code, 2);
  EXPECT_THAT(unmasked.err, HasSubstr("sampling.no_duplicates is \"mask\", but"));
  const ProgramResult allowed = Train("allowed", {"--set", "sampling.no_duplicates=false"});
  EXPECT_THAT(allowed.err, Not(HasSubstr("instead of")));
}

// Six queries of twelve have one answer: batches of four stay full, and a run that is resumed in
// the middle of an epoch ends in the same bytes.
TEST_F(TrainData, FullBatchesOfCopiesGoOnFromEveryCheckpoint) {
  std::string lines;
  for (int q = 0; q < 12; ++q) {
    lines += fmt::format("{{\"anchor\": \"alpha {0}\", \"positive\": \"beta {1}\"}}\n", q,
                         q < 6 ? 0 : q);
  }
  Write(lines);
  for (const char* sampler : {"uniform", "dynamic_pruning", "infobatch"}) {
    SCOPED_TRACE(sampler);
    const std::vector<std::string> flags =
        SetFlags({fmt::format("sampling.name={}", sampler), "train.epochs=3",
                  "train.checkpoint_every=\"1 steps\"", "train.keep_checkpoints=100"});
    const ProgramResult whole = Train(sampler, flags);
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    ExpectTheSameFromEveryCheckpoint(sampler, flags);
  }
  EXPECT_THAT(MetricOf("uniform", "queries"),
              testing::ElementsAre(4, 8, 12, 16, 20, 24, 28, 32, 36));
}

TEST_F(TrainData, CountsSayWhatTheyCount) {
  EXPECT_THAT(Train("", {"--check"}).err, HasSubstr("8 queries with 8 positives"));
  const ProgramResult graded =
      Train("", {"--check", "--set", "objective.name=bixse", "--set", "data.binarize_at=1"});
  EXPECT_THAT(graded.err, HasSubstr("8 queries with 16 labelled documents"));
  EXPECT_THAT(graded.out, HasSubstr("labelled documents: 16\n"));
}

// FlagEmbedding's `prompt` is trained with and saved with the model.
TEST_F(TrainData, APromptOfTheLinesIsTheModelsPrompt) {
  const auto write = [&](const std::string& prompt) {
    std::string lines;
    for (int q = 0; q < 8; ++q) {
      lines += fmt::format("{{\"query\": \"alpha {0}\", \"pos\": [\"beta {0}\"]{1}}}\n", q,
                           prompt.empty() ? "" : fmt::format(", \"prompt\": \"{}\"", prompt));
    }
    Write(lines);
  };
  write("");
  ASSERT_EQ(Train("recipe", {"--set", "model.query_prompt=\"gamma \""}).exit_code, 0);
  write("gamma ");
  const ProgramResult lines = Train("lines");
  ASSERT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_THAT(lines.err, HasSubstr("the query prompt is that of data.train, \"gamma \""));
  EXPECT_EQ(MetricOf("lines", "loss"), MetricOf("recipe", "loss"));
  EXPECT_EQ(ReadFile(Path("lines/model/model.safetensors")),
            ReadFile(Path("recipe/model/model.safetensors")));
  const auto config =
      nlohmann::json::parse(ReadFile(Path("lines/model/config_sentence_transformers.json")));
  EXPECT_EQ(config.at("prompts").at("query"), "gamma ");
  EXPECT_EQ(Train("lines", {"--resume"}).exit_code, 0);
  const ProgramResult other = Train("other", {"--set", "model.query_prompt=\"delta \""});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("model.query_prompt is \"delta \", but the queries of "
                                   "data.train have the prompt \"gamma \"; give the same one, or "
                                   "leave it out"));
}

TEST_F(TrainData, PathsThatAreNotThere) {
  for (const char* name : {"/nope.jsonl", "x.parquet"}) {
    const ProgramResult result = Train("run", {"--set", std::string("data.train=") + name});
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_THAT(result.err,
                HasSubstr(fmt::format("{}: there is no such file or folder; expected a BEIR folder "
                                      "or a file of JSON lines",
                                      name)));
  }
}

}  // namespace
}  // namespace tandem

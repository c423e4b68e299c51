// `tandem train`: which documents are negatives of a query, and what batches, steps and epochs are
// made of where queries share their answers or are documents themselves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

std::string Line(const std::string& query, const Strings& positives,
                 const Strings& negatives = {}) {
  nlohmann::json line = {{"query", query}, {"pos", positives}};
  if (!negatives.empty()) line["neg"] = negatives;
  return line.dump() + "\n";
}

class TrainNegatives : public testing::Test {
 protected:
  TrainNegatives() { WriteTinyModel(Path("base")); }

  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }

  // Trains on `lines` with `sets` over a recipe that logs every step.
  ProgramResult Train(const std::string& lines, const Strings& sets, const Strings& flags = {}) {
    WriteFileAtomically(Path("lines.jsonl"), lines);
    WriteFileAtomically(
        Path("recipe.toml"),
        fmt::format("threads = 1\nprecision = \"fp32\"\n[model]\nbase = \"{0}/base\"\n[data]\n"
                    "train = \"{0}/lines.jsonl\"\n[objective]\nname = \"infonce\"\n"
                    "[train]\nbatch = 4\n[logging]\nevery = 1\n",
                    folder_.path().native()));
    Strings arguments = {"train", Path("recipe.toml").native()};
    for (const std::string& set : sets) arguments.insert(arguments.end(), {"--set", set});
    if (flags.empty()) arguments.insert(arguments.end(), {"--output", Path("run").native()});
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunTandem(arguments);
  }
  ProgramResult Check(const std::string& lines, const Strings& sets) {
    return Train(lines, sets, {"--check"});
  }

  // The numbers `name` of the steps in a run's metrics.
  std::vector<double> OfSteps(const std::string& name, const std::string& run = "run") const {
    std::istringstream metrics(ReadFile(Path(run) / "metrics.jsonl"));
    std::vector<double> values;
    for (std::string line; std::getline(metrics, line);) {
      const nlohmann::json row = nlohmann::json::parse(line);
      if (row.contains("loss")) values.push_back(row.at(name).get<double>());
    }
    return values;
  }

  TemporaryFolder folder_;
};

// Queries that share nothing.
std::string Plain(int queries) {
  std::string lines;
  for (int q = 0; q < queries; ++q) {
    lines += Line(fmt::format("alpha {}", q), {fmt::format("beta {}", q)});
  }
  return lines;
}

TEST_F(TrainNegatives, TheLastStepOfARunByEpochsHasWhatIsLeft) {
  // 7 batches of 4 an epoch, 14 in all: 3, 3, 3, 3, 2.
  const Strings sets = {"train.epochs=2", "train.accumulate=3"};
  const ProgramResult result = Train(Plain(28), sets);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(OfSteps("queries"), ElementsAre(12, 24, 36, 48, 56));
  EXPECT_THAT(OfSteps("epoch").back(), testing::DoubleEq(2));
  EXPECT_THAT(Check(Plain(28), sets).out, HasSubstr("for 5 steps"));
}

// A short last step is the step of its batches alone: of one, where three would be accumulated.
TEST_F(TrainNegatives, AShortStepWeighsItsBatchesAsAnyOther) {
  Strings sets = {"train.batch=8", "model.dropout=0", "schedule.warmup=0 steps"};
  ASSERT_EQ(Train(Plain(8), sets).exit_code, 0);
  const std::string once = ReadFile(Path("run") / "model" / "model.safetensors");
  sets.insert(sets.end(), {"train.accumulate=3"});
  const ProgramResult result = Train(Plain(8), sets, {"--output", Path("short").native()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(OfSteps("queries", "short"), ElementsAre(8));
  EXPECT_EQ(OfSteps("loss", "short"), OfSteps("loss"));
  EXPECT_EQ(OfSteps("gradient_norm", "short"), OfSteps("gradient_norm"));
  EXPECT_EQ(ReadFile(Path("short") / "model" / "model.safetensors"), once);
}

TEST_F(TrainNegatives, AResumedRunEndsWithTheSameShortStep) {
  const Strings sets = {"train.epochs=2", "train.accumulate=3", "train.checkpoint_every=2 steps",
                        "train.keep_checkpoints=2"};
  ASSERT_EQ(Train(Plain(28), sets).exit_code, 0);
  const std::string whole = ReadFile(Path("run") / "metrics.jsonl");
  const std::string model = ReadFile(Path("run") / "model" / "model.safetensors");
  std::filesystem::remove_all(Path("run") / "model");
  std::filesystem::remove_all(Path("run") / "checkpoints" / "step-00000005");
  bool removed = false;
  for (const auto& entry : std::filesystem::directory_iterator(Path("run") / "checkpoints")) {
    removed = removed || entry.path().filename().native().ends_with("5");
  }
  ASSERT_FALSE(removed);
  const ProgramResult resumed =
      Train(Plain(28), sets, {"--output", Path("run").native(), "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(ReadFile(Path("run") / "metrics.jsonl"), whole);
  EXPECT_EQ(ReadFile(Path("run") / "model" / "model.safetensors"), model);
}

TEST_F(TrainNegatives, AWarmupLongerThanTheRunStaysAndIsSaid) {
  const Strings sets = {"schedule.warmup=500 steps", "optimizer.learning_rate=0.001"};
  const ProgramResult result = Train(Plain(8), sets);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string said =
      "schedule.warmup is 500 steps, but the run has 2: the learning rate gets to 0.4 % of "
      "optimizer.learning_rate and no further";
  EXPECT_THAT(result.err, HasSubstr(said));
  EXPECT_THAT(OfSteps("learning_rate"), ElementsAre(testing::DoubleNear(0.001 / 501, 1e-12),
                                                    testing::DoubleNear(0.002 / 501, 1e-12)));
  EXPECT_THAT(Check(Plain(8), sets).out, HasSubstr(said));
  EXPECT_THAT(Check(Plain(8), {"schedule.warmup=2 steps"}).err, Not(HasSubstr("warmup is")));
}

TEST_F(TrainNegatives, SaysHowManyPairsAnEpochTrains) {
  std::string lines;
  for (int q = 0; q < 8; ++q) {
    for (int k = 0; k < 6; ++k) {
      lines += Line(fmt::format("alpha {}", q), {fmt::format("beta {} {}", q, k)});
    }
  }
  const std::string said =
      "an epoch trains 8 of 48 pairs: each query once, with one of its positives, drawn anew in "
      "every epoch; sampling.name = \"random_pruning\" with sampling.keep = 1 trains every pair "
      "once an epoch";
  EXPECT_THAT(Check(lines, {}).out, HasSubstr(said));
  EXPECT_THAT(Train(lines, {}).err, HasSubstr(said));
  const ProgramResult all = Train(lines, {"sampling.name=random_pruning", "sampling.keep=1"},
                                  {"--output", Path("all").native()});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.err, Not(HasSubstr("an epoch trains")));
  EXPECT_EQ(OfSteps("queries", "all").back(), 48);
}

TEST_F(TrainNegatives, AFrequentAnswerLeavesBatchesFull) {
  std::string lines;
  for (int q = 0; q < 40; ++q) {
    lines += Line(fmt::format("alpha {}", q), {q % 5 < 2 ? "gamma" : fmt::format("beta {}", q)});
  }
  const ProgramResult result = Train(lines, {});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("more queries share a text or a paired document than an epoch has batches "
                        "(10), so that up to 2 of them meet in a batch: they are no negatives of "
                        "each other"));
  EXPECT_EQ(OfSteps("queries").size(), 10U);
  for (const double loss : OfSteps("loss")) EXPECT_GT(loss, 0);
  // Without the mask they never meet.
  const ProgramResult apart = Check(lines, {"data.masks.copies=false"});
  EXPECT_THAT(apart.err, HasSubstr("an epoch has 16 batches of at most 3 queries instead of 10"));
}

// Seven of eight queries have one answer: a batch of these alone teaches nothing.
TEST_F(TrainNegatives, StepsThatTeachNothingAreCountedAndSaid) {
  std::string lines = Line("alpha", {"beta"});
  for (int q = 0; q < 11; ++q) lines += Line(fmt::format("delta {}", q), {"gamma"});
  bool refused = false, trained = false;
  for (int seed = 1; seed < 20 && !(refused && trained); ++seed) {
    const Strings sets = {fmt::format("seed={}", seed)};
    const ProgramResult check = Check(lines, sets);
    if (check.exit_code == 2) {
      refused = true;
      EXPECT_THAT(check.err, HasSubstr("makes a first batch of 4 queries and 4 documents without "
                                       "any allowed negative"));
      continue;
    }
    trained = true;
    EXPECT_THAT(check.out, HasSubstr("2 of the 3 batches of an epoch can teach nothing"));
    const ProgramResult result = Train(lines, sets);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("step 2: its batch has no allowed negative, so that nothing "
                                      "is learned from it"));
    EXPECT_THAT(result.err, HasSubstr("2 of 3 steps taught nothing"));
    EXPECT_EQ(OfSteps("loss")[1], 0);
  }
  EXPECT_TRUE(refused && trained);
}

// Each of the two queries is the other's answer.
TEST_F(TrainNegatives, AQuerysOwnTextIsNoNegative) {
  const std::string lines = Line("alpha", {"beta"}) + Line("beta", {"alpha"});
  const ProgramResult refused = Train(lines, {});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("without any allowed negative"));
  EXPECT_EQ(Train(lines, {"data.masks.query_text=false"}).exit_code, 0);
  const ProgramResult result =
      Train(lines + Line("gamma", {"delta"}), {}, {"--output", Path("three").native()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("2 of 3 training queries have their own text as a document of the corpus, "
                        "which is no negative of theirs (data.masks.query_text)"));
}

TEST_F(TrainNegatives, AJudgedNegativeThatIsTheQueryIsNotDrawn) {
  const std::string lines = Line("alpha", {"beta"}, {"alpha"}) +  // none is left of these
                            Line("gamma", {"gamma"}, {"zeta"}) +  // a positive stays one
                            Line("delta", {"eta"}, {"theta", "delta"});
  const ProgramResult result = Train(lines, {});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 of 3 training queries have their own text as a document"));
  EXPECT_THAT(result.err, HasSubstr("2 of these documents are judged irrelevant and left out"));
  EXPECT_THAT(result.err, HasSubstr("2 of 3 training queries have judged negatives"));
  const ProgramResult before = Check(lines, {"data.masks.query_text=false"});
  EXPECT_THAT(before.out, HasSubstr("3 of 3 training queries have judged negatives"));
}

// Of a graded objective, a query's paired document may be one that is judged irrelevant.
TEST_F(TrainNegatives, AGradedQueryWithNothingButItsOwnTextIsLeftOut) {
  std::filesystem::create_directories(Path("folder/qrels"));
  WriteFileAtomically(
      Path("folder/corpus.jsonl"),
      "{\"_id\": \"a\", \"text\": \"alpha\"}\n{\"_id\": \"b\", \"text\": \"beta\"}\n"
      "{\"_id\": \"c\", \"text\": \"gamma\"}\n");
  WriteFileAtomically(Path("folder/queries.jsonl"),
                      "{\"_id\": \"1\", \"text\": \"alpha\"}\n"
                      "{\"_id\": \"2\", \"text\": \"delta\"}\n"
                      "{\"_id\": \"3\", \"text\": \"eta\"}\n");
  WriteFileAtomically(Path("folder/qrels/train.tsv"),
                      "query-id\tcorpus-id\tscore\n1\ta\t0\n2\tb\t1\n3\tc\t1\n");
  const ProgramResult result =
      Train("", {"data.train=" + Path("folder").native(), "objective.name=bixse"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 training queries have no other judged document than their "
                                    "own text and are left out"));
  EXPECT_EQ(OfSteps("queries").back(), 2);
}

TEST_F(TrainNegatives, OwnNegativesAloneWithoutInBatchOnes) {
  std::string lines;
  for (int q = 0; q < 4; ++q) {
    lines += Line(fmt::format("alpha {}", q), {fmt::format("beta {}", q)},
                  {fmt::format("gamma {}", q), "delta"});
  }
  const Strings sets = {"data.masks.in_batch=false", "data.negatives=2", "model.dropout=0",
                        "train.steps=1"};
  ASSERT_EQ(Train(lines, sets).exit_code, 0);
  // The mean of the losses of the queries, each in a batch of its own.
  double sum = 0;
  for (int q = 0; q < 4; ++q) {
    const std::string name = fmt::format("alone{}", q);
    const std::string one = Line(fmt::format("alpha {}", q), {fmt::format("beta {}", q)},
                                 {fmt::format("gamma {}", q), "delta"});
    ASSERT_EQ(Train(one, sets, {"--output", Path(name).native()}).exit_code, 0);
    sum += OfSteps("loss", name).at(0);
  }
  EXPECT_NEAR(OfSteps("loss").at(0), sum / 4, 1e-6);
  const ProgramResult none = Check(Plain(4), {"data.masks.in_batch=false"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("without any allowed negative"));
}

}  // namespace
}  // namespace tandem

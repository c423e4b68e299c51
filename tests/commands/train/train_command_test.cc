// `tandem train` as a user runs it, on a model and a data set that the tests make: the run folder,
// equal bytes of equal runs, validation, --check and --profile.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/process/asked_forms.h"
#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

class TrainCommand : public EventfulRunTest {};

TEST_F(TrainCommand, WritesTheRunFolder) {
  const ProgramResult result = Train("run", {"--set", "train.keep_checkpoints=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const Contents files = FilesOf("run");
  EXPECT_TRUE(files.contains("model/modules.json"));
  EXPECT_TRUE(files.contains("model/config.json"));
  // 48 queries in batches of 5, two batches a step, 6 passes: 60 batches, 30 steps. The last two
  // checkpoints are 28 and the end.
  EXPECT_TRUE(files.contains("checkpoints/step-00000028/weights.safetensors"));
  EXPECT_TRUE(files.contains("checkpoints/step-00000030/optimizer.safetensors"));
  EXPECT_FALSE(files.contains("checkpoints/step-00000024/state.json"));
  EXPECT_THAT(files.at("recipe.resolved.toml"), testing::HasSubstr("threads = 1"));
  for (const auto& [name, bytes] : files) {
    if (name.ends_with(".safetensors")) continue;
    EXPECT_THAT(bytes, testing::Not(testing::HasSubstr(folder_.path().native()))) << name;
  }
  std::vector<int64_t> logged, validated;
  double first = 0, last = 0;
  std::istringstream lines(files.at("metrics.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line.contains("loss")) {
      logged.push_back(line["step"]);
      last = line["loss"];
      if (logged.size() == 1) first = last;
    }
    if (line["event"] == "validation") validated.push_back(line["step"]);
    for (const auto& [key, value] : line.items()) EXPECT_TRUE(value.is_primitive()) << text;
  }
  EXPECT_EQ(logged, (std::vector<int64_t>{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}));
  EXPECT_EQ(validated, (std::vector<int64_t>{0, 7, 14, 21, 28, 30}));
  EXPECT_LT(last, first);
  EXPECT_THAT(files.at("metrics.jsonl"),
              testing::HasSubstr("{\"event\":\"finished\",\"step\":30,"));
}

TEST_F(TrainCommand, SameRecipeSameBytesOtherSeedOtherBytes) {
  ASSERT_EQ(Train("one").exit_code, 0);
  ASSERT_EQ(Train("deeper/down/two").exit_code, 0);
  ExpectSameFiles("deeper/down/two", "one");
  ASSERT_EQ(Train("three", {"--set", "seed=4"}).exit_code, 0);
  EXPECT_NE(FilesOf("three").at("metrics.jsonl"), FilesOf("one").at("metrics.jsonl"));
}

TEST_F(TrainCommand, PatienceStopsEarlyAndTheBestModelIsKept) {
  // With this learning rate the model gets worse.
  const ProgramResult result =
      Train("run", {"--set", "optimizer.learning_rate=0.3", "--set", "validation.patience=2",
                    "--set", "validation.every=\"2 steps\"", "--set", "train.epochs=40", "--set",
                    "train.keep_checkpoints=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Contents files = FilesOf("run");
  nlohmann::json best, last;
  int worse = 0;
  std::istringstream lines(files.at("metrics.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line["event"] == "validation") {
      worse = line["best"] ? 0 : worse + 1;
      if (line["best"]) best = line;
    }
    last = line;
  }
  EXPECT_EQ(worse, 2);
  EXPECT_LT(last["step"], 200);
  EXPECT_EQ(last["model_step"], best["step"]);
  EXPECT_EQ(last["best_ndcg@10"], best["validation_ndcg@10"]);
  const std::string weights =
      files.at(fmt::format("checkpoints/best-{:08}/weights.safetensors", best["step"].get<int>()));
  const auto embedding = weights.substr(weights.size() - 64);
  EXPECT_NE(files.at("model/model.safetensors").find(embedding), std::string::npos);
  const ProgramResult again =
      Train("run", {"--resume", "--set", "optimizer.learning_rate=0.3", "--set",
                    "validation.patience=2", "--set", "validation.every=\"2 steps\"", "--set",
                    "train.epochs=40", "--set", "train.keep_checkpoints=2"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(FilesOf("run"), files);
}

TEST_F(TrainCommand, ValidatesByLossAndHoldout) {
  const ProgramResult result = RunTandem({"train", Path("recipe.toml"), "--output", Path("run"),
                                          "--set", "validation.holdout=\"20%\"", "--set",
                                          "validation.measure=loss", "--set", "train.epochs=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("training on 38 queries"));
  EXPECT_THAT(FilesOf("run").at("metrics.jsonl"), testing::HasSubstr("\"validation_loss\":"));
}

TEST_F(TrainCommand, ValidatesByAuc) {
  const ProgramResult result =
      Train("run", {"--set", "validation.measure=auc", "--set", "train.epochs=1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(FilesOf("run").at("metrics.jsonl"), testing::HasSubstr("\"validation_auc\":"));
}

TEST_F(TrainCommand, CheckOfALongRunSaysWhatShortensIt) {
  const ProgramResult result = Train("", {"--check", "--set", "train.steps=20000000"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      testing::ContainsRegex("      --set train\\.steps=[0-9]+ ends after about [45]m [0-9]+s, and "
                             "learns from fewer texts\n"));
  EXPECT_THAT(Train("", {"--check"}).out, testing::Not(testing::HasSubstr("ends after about")));
}

// What the recipe asks for is no warning; what the base's folder decides is one.
TEST_F(TrainCommand, TextsThatAreCutAsTheRecipeSaysAreNoted) {
  const ProgramResult asked = Train("", {"--check", "--set", "model.max_document_tokens=4"});
  EXPECT_THAT(asked.err,
              testing::ContainsRegex("(^|\n)[0-9]+ of [0-9]+ documents are longer than 4 "
                                     "tokens and are cut there, as "
                                     "model.max_document_tokens says\n"));
  WriteFileAtomically(Path("base/tandem.json"), "{\"format\": 1, \"max_document_tokens\": 4}");
  const ProgramResult found = Train("", {"--check"});
  EXPECT_THAT(found.err,
              testing::ContainsRegex("warning: [0-9]+ of [0-9]+ documents are longer than "
                                     "4 tokens \\(model.max_document_tokens\\) and were"));
}

TEST_F(TrainCommand, CheckReadsEverythingAndWritesNothing) {
  const ProgramResult result = Train(
      "", {"--check", "--set", "output=" + Path("run"), "--set", "model.max_document_tokens=8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* text :
       {"training queries: 48\n", "positives: 48\n", "documents in the corpus: 60\n",
        "validation: ndcg@10 on 16 queries, every 7 steps\n", "truncated at 8\n", "memory: about ",
        "for 30 steps, from one timed step of ", " validations of ",
        " s each, from some of their 60 documents and 16 queries; on top come checkpoints and each "
        "start (",
        " s to read the data, ", " s for token ids)\n"}) {
    EXPECT_THAT(result.out, testing::HasSubstr(text));
  }
  // It says what it waits for before it does.
  EXPECT_THAT(result.err, testing::ContainsRegex(
                              "measuring time and memory: two steps of at most [0-9]+ tokens, "
                              "whose results are thrown away, take about [0-9]+s"));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
  // The command of the run with one more word: the folder says on which disk there must be room.
  EXPECT_THAT(result.out, testing::HasSubstr("disk: "));
  const ProgramResult with_output = Train("run", {"--check"});
  ASSERT_EQ(with_output.exit_code, 0) << with_output.err;
  EXPECT_THAT(with_output.out, testing::HasSubstr("disk: "));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainCommand, ProfileSaysWhereTheTimeWentAndChangesNothing) {
  if (FormsOfEnvironment() != AskedForms::kFused) GTEST_SKIP() << "other forms call others";
  ASSERT_EQ(Train("plain").exit_code, 0);
  const ProgramResult result = Train("run", {"--profile", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ExpectSameFiles("run", "plain");
  const nlohmann::json profile = nlohmann::json::parse(result.out);
  EXPECT_EQ(profile["steps"], 29);  // of 30; the first warms up
  std::map<std::string, double> calls;
  double share = 0;
  for (const nlohmann::json& row : profile["operations"]) {
    calls[row["operation"]] = row["calls"];
    share += row["share"].get<double>();
  }
  EXPECT_NEAR(share, 1, 1e-9);
  // Two batches a step, two layers.
  for (const char* name : {"Affine", "Affine backward", "SelfAttention", "SelfAttention backward",
                           "FeedForwardNorm", "FeedForwardNorm backward", "AffineNorm backward"}) {
    EXPECT_EQ(calls[name], 4) << name;
  }
  for (const char* name : {"EmbeddingNorm", "EmbeddingNorm backward", "Pool", "Pool backward",
                           "scores and loss", "assemble batch", "sample"}) {
    EXPECT_EQ(calls[name], 2) << name;
  }
  EXPECT_EQ(calls["optimizer"], 1);
  EXPECT_GT(calls["pack weights"], 0);
}

// Losses of the lines of metrics.jsonl.
std::vector<double> LossesOf(const std::string& metrics) {
  std::vector<double> losses;
  std::istringstream lines(metrics);
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line.contains("loss")) losses.push_back(line["loss"]);
  }
  return losses;
}

TEST_F(TrainCommand, ReferenceFormsCanBeForcedAndLearnTheSame) {
  ASSERT_EQ(Train("fused").exit_code, 0);
  ::setenv("TANDEM_FORMS", "reference", 1);
  const ProgramResult result = Train("reference");
  ::setenv("TANDEM_FORMS", "other", 1);
  const ProgramResult wrong = Train("wrong");
  ::unsetenv("TANDEM_FORMS");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err,
              testing::HasSubstr("TANDEM_FORMS is fused, reference or portable, not other"));
  const std::string fused_metrics = FilesOf("fused").at("metrics.jsonl");
  const std::string reference_metrics = FilesOf("reference").at("metrics.jsonl");
  EXPECT_NE(fused_metrics, reference_metrics);  // the fused operations add in another order
  const std::vector<double> fused = LossesOf(fused_metrics);
  const std::vector<double> reference = LossesOf(reference_metrics);
  ASSERT_EQ(fused.size(), reference.size());
  for (size_t i = 0; i < fused.size(); ++i) EXPECT_NEAR(fused[i], reference[i], 1e-3) << i;
}

TEST_F(TrainCommand, ProfileStepsWritesNothing) {
  if (FormsOfEnvironment() != AskedForms::kFused) GTEST_SKIP() << "other forms call others";
  const ProgramResult result =
      Train("", {"--profile-steps", "3", "--set", "output=" + Path("run")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::StartsWith("profile of 3 steps (fp32, 1 threads, "));
  EXPECT_THAT(result.out, testing::HasSubstr("FeedForwardNorm backward"));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
  EXPECT_EQ(Train("", {"--profile-steps", "3", "--resume"}).exit_code, 2);
}

// The run would have hundreds of steps.
TEST_F(TrainCommand, ProfileStepsAreStepsOfARunThatIsCountedInPassesToo) {
  const ProgramResult result = Train(
      "", {"--profile-steps", "2", "--set", "train.epochs=50", "--set", "sampling.name=infobatch"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::StartsWith("profile of 2 steps (fp32, 1 threads, "));
}

TEST_F(TrainCommand, AFinishedRunSaysSo) {
  ASSERT_EQ(Train("run").exit_code, 0);
  const Contents before = FilesOf("run");
  const ProgramResult again =
      RunTandem({"train", Path("recipe.toml"), "--output", Path("run"), "--resume"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, testing::HasSubstr("this run is finished"));
  EXPECT_EQ(FilesOf("run"), before);
}

}  // namespace
}  // namespace tandem

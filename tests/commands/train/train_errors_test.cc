// For each mistake `tandem train` gives a message and an exit code and leaves nothing half-written.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {
namespace {

class TrainErrors : public testing::Test {
 protected:
  TrainErrors() {
    WriteTinyModel(folder_.path() / "base");
    WriteTinyData(folder_.path() / "data", TinyWords());
    WriteRecipe("");
  }
  void WriteRecipe(const std::string& further) const {
    WriteFileAtomically(
        Path("recipe.toml"),
        fmt::format("threads = 1\nprecision = \"fp32\"\n[model]\nbase = \"{0}/base\"\n[data]\n"
                    "train = \"{0}/data\"\npositive_grade = 2\n[objective]\nname = \"infonce\"\n"
                    "[train]\nbatch = 8\ncheckpoint_every = \"2 steps\"\n{1}",
                    folder_.path().native(), further));
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  std::vector<std::string> Arguments(const std::vector<std::string>& further) const {
    std::vector<std::string> arguments = {"train", Path("recipe.toml").native(), "--output",
                                          Path("run").native(), "--quiet"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return arguments;
  }
  // `text` must be in the message; a run that fails before its first step leaves no folder.
  void ExpectFailure(int exit_code, const std::string& text,
                     const std::vector<std::string>& further = {}) const {
    const ProgramResult result = RunTandem(Arguments(further));
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, testing::HasSubstr(text));
    EXPECT_EQ(result.out, "");
  }
  void Replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = ReadFile(Path(file));
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    WriteFileAtomically(Path(file), text.replace(at, from.size(), to));
  }

  TemporaryFolder folder_;
};

TEST_F(TrainErrors, UnknownMeasureBeforeAnythingIsRead) {
  std::filesystem::remove_all(Path("base"));  // a run that reads the model would end with 4
  WriteRecipe("[validation]\nholdout = \"10%\"\nmeasure = \"ndgc@10\"\n");
  ExpectFailure(2, "recipe.toml:15:");
  ExpectFailure(2, "did you mean ndcg@10");
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainErrors, RecipeMistakes) {
  const ProgramResult missing = RunTandem({"train", Path("none.toml").native()});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, testing::HasSubstr("none.toml: cannot be read: No such file"));
  ExpectFailure(2, "train.batc", {"--set", "train.batc=3"});
  ExpectFailure(2, "infonse", {"--set", "objective.name=infonse"});
  ExpectFailure(2, "holdout", {"--set", "validation.holdout=\"0%\""});
}

TEST_F(TrainErrors, ObjectiveMistakes) {
  ExpectFailure(2, "objective.temperature must be from 0.0001 to 10",
                {"--set", "objective.temperature=0"});
  ExpectFailure(2, "objective.same_tower is \"both\", which needs directions = \"both\"",
                {"--set", "objective.name=samtone", "--set", "objective.same_tower=both"});
  ExpectFailure(2, "objective.bank_max_age does nothing here: it needs bank above 0",
                {"--set", "objective.name=mann_whitney", "--set", "objective.bank_max_age=3"});
  // Flipped labels once ended a run in mid-training: the document that takes a grade over has no
  // teacher's score.
  for (const char* name : {"margin_mse", "kl_distillation"}) {
    ExpectFailure(
        2,
        fmt::format("data.flip_labels does nothing here: objective {} learns from a "
                    "teacher's scores, not from grades",
                    name),
        {"--set", fmt::format("objective.name={}", name), "--set", "data.flip_labels=0.1"});
  }
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainErrors, ABankThatMemoryDoesNotHold) {
  // 40 bytes for each of 1e12 scores is more than any machine has.
  const std::vector<std::string> bank = {"--set", "objective.name=mann_whitney", "--set",
                                         "objective.bank=1000000000000"};
  ExpectFailure(2, "objective.bank keeps 1000000000000 positive and", bank);
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainErrors, NoNegatives) {
  ExpectFailure(2, "train.batch makes a first batch of 1 queries and 1 documents without any",
                {"--set", "train.batch=1", "--set", "data.negatives=0"});
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
  // One document for all queries.
  std::string qrels = "query-id\tcorpus-id\tscore\n";
  for (int q = 0; q < 48; ++q) qrels += fmt::format("q{}\td0\t2\n", q);
  WriteFileAtomically(Path("data/qrels/train.tsv"), qrels);
  ExpectFailure(2, "train.batch makes a first batch of 8 queries and 8 documents without any");
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainErrors, DataWithoutTheSplit) {
  ExpectFailure(3, "test", {"--set", "data.split=test"});
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainErrors, NoQueryWithAPositive) {
  ExpectFailure(3, "none of the 48 judged queries has a document of grade 3 or more",
                {"--set", "data.positive_grade=3"});
}

TEST_F(TrainErrors, CorpusOfOneDocument) {
  WriteTinyData(Path("data"), TinyWords(), {.documents = 1, .queries = 1});
  WriteFileAtomically(Path("data/qrels/train.tsv"), "query-id\tcorpus-id\tscore\nq0\td0\t2\n");
  ExpectFailure(3, "the corpus has one document, so that nothing can be a negative");
}

TEST_F(TrainErrors, LongTextsAreCountedAsTruncated) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "alpha ";
  Replace("data/corpus.jsonl", "\"text\": \"", "\"text\": \"" + text);
  const ProgramResult result = RunTandem(Arguments({}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("1 of 50 documents are longer than"));
  EXPECT_THAT(result.err,
              testing::HasSubstr(" tokens (model.max_document_tokens) and were cut there"));
}

TEST_F(TrainErrors, OutputThatCannotBe) {
  WriteFileAtomically(Path("run"), "a file");
  ExpectFailure(2, "cannot be a run folder");
  const ProgramResult below = RunTandem({"train", Path("recipe.toml").native(), "--output",
                                         (Path("run") / "below").native(), "--quiet"});
  EXPECT_EQ(below.exit_code, 2) << below.err;
  EXPECT_THAT(below.err, testing::HasSubstr("cannot be made as a folder"));
  const ProgramResult none = RunTandem({"train", Path("recipe.toml").native(), "--quiet"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, testing::HasSubstr("give --output, or output in the recipe"));
}

TEST_F(TrainErrors, DiskFull) {
  struct rlimit old {};
  ::getrlimit(RLIMIT_FSIZE, &old);
  struct rlimit small = old;
  small.rlim_cur = 50000;  // the recipe fits, the weights do not
  ::setrlimit(RLIMIT_FSIZE, &small);
  const ProgramResult result = RunTandem(Arguments({}));
  ::setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("cannot be written"));
  // Nothing half-written is left under a checkpoint's name, and the run can go on.
  for (const auto& entry : std::filesystem::directory_iterator(Path("run/checkpoints"))) {
    EXPECT_EQ(entry.path().filename().native().rfind("step-", 0), std::string::npos);
  }
  EXPECT_EQ(RunTandem(Arguments({"--resume"})).exit_code, 0);
}

TEST_F(TrainErrors, ExistingRunFolder) {
  ASSERT_EQ(RunTandem(Arguments({})).exit_code, 0);
  ExpectFailure(2, "exists already; give --resume to continue the run in it, or another --output");
}

TEST_F(TrainErrors, ResumeWithoutRun) {
  ExpectFailure(2, "there is no run to resume", {"--resume"});
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainErrors, ResumeWithAnotherRecipe) {
  ASSERT_EQ(RunTandem(Arguments({})).exit_code, 0);
  ExpectFailure(2, "optimizer.learning_rate differs from what the run in",
                {"--resume", "--set", "optimizer.learning_rate=0.1"});
  ExpectFailure(2, "(it was 0.05 then and is 0.02 now) (all that differ: objective.temperature)",
                {"--resume", "--set", "objective.temperature=0.02"});
  ExpectFailure(2, "(all that differ: threads, train.batch)",
                {"--resume", "--threads", "2", "--set", "train.batch=9"});
  // Changes that --resume allows.
  const ProgramResult result = RunTandem(Arguments(
      {"--resume", "--set", "logging.every=5", "--set", "train.checkpoint_every=\"3 steps\""}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// Runs of older versions kept keys that do nothing, with their defaults.
TEST_F(TrainErrors, ResumeOfARunThatKeptKeysThatDoNothing) {
  ASSERT_EQ(RunTandem(Arguments({"--set", "train.steps=2"})).exit_code, 0);
  const std::string recipe = "run/recipe.resolved.toml";
  for (const char* key :
       {"reference_batch", "cut_off", "same_query", "split = \"dev\"", "[validation]"}) {
    EXPECT_THAT(ReadFile(Path(recipe)), testing::Not(testing::HasSubstr(key)));
  }
  Replace(recipe, "clip = ", "reference_batch = 16\nclip = ");
  Replace(recipe, "flip_labels = ", "cut_off = \"best\"\nscores = \"auto\"\nflip_labels = ");
  Replace(recipe, "[data.masks]\n", "[data.masks]\nsame_query = true\n");
  const ProgramResult again = RunTandem(Arguments({"--set", "train.steps=2", "--resume"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

// As where the default was another when the run began.
TEST_F(TrainErrors, ResumeKeepsTheObjectiveParametersThatTheRecipeDoesNotGive) {
  ASSERT_EQ(RunTandem(Arguments({"--set", "train.steps=2"})).exit_code, 0);
  const std::string recipe = "run/recipe.resolved.toml";
  ASSERT_THAT(ReadFile(Path(recipe)), testing::HasSubstr("temperature = 0.05"));
  Replace(recipe, "temperature = 0.05", "temperature = 0.03");
  const ProgramResult again = RunTandem(Arguments({"--set", "train.steps=2", "--resume"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  ExpectFailure(2, "objective.temperature",
                {"--resume", "--set", "train.steps=2", "--set", "objective.temperature=0.04"});
}

TEST_F(TrainErrors, ResumeWithOtherData) {
  ASSERT_EQ(RunTandem(Arguments({})).exit_code, 0);
  Replace("data/corpus.jsonl", "alpha", "gamma");
  ExpectFailure(3, "its documents, queries or judgements are not those that the run in",
                {"--resume"});
}

TEST_F(TrainErrors, ResumeWithAnotherBase) {
  ASSERT_EQ(RunTandem(Arguments({})).exit_code, 0);
  const std::string message =
      "its weights, settings or tokenizer are not those of the model that the run in";
  WriteTinyModel(Path("base"), {.seed = 2});
  ExpectFailure(4, message, {"--resume"});
  WriteTinyModel(Path("base"), {.pooling = "cls"});
  ExpectFailure(4, message, {"--resume"});
  WriteTinyModel(Path("base"));
  EXPECT_EQ(RunTandem(Arguments({"--resume"})).exit_code, 0);
  // The same weights under another tokenizer: two words have changed places.
  Replace("base/vocab.txt", "alpha\n", "alphb\n");
  ExpectFailure(4, message, {"--resume"});
}

TEST_F(TrainErrors, ResumeFromABrokenCheckpoint) {
  ASSERT_EQ(RunTandem(Arguments({"--set", "train.keep_checkpoints=2"})).exit_code, 0);
  std::filesystem::remove_all(Path("run/model"));
  std::filesystem::resize_file(Path("run/checkpoints/step-00000006/weights.safetensors"), 1000);
  ExpectFailure(4, "weights.safetensors", {"--resume"});
  std::filesystem::remove_all(Path("run/checkpoints/step-00000006"));
  EXPECT_EQ(RunTandem(Arguments({"--resume"})).exit_code, 0);  // from the one before
}

TEST_F(TrainErrors, DivergedRunsKeepTheLastGoodCheckpoint) {
  const ProgramResult result = RunTandem(Arguments(
      {"--set", "optimizer.learning_rate=10", "--set", "optimizer.weight_decay=1", "--set",
       "schedule.warmup=0", "--set", "train.steps=400", "--set", "schedule.name=constant"}));
  ASSERT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("step "));
  EXPECT_THAT(result.err, testing::HasSubstr("try a lower optimizer.learning_rate"));
  EXPECT_THAT(result.err, testing::HasSubstr("The last good checkpoint is "));
  EXPECT_FALSE(std::filesystem::exists(Path("run/model")));
}

}  // namespace
}  // namespace tandem

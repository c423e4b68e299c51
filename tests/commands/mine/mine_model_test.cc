// `tandem mine --model` on a small model, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/held_cache.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class MineModel : public testing::Test {
 protected:
  MineModel() {
    WriteTinyModel(folder_.path() / "model");
    WriteTinyData(folder_.path() / "data", TinyWords());
    ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  ProgramResult Mine(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"mine",       "--model",          Path("model"), "--dataset",
                                      Path("data"), "--positive-grade", "2",           "--output",
                                      Path("out"),  "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  }

  TemporaryFolder folder_;
};

// What the run of the same model says, mined without a model.
TEST_F(MineModel, MinesWhatItsOwnRunMines) {
  const std::vector<std::string> rules = {"--range",           "3:20", "--negatives", "4",
                                          "--relative-margin", "0.001"};
  ASSERT_EQ(Mine(rules).exit_code, 0);
  const std::string by_model = ReadFile(Path("out"));
  ASSERT_EQ(RunTandem({"search", "--model", Path("model"), "--dataset", Path("data"), "--split",
                       "train", "--output", Path("run.trec")})
                .exit_code,
            0);
  std::vector<std::string> by_run = {"mine",      "--run",      Path("run.trec"),
                                     "--dataset", Path("data"), "--positive-grade",
                                     "2",         "--output",   Path("of_run")};
  by_run.insert(by_run.end(), rules.begin(), rules.end());
  ASSERT_EQ(RunTandem(by_run).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("of_run")), by_model);
}

// As training takes them: what scores below the positive grade is no positive.
TEST_F(MineModel, ScoresOfPairsAreGrades) {
  WriteFileAtomically(Path("scored.jsonl"),
                      "{\"query\": \"one\", \"document\": \"alpha\", \"score\": 1}\n"
                      "{\"query\": \"one\", \"document\": \"beta\", \"score\": 0}\n"
                      "{\"query\": \"two\", \"document\": \"gamma\", \"score\": 0.9}\n"
                      "{\"query\": \"two\", \"document\": \"delta\", \"score\": 0.3}\n");
  const ProgramResult result = RunTandem(
      {"mine", "--model", Path("model"), "--dataset", Path("scored.jsonl"), "--positive-grade",
       "0.5", "--range", "0:18446744073709551615", "--negatives", "2", "--output", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(ReadFile(Path("out")));
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["pos"], nlohmann::json({"alpha"}));
  EXPECT_EQ(rows[0]["neg"].size(), 2U);
  EXPECT_EQ(rows[1]["pos"], nlohmann::json({"gamma"}));
  // "delta" is relevant to some degree.
  const std::vector<std::string> mined = rows[1]["neg"];
  EXPECT_THAT(mined, testing::UnorderedElementsAre("alpha", "beta"));
}

TEST_F(MineModel, NeverMinesWhatIsRelevant) {
  ASSERT_EQ(Mine({"--range", "0:59", "--negatives", "50"}).exit_code, 0);
  std::istringstream lines(ReadFile(Path("out")));
  size_t queries = 0;
  for (std::string line; std::getline(lines, line); ++queries) {
    const auto row = nlohmann::json::parse(line);
    // 60 documents, of which query q has d(q) as its positive and d(q + 1) as a related one.
    EXPECT_EQ(row["neg"].size(), 50U);
    const auto has = [&](size_t d) {
      const std::string end = " " + std::to_string(d % 60);
      for (const std::string text : row["neg"]) {
        if (text.ends_with(end)) return true;
      }
      return false;
    };
    EXPECT_FALSE(has(queries));
    EXPECT_FALSE(has(queries + 1));
  }
  EXPECT_EQ(queries, 48U);
}

TEST_F(MineModel, ThreadsAndMemoryDoNotChangeTheBytes) {
  const std::vector<std::string> rules = {"--range", "3:20", "--random"};
  ASSERT_EQ(Mine(rules).exit_code, 0);
  const std::string bytes = ReadFile(Path("out"));
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--threads", "1"}, {"--memory", "2MiB", "--threads", "2"}}) {
    std::filesystem::remove(Path("out"));
    std::vector<std::string> words = rules;
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = Mine(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(ReadFile(Path("out")), bytes);
  }
}

TEST_F(MineModel, EmbeddingsAreKeptUnlessToldNotTo) {
  const std::vector<std::string> rules = {"--range", "3:20"};
  ASSERT_EQ(Mine({"--range", "3:20", "--no-cache"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));
  const std::string bytes = ReadFile(Path("out"));
  for (int time = 0; time < 2; ++time) {
    std::filesystem::remove(Path("out"));
    ASSERT_EQ(Mine(rules).exit_code, 0);
    EXPECT_EQ(ReadFile(Path("out")), bytes);
    EXPECT_FALSE(std::filesystem::is_empty(Path("cache/embeddings")));
  }
}

TEST_F(MineModel, RangesAndMemoryThatCannotBe) {
  const ProgramResult range = Mine({"--range", "100:200"});
  EXPECT_EQ(range.exit_code, 2);
  EXPECT_THAT(range.err,
              HasSubstr("--range 100:200 begins beyond the corpus, which has 60 different texts"));
  const ProgramResult memory = Mine({"--range", "3:20", "--memory", "10KiB"});
  EXPECT_EQ(memory.exit_code, 2);
  EXPECT_THAT(memory.err, HasSubstr("--memory 10.0 KiB is below one tile: 960 documents and, on "
                                    "each of"));
  EXPECT_FALSE(std::filesystem::exists(Path("cache/embeddings"))) << "texts were encoded";
  WriteFileAtomically(Path("one.jsonl"), "{\"query\": \"one\", \"document\": \"alpha\"}\n");
  const ProgramResult one = RunTandem(
      {"mine", "--model", Path("model"), "--dataset", Path("one.jsonl"), "--output", Path("out")});
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_THAT(one.err, HasSubstr("one.jsonl: the corpus holds one text only, so that there is no "
                                 "other document to mine"));
  const ProgramResult model = RunTandem(
      {"mine", "--model", Path("none"), "--dataset", Path("data"), "--output", Path("out")});
  EXPECT_EQ(model.exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(MineModel, ASignalStopsTheEncodingAndWritesNothing) {
  ASSERT_EQ(Mine({"--range", "3:20"}).exit_code, 0);
  const std::string bytes = ReadFile(Path("out"));
  std::filesystem::remove(Path("out"));
  for (const int signal : {SIGINT, SIGTERM}) {
    const HeldCache held(Path("cache"));
    const ProgramResult stopped =
        InterruptTandem({"mine", "--model", Path("model"), "--dataset", Path("data"),
                         "--positive-grade", "2", "--range", "3:20", "--output", Path("out")},
                        signal);
    EXPECT_EQ(stopped.exit_code, 128 + signal) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("interrupted; " + Path("out") +
                                       " was not written; the next "
                                       "call finds the embeddings that were made so far"));
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
  }
  ASSERT_EQ(Mine({"--range", "3:20"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("out")), bytes);
}

// Killed at some moment, mining leaves nothing of its output but complete.
TEST_F(MineModel, AKillLeavesNothingHalfWritten) {
  ASSERT_EQ(Mine({"--range", "3:20"}).exit_code, 0);
  const std::string bytes = ReadFile(Path("out"));
  for (const int signal : {SIGKILL, SIGINT}) {
    for (int tenths = 1; tenths < 12; tenths += 3) {
      std::filesystem::remove(Path("out"));
      const std::string model = Path("model"), data = Path("data"), out = Path("out");
      const pid_t child = ::fork();
      if (child == 0) {
        ::freopen("/dev/null", "w", stderr);
        ::freopen("/dev/null", "w", stdout);
        ::execl(TANDEM_BINARY, TANDEM_BINARY, "mine", "--model", model.c_str(), "--dataset",
                data.c_str(), "--positive-grade", "2", "--range", "3:20", "--output", out.c_str(),
                nullptr);
        ::_exit(127);
      }
      ::usleep(static_cast<useconds_t>(tenths) * 100000);
      ::kill(child, signal);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      if (std::filesystem::exists(Path("out"))) {
        EXPECT_EQ(ReadFile(Path("out")), bytes);
      }
    }
  }
}

}  // namespace
}  // namespace tandem

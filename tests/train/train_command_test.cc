// `tandem train` as a user runs it, on a model and a data set that are made here: the run folder,
// sameness of bytes, and resuming after any kind of end.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "app/run_tandem.h"
#include "base/files.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "model/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {
namespace {

using Contents = std::map<std::string, std::string>;

// A tiny model, a tiny data set and a recipe with every kind of event: validation, checkpoints,
// accumulation, dropout, a short last batch.
class TrainCommand : public testing::Test {
 protected:
  TrainCommand() {
    WriteTinyModel(folder_.path() / "base");
    WriteTinyData(folder_.path() / "data", TinyWords());
    WriteFileAtomically(folder_.path() / "recipe.toml", fmt::format(R"(
seed = 3
threads = 1
precision = "fp32"
[model]
base = "{0}/base"
[data]
train = "{0}/data"
positive_grade = 2
negatives = 1
[objective]
name = "infonce"
[optimizer]
learning_rate = 1e-3
[train]
batch = 5
accumulate = 2
epochs = 6
checkpoint_every = "4 steps"
[validation]
data = "{0}/data"
split = "dev"
measure = "ndcg@10"
every = "7 steps"
patience = 0
[logging]
every = 3
)",
                                                                    folder_.path().native()));
  }

  void ExpectTheSameBytesAfterKills(std::vector<std::string> longer, int rounds) const;
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  std::vector<std::string> Arguments(const std::string& output,
                                     const std::vector<std::string>& further = {}) const {
    std::vector<std::string> arguments = {"train", Path("recipe.toml"), "--output", Path(output),
                                          "--quiet"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return arguments;
  }
  ProgramResult Train(const std::string& output,
                      const std::vector<std::string>& further = {}) const {
    return RunTandem(Arguments(output, further));
  }

  // Starts a run that can be killed.
  pid_t Start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {TANDEM_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string err = Path("child.err");
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open(err.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    return child;
  }

  // Grows when a process begins its loop.
  uintmax_t TimingBytes(const std::string& output) const {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(Path(output + "/timing.jsonl"), error);
    return error ? 0 : size;
  }

  // Waits for the child's end and, `seconds` after `started` says true, brings it about; the status
  // of waitpid.
  static int KillAfter(pid_t child, double seconds, const std::function<bool()>& started) {
    std::optional<std::chrono::steady_clock::time_point> begin;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (!begin && started()) begin = std::chrono::steady_clock::now();
      if (begin &&
          std::chrono::steady_clock::now() - *begin >= std::chrono::duration<double>(seconds)) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return status;
  }

  // Every file that must be the same in two runs, by its path in the run folder.
  Contents FilesOf(const std::string& output) const {
    Contents contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Path(output))) {
      if (!entry.is_regular_file() || entry.path().filename() == "timing.jsonl") continue;
      contents[std::filesystem::relative(entry.path(), Path(output)).native()] =
          ReadFile(entry.path());
    }
    return contents;
  }

  void ExpectSameFiles(const std::string& output, const std::string& reference) const {
    const Contents got = FilesOf(output), want = FilesOf(reference);
    std::vector<std::string> got_names, want_names;
    for (const auto& [name, bytes] : got) got_names.push_back(name);
    for (const auto& [name, bytes] : want) want_names.push_back(name);
    ASSERT_EQ(got_names, want_names);
    for (const auto& [name, bytes] : want) EXPECT_TRUE(got.at(name) == bytes) << name << " differs";
  }

  TemporaryFolder folder_;
};

TEST_F(TrainCommand, WritesTheRunFolder) {
  const ProgramResult result = Train("run");
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
    if (line.contains("validation")) validated.push_back(line["step"]);
  }
  EXPECT_EQ(logged, (std::vector<int64_t>{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}));
  EXPECT_EQ(validated, (std::vector<int64_t>{7, 14, 21, 28, 30}));
  EXPECT_LT(last, first);
  EXPECT_THAT(files.at("metrics.jsonl"), testing::HasSubstr("\"finished\":true"));
}

TEST_F(TrainCommand, SameRecipeSameBytesOtherSeedOtherBytes) {
  ASSERT_EQ(Train("one").exit_code, 0);
  ASSERT_EQ(Train("deeper/down/two").exit_code, 0);
  ExpectSameFiles("deeper/down/two", "one");
  ASSERT_EQ(Train("three", {"--set", "seed=4"}).exit_code, 0);
  EXPECT_NE(FilesOf("three").at("metrics.jsonl"), FilesOf("one").at("metrics.jsonl"));
}

// Kills at random moments of the loop, at least three times in each run, and resumes.
void TrainCommand::ExpectTheSameBytesAfterKills(std::vector<std::string> longer, int rounds) const {
  longer.insert(longer.end(), {"--set", "train.epochs=30"});
  ASSERT_EQ(Train("whole", longer).exit_code, 0);
  RandomStream stream({20, "kill"});
  double most_seconds = 0.6;  // from the loop's start to a kill; less where runs end before
  for (int round = 0, done = 0; done < rounds; ++round) {
    ASSERT_LT(round, 40) << "runs end before they can be killed";
    const std::string output = fmt::format("killed{}", round);
    int kills = 0;
    for (bool ended = false; !ended;) {
      std::vector<std::string> arguments = Arguments(output, longer);
      if (std::filesystem::exists(Path(output))) arguments.push_back("--resume");
      const uintmax_t before = TimingBytes(output);
      const pid_t child = Start(arguments);
      const double wait = kills < 8 ? most_seconds * stream.Uniform() : 1e9;
      const int status = KillAfter(child, wait, [&] { return TimingBytes(output) > before; });
      ended = WIFEXITED(status);
      kills += !ended;
      if (ended) {
        ASSERT_EQ(WEXITSTATUS(status), 0) << ReadFile(Path("child.err"));
      }
    }
    ExpectSameFiles(output, "whole");
    if (kills >= 3) {
      ++done;
    } else {
      most_seconds *= 0.7;
    }
  }
}

TEST_F(TrainCommand, KilledAtAnyMomentEndsInTheSameBytes) { ExpectTheSameBytesAfterKills({}, 4); }

// The score bank goes on where it was.
TEST_F(TrainCommand, KilledAtAnyMomentEndsInTheSameBytesWithABank) {
  ExpectTheSameBytesAfterKills({"--set", "objective.name=mann_whitney", "--set",
                                "objective.bank=300", "--set", "objective.bank_max_age=5"},
                               1);
  const std::string metrics = FilesOf("whole").at("metrics.jsonl");
  EXPECT_NE(metrics.find("\"bank_negatives\":300"), std::string::npos) << metrics;
}

// So do what is learned beside the model, its optimizer, and the file that keeps it.
TEST_F(TrainCommand, KilledAtAnyMomentEndsInTheSameBytesWithALearnedBias) {
  ExpectTheSameBytesAfterKills({"--set", "objective.name=bixse", "--set",
                                "objective.learn_scale=true", "--set", "data.grade_scale=[0,2]"},
                               1);
  const Contents files = FilesOf("whole");
  const auto numbers = nlohmann::json::parse(files.at("model/tandem.json")).at("probability");
  EXPECT_NE(numbers.at("scale").get<double>(), 20);
  EXPECT_NE(files.at("metrics.jsonl").find("\"objective\":{\"scale\":"), std::string::npos);
  EXPECT_EQ(numbers.at("similarity"), "cosine");
}

TEST_F(TrainCommand, SignalsSaveAndExitWithTheirCode) {
  // Long enough to be met while it runs.
  const std::vector<std::string> longer = {"--set", "train.epochs=60"};
  ASSERT_EQ(Train("whole", longer).exit_code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string output = fmt::format("stopped{}", signal);
    const pid_t child =
        Start(Arguments(output, {"--set", "train.checkpoint_every=0", "--set", "train.epochs=60"}));
    // The first line of metrics says that the loop is running.
    for (int i = 0; i < 6000; ++i) {
      const std::filesystem::path metrics = Path(output + "/metrics.jsonl");
      if (std::filesystem::exists(metrics) && std::filesystem::file_size(metrics) > 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(child, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    EXPECT_THAT(ReadFile(Path("child.err")),
                testing::HasSubstr("is saved, continue with --resume"));
    const ProgramResult resumed = Train(output, {"--resume", longer[0], longer[1]});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    const Contents got = FilesOf(output), want = FilesOf("whole");
    for (const char* name : {"metrics.jsonl", "model/model.safetensors",
                             "checkpoints/step-00000300/optimizer.safetensors"}) {
      EXPECT_TRUE(got.at(name) == want.at(name)) << name;
    }
  }
}

TEST_F(TrainCommand, PatienceStopsEarlyAndTheBestModelIsKept) {
  // A rate at which the model gets worse.
  const ProgramResult result =
      Train("run", {"--set", "optimizer.learning_rate=0.3", "--set", "validation.patience=2",
                    "--set", "validation.every=\"2 steps\"", "--set", "train.epochs=40"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Contents files = FilesOf("run");
  nlohmann::json best, last;
  int worse = 0;
  std::istringstream lines(files.at("metrics.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line.contains("validation")) {
      worse = line["best"] ? 0 : worse + 1;
      if (line["best"]) best = line;
    }
    last = line;
  }
  EXPECT_EQ(worse, 2);
  EXPECT_LT(last["step"], 200);
  EXPECT_EQ(last["model_step"], best["step"]);
  EXPECT_EQ(last["ndcg@10"], best["validation"]["ndcg@10"]);
  const std::string weights =
      files.at(fmt::format("checkpoints/best-{:08}/weights.safetensors", best["step"].get<int>()));
  const auto embedding = weights.substr(weights.size() - 64);
  EXPECT_NE(files.at("model/model.safetensors").find(embedding), std::string::npos);
  const ProgramResult again = Train(
      "run", {"--resume", "--set", "optimizer.learning_rate=0.3", "--set", "validation.patience=2",
              "--set", "validation.every=\"2 steps\"", "--set", "train.epochs=40"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(FilesOf("run"), files);
}

TEST_F(TrainCommand, ValidatesByLossAndHoldout) {
  const ProgramResult result = RunTandem({"train", Path("recipe.toml"), "--output", Path("run"),
                                          "--set", "validation.holdout=\"20%\"", "--set",
                                          "validation.measure=loss", "--set", "train.epochs=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("training on 38 queries"));
  EXPECT_THAT(FilesOf("run").at("metrics.jsonl"), testing::HasSubstr("\"validation\":{\"loss\":"));
}

TEST_F(TrainCommand, ValidatesByAuc) {
  const ProgramResult result =
      Train("run", {"--set", "validation.measure=auc", "--set", "train.epochs=1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(FilesOf("run").at("metrics.jsonl"), testing::HasSubstr("\"validation\":{\"auc\":"));
}

TEST_F(TrainCommand, CheckReadsEverythingAndWritesNothing) {
  const ProgramResult result = Train("run", {"--check", "--set", "model.max_document_tokens=8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* text :
       {"training queries: 48\n", "positives: 48\n", "documents in the corpus: 60\n",
        "validation: ndcg@10 on 16 queries, every 7 steps\n", "truncated at 8\n", "memory: about ",
        "for 30 steps, from one timed step of "}) {
    EXPECT_THAT(result.out, testing::HasSubstr(text));
  }
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(TrainCommand, ProfileSaysWhereTheTimeWentAndChangesNothing) {
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
  EXPECT_THAT(wrong.err, testing::HasSubstr("TANDEM_FORMS is fused or reference, not other"));
  const std::string fused_metrics = FilesOf("fused").at("metrics.jsonl");
  const std::string reference_metrics = FilesOf("reference").at("metrics.jsonl");
  EXPECT_NE(fused_metrics, reference_metrics);  // another order of sums
  const std::vector<double> fused = LossesOf(fused_metrics);
  const std::vector<double> reference = LossesOf(reference_metrics);
  ASSERT_EQ(fused.size(), reference.size());
  for (size_t i = 0; i < fused.size(); ++i) EXPECT_NEAR(fused[i], reference[i], 1e-3) << i;
}

TEST_F(TrainCommand, ProfileStepsWritesNothing) {
  const ProgramResult result = Train("run", {"--profile-steps", "3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::StartsWith("profile of 3 steps (fp32, 1 threads, "));
  EXPECT_THAT(result.out, testing::HasSubstr("FeedForwardNorm backward"));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
  EXPECT_EQ(Train("run", {"--profile-steps", "3", "--resume"}).exit_code, 2);
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

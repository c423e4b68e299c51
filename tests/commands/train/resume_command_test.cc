// `tandem train` is ended from outside and resumed, and leaves the bytes of an untouched run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

class ResumeCommand : public EventfulRunTest {
 protected:
  void ExpectTheSameBytesAfterKills(std::vector<std::string> longer, int rounds) const;
  void ExpectModelSoFar(const std::string& output, const std::string& err) const;
  int SignalInTheLoop(const std::string& output, const std::vector<std::string>& arguments,
                      int signal) const;

  // The pause between two looks at a child; no result depends on its length.
  static void Poll() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

  // Starts a run that can be killed.
  pid_t Start(const std::vector<std::string>& arguments) const {
    return StartTandem(arguments, {.err = Path("child.err")});
  }

  // Starts a run and waits until it trains.
  pid_t StartAndWait(const std::vector<std::string>& arguments, const std::string& output) const {
    const uintmax_t before = TimingBytes(output);
    const pid_t child = Start(arguments);
    while (TimingBytes(output) == before && ::waitpid(child, nullptr, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return child;
  }

  static void Kill(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  // The size of timing.jsonl, which grows when a process begins its loop.
  uintmax_t TimingBytes(const std::string& output) const {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(Path(output + "/timing.jsonl"), error);
    return error ? 0 : size;
  }

  // Waits until the child ends, and kills it `seconds` after `started` first returned true. Returns
  // the status of waitpid.
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
      Poll();
    }
    return status;
  }
};

// Kills at random moments of the loop, at least three times in each run, and resumes.
void ResumeCommand::ExpectTheSameBytesAfterKills(std::vector<std::string> longer,
                                                 int rounds) const {
  longer.insert(longer.end(), {"--set", "train.epochs=30", "--set", "train.keep_checkpoints=2"});
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

TEST_F(ResumeCommand, KilledAtAnyMomentEndsInTheSameBytes) { ExpectTheSameBytesAfterKills({}, 4); }

// The score bank continues where it was.
TEST_F(ResumeCommand, KilledAtAnyMomentEndsInTheSameBytesWithABank) {
  ExpectTheSameBytesAfterKills({"--set", "objective.name=mann_whitney", "--set",
                                "objective.bank=300", "--set", "objective.bank_max_age=5"},
                               1);
  const std::string metrics = FilesOf("whole").at("metrics.jsonl");
  EXPECT_NE(metrics.find("\"objective_bank_negatives\":300"), std::string::npos) << metrics;
}

// What was mined is in the checkpoints, and a round that was cut short is mined again.
TEST_F(ResumeCommand, KilledAtAnyMomentEndsInTheSameBytesWithMining) {
  ExpectTheSameBytesAfterKills({"--set", "mining.every=3 steps", "--set", "mining.range=0:30",
                                "--set", "mining.negatives=4", "--set", "mining.random=true"},
                               2);
  EXPECT_THAT(FilesOf("whole").at("metrics.jsonl"), testing::HasSubstr("\"mining_round\":49,"));
}

// So do the learned scale and bias, their optimizer, and the file that they are saved in.
TEST_F(ResumeCommand, KilledAtAnyMomentEndsInTheSameBytesWithALearnedBias) {
  ExpectTheSameBytesAfterKills({"--set", "objective.name=bixse", "--set",
                                "objective.learn_scale=true", "--set", "data.grade_scale=[0,2]"},
                               1);
  const Contents files = FilesOf("whole");
  const auto numbers = nlohmann::json::parse(files.at("model/tandem.json")).at("probability");
  EXPECT_NE(numbers.at("scale").get<double>(), 20);
  EXPECT_NE(files.at("metrics.jsonl").find("\"objective_scale\":"), std::string::npos);
  EXPECT_EQ(numbers.at("similarity"), "cosine");
}

// Starts a run and sends `signal` once it has made a step. Returns the status of waitpid.
int ResumeCommand::SignalInTheLoop(const std::string& output,
                                   const std::vector<std::string>& arguments, int signal) const {
  const pid_t child = Start(Arguments(output, arguments));
  // The first line of metrics is the validation before the first step.
  const std::filesystem::path metrics = Path(output + "/metrics.jsonl");
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::filesystem::exists(metrics) &&
        ReadFile(metrics).find("gradient_norm") != std::string::npos) {
      ::kill(child, signal);
      ::waitpid(child, &status, 0);
      break;
    }
    Poll();
  }
  return status;
}

// A stopped run has the model of its best validation until then, which is not that of a finished
// run.
void ResumeCommand::ExpectModelSoFar(const std::string& output, const std::string& err) const {
  std::smatch said;
  ASSERT_TRUE(std::regex_search(
      err, said,
      std::regex("/model is the model so far, (?:the best, of step [0-9]+|the base model, since "
                 "no step was better|the base model, since no step has been validated yet), "
                 "ndcg@10 ([0-9.]+) on data, split dev")))
      << err;
  EXPECT_THAT(ReadFile(Path(output + "/metrics.jsonl")),
              testing::Not(testing::HasSubstr("finished")));
  // Its folder says so wherever it is taken.
  const ProgramResult inspected = RunTandem({"inspect", Path(output + "/model")});
  EXPECT_THAT(inspected.out, testing::ContainsRegex("stopped +at step [0-9]+ of [0-9]+; the run is "
                                                    "not finished"));
  EXPECT_THAT(ReadFile(Path(output + "/model/README.md")),
              testing::ContainsRegex("\\| stopped \\| at step [0-9]+ of [0-9]+; the run is not "
                                     "finished \\|"));
  const ProgramResult measured =
      RunTandem({"evaluate", "--model", Path(output + "/model"), "--dataset", Path("data"),
                 "--split", "dev", "--measures", "ndcg@10", "--no-cache"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_THAT(measured.out, testing::HasSubstr(said[1].str()));
}

TEST_F(ResumeCommand, SignalsSaveAndExitWithTheirCode) {
  const std::vector<std::string> longer = {"--set", "train.epochs=60", "--set",
                                           "train.keep_checkpoints=2"};
  ASSERT_EQ(Train("whole", longer).exit_code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    // On a busy machine a run may end before the signal comes; then another one is started.
    std::string output;
    int status = 0;
    for (int attempt = 0; WIFEXITED(status) && WEXITSTATUS(status) == 0; ++attempt) {
      ASSERT_LT(attempt, 20) << "runs end before a signal reaches them";
      output = fmt::format("stopped{}-{}", signal, attempt);
      std::vector<std::string> begun = {"--set", "train.checkpoint_every=0"};
      begun.insert(begun.end(), longer.begin(), longer.end());
      status = SignalInTheLoop(output, begun, signal);
    }
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    EXPECT_THAT(ReadFile(Path("child.err")),
                testing::HasSubstr("is saved, continue with --resume"));
    ExpectModelSoFar(output, ReadFile(Path("child.err")));
    std::vector<std::string> again = longer;
    again.push_back("--resume");
    const ProgramResult resumed = Train(output, again);
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    const Contents got = FilesOf(output), want = FilesOf("whole");
    EXPECT_EQ(got.at("model/tandem.json"), want.at("model/tandem.json"));
    EXPECT_EQ(got.at("model/tandem.json").find("stopped"), std::string::npos);
    for (const char* name : {"metrics.jsonl", "model/model.safetensors",
                             "checkpoints/step-00000300/optimizer.safetensors"}) {
      EXPECT_TRUE(got.at(name) == want.at(name)) << name;
    }
  }
}

// A later kill leaves no model that is taken for the best of the run.
TEST_F(ResumeCommand, ARunThatGoesOnHasNotTheModelOfItsStop) {
  const std::vector<std::string> longer = {"--set", "train.epochs=3000"};
  const int status = SignalInTheLoop("run", longer, SIGTERM);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  EXPECT_TRUE(std::filesystem::exists(Path("run/model")));
  Kill(StartAndWait(Arguments("run", {"--resume", "--set", "train.epochs=3000"}), "run"));
  EXPECT_FALSE(std::filesystem::exists(Path("run/model")));
}

// Neither a second --resume nor a second start; what a killed process held is free at once.
TEST_F(ResumeCommand, OneProcessAtATimeTrainsInARunFolder) {
  const std::vector<std::string> longer = {"--set", "train.epochs=3000"};
  const pid_t first = StartAndWait(Arguments("run", longer), "run");
  const std::string holder = fmt::format("process {} on ", first);
  for (const bool resume : {true, false}) {
    std::vector<std::string> further = longer;
    if (resume) further.push_back("--resume");
    const ProgramResult second = Train("run", further);
    EXPECT_EQ(second.exit_code, 2) << second.err;
    EXPECT_THAT(second.err, testing::HasSubstr(holder));
    EXPECT_THAT(second.err, testing::HasSubstr("is training in this folder"));
  }
  Kill(first);
  const pid_t again =
      StartAndWait(Arguments("run", {"--resume", "--set", "train.epochs=3000"}), "run");
  EXPECT_THAT(ReadFile(Path("run/run.lock")),
              testing::StartsWith(fmt::format("process {} on ", again)));
  Kill(again);
}

// Of two that start at the same time, neither of which finds a folder, one trains.
TEST_F(ResumeCommand, OfTwoThatStartTogetherOneTrains) {
  const std::vector<std::string> arguments = Arguments("run", {"--set", "train.epochs=3000"});
  const pid_t children[] = {Start(arguments), Start(arguments)};
  int status = 0;
  const pid_t refused = ::wait(&status);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const pid_t trains = refused == children[0] ? children[1] : children[0];
  EXPECT_THAT(ReadFile(Path("run/run.lock")),
              testing::StartsWith(fmt::format("process {} on ", trains)));
  Kill(trains);
}

// A run that improves at each step keeps two models beside its checkpoints, not one for each step.
TEST_F(ResumeCommand, BestWeightsDoNotPileUpBetweenCheckpoints) {
  const std::vector<std::string> improving = {
      "--set", "validation.holdout=\"20%\"",   "--set", "validation.measure=loss",
      "--set", "validation.every=\"1 steps\"", "--set", "train.checkpoint_every=\"100 steps\"",
      "--set", "optimizer.learning_rate=2e-5", "--set", "train.steps=120"};
  ASSERT_EQ(Train("whole", improving).exit_code, 0);
  const pid_t child = Start(Arguments("run", improving));
  const auto folders = [this] {
    int bests = 0;
    std::error_code none_yet;
    for (const auto& entry :
         std::filesystem::directory_iterator(Path("run/checkpoints"), none_yet)) {
      bests += entry.path().filename().native().starts_with("best-");
    }
    return bests;
  };
  int most = 0;
  const auto improved = [this] {
    return std::filesystem::exists(Path("run/metrics.jsonl")) &&
           ReadFile(Path("run/metrics.jsonl")).find("{\"event\":\"validation\",\"step\":60,") !=
               std::string::npos;
  };
  while (!improved() && ::waitpid(child, nullptr, WNOHANG) == 0) most = std::max(most, folders());
  Kill(child);
  EXPECT_LE(most, 3);  // the third is being removed
  EXPECT_LE(folders(), 3);
  std::vector<std::string> resumed = improving;
  resumed.push_back("--resume");
  ASSERT_EQ(Train("run", resumed).exit_code, 0);
  ExpectSameFiles("run", "whole");
}

}  // namespace
}  // namespace tandem

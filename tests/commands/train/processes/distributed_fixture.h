// Several processes of `tandem train` that train a tiny model together.
#pragma once

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "commands/train/run_fixture.h"
#include "support/free_port.h"

namespace tandem {

using EnvironmentVariables = std::map<std::string, std::string>;

class DistributedTest : public EventfulRunTest {
 protected:
  // What a person sets by hand.
  static EnvironmentVariables RankVariables(int rank, int ranks, int port) {
    return {{"RANK", fmt::format("{}", rank)},
            {"WORLD_SIZE", fmt::format("{}", ranks)},
            {"MASTER_ADDR", "127.0.0.1"},
            {"MASTER_PORT", fmt::format("{}", port)}};
  }

  // Starts a process, whose outputs go to files of its number among those started.
  void StartCommand(const EnvironmentVariables& variables,
                    const std::vector<std::string>& arguments) {
    const size_t number = children_.size();
    children_.push_back(StartTandem(
        arguments,
        {.out = Path(fmt::format("{}.out", number)), .err = Path(fmt::format("{}.err", number))},
        variables));
  }
  // Starts a process of `tandem train`.
  void Start(const EnvironmentVariables& variables, const std::string& output,
             const std::vector<std::string>& further) {
    StartCommand(variables, Arguments(output, further));
  }
  // Runs any command as `ranks` processes; returns what each wrote.
  std::vector<ProgramResult> RunTogether(int ranks, const std::vector<std::string>& arguments) {
    const int port = FreePort();
    for (int rank = 0; rank < ranks; ++rank) {
      StartCommand(RankVariables(rank, ranks, port), arguments);
    }
    return WaitForAll();
  }
  // `variables`: besides those of each rank.
  void StartRanks(int ranks, const std::string& output, const std::vector<std::string>& further,
                  const EnvironmentVariables& variables = {}) {
    const int port = FreePort();
    for (int rank = 0; rank < ranks; ++rank) {
      EnvironmentVariables all = RankVariables(rank, ranks, port);
      all.insert(variables.begin(), variables.end());
      Start(all, output, further);
    }
  }

  // Waits for one of the started processes.
  ProgramResult WaitFor(size_t number) {
    int status = 0;
    EXPECT_EQ(::waitpid(children_[number], &status, 0), children_[number]);
    children_[number] = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            ReadFile(Path(fmt::format("{}.out", number))),
            ReadFile(Path(fmt::format("{}.err", number)))};
  }
  // Waits for all of them; more can be started after that.
  std::vector<ProgramResult> WaitForAll() {
    std::vector<ProgramResult> results;
    for (size_t i = 0; i < children_.size(); ++i) {
      if (children_[i] != 0) results.push_back(WaitFor(i));
    }
    children_.clear();
    return results;
  }
  void TrainTogether(int ranks, const std::string& output,
                     const std::vector<std::string>& further = {},
                     const EnvironmentVariables& variables = {}) {
    StartRanks(ranks, output, further, variables);
    for (const ProgramResult& result : WaitForAll()) ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  // Waits until the run of the `ranks` processes that were started last has made a step. False
  // where one of them ended before.
  bool WaitForAStep(const std::string& output, int ranks) const {
    const std::filesystem::path metrics = Path(output + "/metrics.jsonl");
    while (!std::filesystem::exists(metrics) ||
           ReadFile(metrics).find("gradient_norm") == std::string::npos) {
      for (auto child = children_.end() - ranks; child != children_.end(); ++child) {
        siginfo_t info{};
        if (::waitid(P_PID, static_cast<id_t>(*child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != 0) {
          return false;
        }
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
  }

  void TearDown() override {
    for (size_t i = 0; i < children_.size(); ++i) {
      if (children_[i] == 0) continue;
      ::kill(children_[i], SIGKILL);
      WaitFor(i);
    }
  }

  std::vector<pid_t> children_;  // 0: it was waited for
};

}  // namespace tandem

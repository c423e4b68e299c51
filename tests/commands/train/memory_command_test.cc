// What `tandem train --check` says of memory and disk against what a run then takes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"
#include "support/test_data.h"

namespace tandem {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

class MemoryCommand : public RunTest {
 protected:
  // Long documents: activations are a good part of the memory.
  MemoryCommand()
      : RunTest(kQuickRecipe + R"(
positive_grade = 2
negatives = 1
[train]
batch = 16
steps = 4
checkpoint_every = "2 steps"
keep_checkpoints = 2
[validation]
data = "{0}/data"
split = "dev"
measure = "ndcg@10"
every = "2 steps"
patience = 0
)") {
    WriteTinyData(folder_.path() / "data", TinyWords(), {.documents = 150, .words = 50});
    WriteTinyModel(folder_.path() / "base",
                   {.hidden = 256, .heads = 4, .intermediate = 1024, .layers = 4});
  }

  // The most memory that a run of these arguments holds.
  double PeakMebibytes(const std::vector<std::string>& arguments) const {
    const pid_t child = StartTandem(arguments);
    int status = 0;
    struct rusage usage {};
    EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
  }

  static double NumberBehind(const std::string& text, const std::string& pattern) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex(pattern))) return std::stod(match[1]);
    ADD_FAILURE() << pattern << " is not in\n" << text;
    return 0;
  }

  void ExpectSaidIsTaken(const std::vector<std::string>& further) const {
    for (const char* optimizer : {"adamw", "adafactor"}) {
      std::vector<std::string> arguments = further;
      arguments.insert(arguments.end(),
                       {"--quiet", "--set", fmt::format("optimizer.name={}", optimizer)});
      if (std::string_view(optimizer) == "adafactor") {
        arguments.insert(arguments.end(), {"--set", "optimizer.clip=0"});
      }
      std::vector<std::string> check = {"train", Path("recipe.toml"), "--check"};
      check.insert(check.end(), arguments.begin(), arguments.end());
      const ProgramResult said = RunTandem(check);
      ASSERT_EQ(said.exit_code, 0) << said.err;
      const double taken = PeakMebibytes(Arguments(optimizer, arguments));
      const double expected = NumberBehind(said.out, "memory: about ([0-9]+) MiB resident");
      EXPECT_NEAR(expected / taken, 1, 0.1) << optimizer << ", taken " << taken << "\n" << said.out;
      RecordProperty(optimizer, fmt::format("said {:.0f} taken {:.0f}", expected, taken));
      ExpectTensors(said.out, optimizer);
    }
  }

  // Bytes of the tensors that the run wrote are those that --check has counted.
  void ExpectTensors(const std::string& said, const std::string& run) const {
    const auto last = Path(run + "/checkpoints/step-00000004/");
    const auto size = [&](const char* name) {
      return static_cast<double>(std::filesystem::file_size(last + name)) / kMebibyte;
    };
    constexpr double kHeader = 0.1;  // names and shapes
    EXPECT_NEAR(NumberBehind(said, "parameters +([0-9.]+) MiB"), size("weights.safetensors"),
                kHeader);
    EXPECT_NEAR(NumberBehind(said, "optimizer's state +([0-9.]+) MiB"),
                size("optimizer.safetensors"), kHeader);
    uintmax_t folder = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Path(run))) {
      if (entry.is_regular_file()) folder += entry.file_size();
    }
    EXPECT_LE(static_cast<double>(folder) / kMebibyte,
              NumberBehind(said, "disk: at most ([0-9.]+) MiB") + 1);
  }
};

TEST_F(MemoryCommand, WhatCheckSaysIsTakenBySmallModels) { ExpectSaidIsTaken({}); }

TEST_F(MemoryCommand, WhatCheckSaysIsTakenByTwoTowers) {
  ExpectSaidIsTaken({"--set", "model.towers=separate"});
}

// Most rows of its vocabulary have no text here: their moments take no memory.
TEST_F(MemoryCommand, WhatCheckSaysIsTakenByARealModel) {
  const auto folder = ModelDir();
  if (!folder) GTEST_SKIP() << kNoModelDir;
  ExpectSaidIsTaken({"--set", fmt::format("model.base={}", folder->native())});
}

}  // namespace
}  // namespace tandem

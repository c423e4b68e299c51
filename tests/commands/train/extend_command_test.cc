// `tandem train --resume` with more steps: a run becomes longer where its schedule allows it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class ExtendCommand : public EventfulRunTest {
 protected:
  // Under the schedule that allows it; 48 queries make 5 steps a pass.
  ProgramResult TrainConstant(const std::string& output, std::vector<std::string> further) const {
    further.insert(further.end(), {"--set", "schedule.name=constant"});
    return Train(output, further);
  }
};

// Where the first end falls on a line of metrics, a validation and a checkpoint, and where it does
// not: the run goes back to the checkpoint before then. The best weights of that one are there
// although a later validation was better.
TEST_F(ExtendCommand, ALongerRunEndsInTheBytesOfOneThatWasThatLong) {
  const std::vector<std::string> numbers = {"--set", "schedule.warmup=\"3 steps\""};
  const auto with = [&](const std::string& length, bool resume) {
    std::vector<std::string> flags = numbers;
    flags.insert(flags.end(), {"--set", length});
    if (resume) flags.push_back("--resume");
    return flags;
  };
  ASSERT_EQ(TrainConstant("whole", with("train.steps=45", false)).exit_code, 0);
  for (const char* first : {"train.steps=30", "train.steps=42", "train.steps=22"}) {
    const std::string output = first;
    ASSERT_EQ(TrainConstant(output, with(first, false)).exit_code, 0);
    const ProgramResult longer = TrainConstant(output, with("train.steps=45", true));
    ASSERT_EQ(longer.exit_code, 0) << longer.err;
    EXPECT_THAT(longer.err, testing::Not(HasSubstr("goes on from its end")));
    ExpectSameFiles(output, "whole");
  }
  // Then it is finished at its new end.
  const ProgramResult again = TrainConstant("train.steps=30", with("train.steps=45", true));
  EXPECT_THAT(again.err, HasSubstr("this run is finished"));
}

// Shares of the first length become numbers of steps.
TEST_F(ExtendCommand, SharesStayTheNumbersOfStepsThatTheyWere) {
  const auto with = [](const std::string& steps, const std::string& every) {
    return std::vector<std::string>{"--set", "train.epochs=" + steps,
                                    "--set", "schedule.warmup=\"" + every + "\"",
                                    "--set", "train.checkpoint_every=\"" + every + "\"",
                                    "--set", "validation.every=\"" + every + "\""};
  };
  ASSERT_EQ(TrainConstant("whole", with("6", "2 steps")).exit_code, 0);
  ASSERT_EQ(TrainConstant("run", with("4", "10%")).exit_code, 0);
  std::vector<std::string> longer = with("6", "10%");
  longer.push_back("--resume");
  const ProgramResult result = TrainConstant("run", longer);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ExpectSameFiles("run", "whole");
  // The same command again compares with numbers now.
  const ProgramResult again = TrainConstant("run", longer);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("schedule.warmup stays 2 steps"));
}

TEST_F(ExtendCommand, KilledWhileItBecomesLonger) {
  const std::vector<std::string> first = {"--set", "train.steps=22"};
  const std::vector<std::string> whole = {"--set", "train.steps=300", "--set",
                                          "schedule.warmup=\"1 steps\""};
  ASSERT_EQ(TrainConstant("whole", whole).exit_code, 0);
  ASSERT_EQ(TrainConstant("run", first).exit_code, 0);
  const pid_t child =
      StartTandem(Arguments("run", {"--resume", "--quiet", "--set", "train.steps=300", "--set",
                                    "schedule.name=constant"}));
  const std::filesystem::path behind_the_end = Path("run/checkpoints/step-00000032");
  while (!std::filesystem::exists(behind_the_end) && ::waitpid(child, nullptr, WNOHANG) == 0) {
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  // Its model is that of the first end, and does not count as the end of the longer run.
  EXPECT_TRUE(std::filesystem::exists(Path("run/model")));
  const ProgramResult result = TrainConstant("run", {"--resume", "--set", "train.steps=300"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, testing::Not(HasSubstr("this run is finished")));
  ExpectSameFiles("run", "whole");
}

TEST_F(ExtendCommand, WhatCannotBecomeLongerSaysWhy) {
  ASSERT_EQ(Train("run", {"--set", "train.steps=10"}).exit_code, 0);
  const Contents before = FilesOf("run");
  const ProgramResult linear = Train("run", {"--resume", "--set", "train.steps=20"});
  EXPECT_EQ(linear.exit_code, 2);
  EXPECT_THAT(
      linear.err,
      HasSubstr("train.steps makes a run of 20 steps of the 10 that it was started with, but "
                "its schedule linear spreads the learning rate over the whole run"));
  EXPECT_THAT(linear.err, HasSubstr("Only a run with schedule.name = \"constant\""));
  const ProgramResult shorter = Train("run", {"--resume", "--set", "train.steps=5"});
  EXPECT_EQ(shorter.exit_code, 2);
  EXPECT_THAT(shorter.err, HasSubstr("train.steps differs from what the run in"));
  EXPECT_EQ(FilesOf("run"), before);
  // One that has stopped early.
  const std::vector<std::string> early = {
      "--set", "optimizer.learning_rate=0.3",  "--set", "validation.patience=1",
      "--set", "validation.every=\"2 steps\"", "--set", "train.steps=60"};
  ASSERT_EQ(TrainConstant("early", early).exit_code, 0);
  std::vector<std::string> longer = early;
  longer.back() = "train.steps=80";
  longer.push_back("--resume");
  const ProgramResult stopped = TrainConstant("early", longer);
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_THAT(stopped.err, HasSubstr("a longer one would have stopped there too"));
}

// Relative paths are cut as absolute ones are, and each process says its version.
TEST_F(ExtendCommand, TheFolderKeepsTheRecipeAsItWasGivenAndResolved) {
  std::filesystem::create_directories(Path("deep/er"));
  const auto elsewhere = std::filesystem::relative(Path("base")).native() + "/.";
  const ProgramResult result =
      Train("run", {"--set", "model.base=" + elsewhere, "--set", "train.steps=2", "--seed", "7"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string resolved = ReadFile(Path("run/recipe.resolved.toml"));
  EXPECT_THAT(resolved, HasSubstr("base = \"base\"\n"));
  EXPECT_THAT(resolved, HasSubstr("train = \"data\"\n"));
  EXPECT_THAT(resolved, HasSubstr("seed = 7\n"));
  const std::string version = RunTandem({"--version"}).out;
  const std::string name = version.substr(0, version.find('\n'));  // "tandem 0.1.0"
  EXPECT_THAT(resolved, HasSubstr("computed by " + name + " on "));
  const std::string given = ReadFile(Path("run/recipe.given.toml"));
  EXPECT_THAT(given, testing::StartsWith(fmt::format(
                         "# {0} as it was given to {1}.\n# On the command line, over it:\n"
                         "#   --set model.base={2}\n#   --set train.steps=2\n#   --seed 7\n\n",
                         Path("recipe.toml"), name, elsewhere)));
  EXPECT_THAT(given, testing::EndsWith(ReadFile(Path("recipe.toml"))));
  const std::string timing = ReadFile(Path("run/timing.jsonl"));
  EXPECT_THAT(timing,
              testing::StartsWith("{\"event\":\"start\",\"version\":\"" + name.substr(7) + "\","));
  // Some time, which can be so little that it is written as 9.1e-05.
  EXPECT_THAT(timing, testing::ContainsRegex("\"read_seconds\":[0-9.]*[1-9]"));
  EXPECT_THAT(timing, testing::ContainsRegex("\"tokenise_seconds\":[0-9.]*[1-9]"));
}

}  // namespace
}  // namespace tandem

// `tandem train --resume` with more steps: a run becomes longer where its schedule allows it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
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

// The names in the folder of checkpoints, and of the files in the last one.
TEST_F(ExtendCommand, AFinishedRunKeepsWhatALongerOneGoesOnFrom) {
  const auto names = [&](const std::string& folder) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(Path(folder))) {
      found.push_back(entry.path().filename());
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  using Names = std::vector<std::string>;
  // The default schedule is linear: nothing goes on from it.
  ASSERT_EQ(Train("linear", {"--set", "train.steps=30"}).exit_code, 0);
  EXPECT_EQ(names("linear/checkpoints"), Names{"step-00000030"});
  EXPECT_EQ(names("linear/checkpoints/step-00000030"), Names{"state.json"});
  const ProgramResult again = Train("linear", {"--resume", "--set", "train.steps=30"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("this run is finished"));
  // A longer one would have no validation at 30: it goes on from 28.
  ASSERT_EQ(TrainConstant("run", {"--set", "train.steps=30"}).exit_code, 0);
  const Names kept = names("run/checkpoints");
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_THAT(kept[0], testing::StartsWith("best-"));
  EXPECT_EQ(kept[1], "step-00000028");
  EXPECT_EQ(kept[2], "step-00000030");
  EXPECT_EQ(names("run/checkpoints/step-00000030"), Names{"state.json"});
  EXPECT_EQ(names("run/checkpoints/step-00000028"),
            (Names{"optimizer.safetensors", "state.json", "weights.safetensors"}));
  // At 42 everything is due anyway.
  ASSERT_EQ(TrainConstant("even", {"--set", "train.steps=42"}).exit_code, 0);
  EXPECT_EQ(names("even/checkpoints").back(), "step-00000042");
  EXPECT_EQ(names("even/checkpoints").size(), 2U);
  EXPECT_EQ(names("even/checkpoints/step-00000042").size(), 3U);
  // As if it had been killed while it dropped them.
  std::filesystem::create_directory(Path("even/checkpoints/step-00000040"));
  std::filesystem::copy(Path("even/checkpoints/step-00000042/state.json"),
                        Path("even/checkpoints/step-00000040/state.json"));
  EXPECT_EQ(TrainConstant("even", {"--resume", "--set", "train.steps=42"}).exit_code, 0);
  EXPECT_EQ(names("even/checkpoints").size(), 2U);
  // A number says how many stay.
  ASSERT_EQ(
      Train("two", {"--set", "train.steps=30", "--set", "train.keep_checkpoints=2"}).exit_code, 0);
  EXPECT_EQ(names("two/checkpoints/step-00000028").size(), 3U);
  EXPECT_EQ(names("two/checkpoints/step-00000030").size(), 3U);
}

TEST_F(ExtendCommand, AFinishedRunWithoutItsModelSaysThatItCannotGoOn) {
  ASSERT_EQ(Train("run", {"--set", "train.steps=10"}).exit_code, 0);
  std::filesystem::remove_all(Path("run/model"));
  const ProgramResult result = Train("run", {"--resume", "--set", "train.steps=10"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("step-00000010: has no weights: the run was finished and "
                                    "dropped them (train.keep_checkpoints)"));
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

// Step 40 of 47 does not validate where 85 % are 40 steps, since the last one does; of more steps
// it does, so that the run goes on from there and not from step 45.
TEST_F(ExtendCommand, HasTheValidationThatItsFirstEndLeftOut) {
  const auto with = [](const std::string& steps, const std::string& every) {
    return std::vector<std::string>{"--set", "train.steps=" + steps,
                                    "--set", "train.checkpoint_every=\"5 steps\"",
                                    "--set", "validation.every=\"" + every + "\"",
                                    "--set", "train.keep_checkpoints=3",
                                    "--set", "schedule.warmup=\"2 steps\""};
  };
  ASSERT_EQ(TrainConstant("whole", with("60", "40 steps")).exit_code, 0);
  ASSERT_EQ(TrainConstant("run", with("47", "85%")).exit_code, 0);
  EXPECT_THAT(FilesOf("run").at("metrics.jsonl"),
              testing::Not(HasSubstr("{\"event\":\"validation\",\"step\":40,")));
  std::vector<std::string> longer = with("60", "85%");
  longer.push_back("--resume");
  const ProgramResult result = TrainConstant("run", longer);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ExpectSameFiles("run", "whole");
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
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSIGNALED(status)) GTEST_SKIP() << "it ended before it could be killed";
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

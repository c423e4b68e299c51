#include "train/run/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"

namespace tandem::train {
namespace {

std::set<std::string> Names(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().native());
  }
  return names;
}

void MakeCheckpoint(const RunFolder& folder, int64_t step, int64_t best) {
  std::filesystem::create_directories(folder.Checkpoint(step));
  const nlohmann::json state = {{"loop", {{"best_step", best}}}};
  WriteFileAtomically(folder.Checkpoint(step) / "state.json", state.dump());
}

TEST(RunFolder, UsableOnlyAsAsked) {
  const TemporaryFolder temporary;
  const auto path = temporary.path() / "run";
  RunFolder(path).CheckUsable(false);
  ExpectError([&] { RunFolder(path).CheckUsable(true); }, ExitCode::kUsage,
              {"there is no run to resume"});
  std::filesystem::create_directory(path);
  RunFolder(path).CheckUsable(false);  // empty: nothing to lose
  WriteFileAtomically(path / "notes.txt", "mine");
  ExpectError([&] { RunFolder(path).CheckUsable(false); }, ExitCode::kUsage,
              {"exists already; give --resume"});
  ExpectError([&] { RunFolder(path).CheckUsable(true); }, ExitCode::kUsage, {"is no run folder"});
  ExpectError([&] { RunFolder(path / "notes.txt").CheckUsable(false); }, ExitCode::kUsage,
              {"cannot be a run folder"});
}

TEST(RunFolder, KeepsTheLastTwoPlannedCheckpointsAndTheBest) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  const RunPlan plan{.steps = 100, .checkpoint_every = 10};
  folder.Prepare();
  const auto made = [&](int64_t step, int64_t best) {
    MakeCheckpoint(folder, step, best);
    std::filesystem::create_directory(folder.Best(best));
    folder.Prune(plan, step, best);
    return Names(temporary.path() / "checkpoints");
  };
  using Set = std::set<std::string>;
  EXPECT_EQ(made(10, 5), (Set{"step-00000010", "best-00000005"}));
  // The best at step 10 stays as long as a run can go on from there.
  EXPECT_EQ(made(20, 20),
            (Set{"step-00000010", "step-00000020", "best-00000005", "best-00000020"}));
  EXPECT_EQ(made(30, 20), (Set{"step-00000020", "step-00000030", "best-00000020"}));
  // An interruption's checkpoint goes as soon as a planned one follows.
  EXPECT_EQ(made(33, 20), (Set{"step-00000030", "step-00000033", "best-00000020"}));
  EXPECT_EQ(made(37, 20), (Set{"step-00000030", "step-00000037", "best-00000020"}));
  EXPECT_EQ(made(40, 20), (Set{"step-00000030", "step-00000040", "best-00000020"}));
  EXPECT_EQ(folder.LatestCheckpoint(), 40);
}

TEST(RunFolder, KeepsAsManyCheckpointsAsThePlanSays) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  folder.Prepare();
  const auto left_of_five = [&](int64_t keep) {
    for (int64_t step = 10; step <= 50; step += 10) {
      MakeCheckpoint(folder, step, 0);
    }
    folder.Prune({.steps = 100, .checkpoint_every = 10, .keep_checkpoints = keep}, 50, 0);
    return folder.Checkpoints();
  };
  EXPECT_EQ(left_of_five(1), (std::vector<int64_t>{50}));
  EXPECT_EQ(left_of_five(3), (std::vector<int64_t>{30, 40, 50}));
  EXPECT_EQ(left_of_five(9), (std::vector<int64_t>{10, 20, 30, 40, 50}));
}

TEST(RunFolder, BetweenCheckpointsTheirBestsAndTheBestOfNowStay) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  folder.Prepare();
  MakeCheckpoint(folder, 11, 10);
  for (const int64_t step : {8, 10, 12, 14}) std::filesystem::create_directory(folder.Best(step));
  folder.KeepBests(14);
  EXPECT_EQ(Names(temporary.path() / "checkpoints"),
            (std::set<std::string>{"step-00000011", "best-00000010", "best-00000014"}));
}

TEST(RunFolder, RemovesWhatAKilledProcessLeft) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  folder.Prepare();
  const auto checkpoints = temporary.path() / "checkpoints";
  std::filesystem::create_directory(checkpoints / ".step-00000010.tmp123");
  std::filesystem::create_directory(checkpoints / ".best-00000010.tmp123.old");
  std::filesystem::create_directory(temporary.path() / ".model.tmp123");
  WriteFileAtomically(temporary.path() / ".model.tmp123/config.json", "x");
  WriteFileAtomically(temporary.path() / "recipe.resolved.toml.tmp123", "x");
  WriteFileAtomically(temporary.path() / "recipe.given.toml.tmp123", "x");
  WriteFileAtomically(folder.metrics(), "x");
  folder.Prepare();
  EXPECT_EQ(Names(temporary.path()), (std::set<std::string>{"checkpoints", "metrics.jsonl"}));
  EXPECT_TRUE(Names(checkpoints).empty());
}

// Whatever else lies in a run folder is its user's, hidden or not, also where its name is like one
// of ours.
TEST(RunFolder, LeavesAloneWhatItDidNotWrite) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  folder.Prepare();
  const std::set<std::string> folders = {".git", ".model.tmp", ".model.tmp12x", ".notes.tmp12",
                                         "model.tmp12"};
  const std::set<std::string> files = {"notes.tmpl",
                                       "model.tmp",
                                       "recipe.resolved.toml.tmp",
                                       "notes.tmp12",
                                       ".gitignore",
                                       ".model.tmp99",
                                       "recipe.toml.tmp12",
                                       "recipe.resolved.toml.tmp1.bak",
                                       "metrics.jsonl.tmp"};
  for (const auto& place : {temporary.path(), temporary.path() / "checkpoints"}) {
    for (const std::string& name : folders) std::filesystem::create_directory(place / name);
    for (const std::string& name : files) WriteFileAtomically(place / name, "mine");
  }
  std::filesystem::create_directory(temporary.path() / "checkpoints/.step-x.tmp12");
  folder.Prepare();
  std::set<std::string> all = folders;
  all.insert(files.begin(), files.end());
  std::set<std::string> below = all;
  all.insert("checkpoints");
  below.insert(".step-x.tmp12");
  EXPECT_EQ(Names(temporary.path()), all);
  EXPECT_EQ(Names(temporary.path() / "checkpoints"), below);
}

// A process that was killed at its start leaves no more than the lock and a part of a file.
TEST(RunFolder, AStartThatWasKilledCanBeMadeAgain) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  WriteFileAtomically(folder.lock(), "process 1 on a host");
  WriteFileAtomically(temporary.path() / "recipe.resolved.toml.tmp123", "x");
  folder.CheckUsable(false);
  folder.CheckUsable(true);
  WriteFileAtomically(temporary.path() / "notes.tmpl", "x");
  ExpectError([&] { folder.CheckUsable(false); }, ExitCode::kUsage, {"exists already"});
}

}  // namespace
}  // namespace tandem::train

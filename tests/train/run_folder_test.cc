#include "train/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "weights/error_matching.h"

namespace tandem::train {
namespace {

std::set<std::string> Names(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().native());
  }
  return names;
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
    std::filesystem::create_directory(folder.Checkpoint(step));
    std::filesystem::create_directory(folder.Best(best));
    folder.Prune(plan, step, best);
    return Names(temporary.path() / "checkpoints");
  };
  using Set = std::set<std::string>;
  EXPECT_EQ(made(10, 5), (Set{"step-00000010", "best-00000005"}));
  EXPECT_EQ(made(20, 20), (Set{"step-00000010", "step-00000020", "best-00000020"}));
  EXPECT_EQ(made(30, 20), (Set{"step-00000020", "step-00000030", "best-00000020"}));
  // An interruption's checkpoint goes as soon as a planned one follows.
  EXPECT_EQ(made(33, 20), (Set{"step-00000030", "step-00000033", "best-00000020"}));
  EXPECT_EQ(made(37, 20), (Set{"step-00000030", "step-00000037", "best-00000020"}));
  EXPECT_EQ(made(40, 20), (Set{"step-00000030", "step-00000040", "best-00000020"}));
  EXPECT_EQ(folder.LatestCheckpoint(), 40);
}

TEST(RunFolder, RemovesWhatAKilledProcessLeft) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  folder.Prepare();
  std::filesystem::create_directory(temporary.path() / "checkpoints/.step-00000010.partial");
  std::filesystem::create_directory(temporary.path() / ".model.partial");
  WriteFileAtomically(temporary.path() / "recipe.resolved.toml.tmp123", "x");
  WriteFileAtomically(folder.metrics(), "x");
  folder.Prepare();
  EXPECT_EQ(Names(temporary.path()), (std::set<std::string>{"checkpoints", "metrics.jsonl"}));
  EXPECT_TRUE(Names(temporary.path() / "checkpoints").empty());
}

}  // namespace
}  // namespace tandem::train

// The folder that a run writes: the paths of its parts, and the choice of checkpoints to keep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "train/setup/plan.h"

namespace tandem::train {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path recipe() const { return path_ / "recipe.resolved.toml"; }
  std::filesystem::path given_recipe() const { return path_ / "recipe.given.toml"; }
  std::filesystem::path lock() const { return path_ / "run.lock"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path timing() const { return path_ / "timing.jsonl"; }
  std::filesystem::path model() const { return path_ / "model"; }
  std::filesystem::path adapter() const { return path_ / "adapter"; }  // only in runs with adapters
  std::filesystem::path sampling() const { return path_ / "sampling"; }
  std::filesystem::path mining() const { return path_ / "mining"; }  // only during a mining round
  std::filesystem::path Checkpoint(int64_t step) const;              // checkpoints/step-00000100
  std::filesystem::path Best(int64_t step) const;                    // checkpoints/best-00000100

  // Throws UsageError if the folder is not empty and `resume` is false, or if it holds no run and
  // `resume` is true; OutputError if a file has its path. The lock file, and unfinished files of a
  // process that was killed at its start, count as nothing.
  void CheckUsable(bool resume) const;
  // Makes the folders and removes unfinished files and folders of an earlier process. Files and
  // folders that a run does not write are left alone, whatever their names are.
  void Prepare() const;

  // Returns the steps of the existing checkpoints, ascending.
  std::vector<int64_t> Checkpoints() const;
  std::optional<int64_t> LatestCheckpoint() const;
  // Keeps the latest planned checkpoints (at most `keep_checkpoints` of the plan, the checkpoint of
  // `step` counted among them), and the best weights; removes the others. Which checkpoints are
  // kept does not depend on interruptions.
  void Prune(const RunPlan& plan, int64_t step, int64_t best_step) const;
  void RemoveCheckpoint(int64_t step) const;
  // For a finished run: keeps the checkpoint of `start` with its best weights, if there is one, and
  // of the last checkpoint at least its state; removes all others. May be called again, as after a
  // process that was killed here.
  void KeepOnly(const std::optional<int64_t>& start) const;
  void RemoveMining() const;
  // Removes the model of an earlier stop, which is not the best any more once the run goes on.
  void RemoveModel() const;
  // Removes all best weights but those of `best_step` and those that were the best at an existing
  // checkpoint, from which a run may resume.
  void KeepBests(int64_t best_step) const;

 private:
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  bool HoldsNothing() const;
  // Returns the unfinished entries beside the checkpoints that a killed process has left.
  std::vector<std::filesystem::path> OwnLeftovers() const;

  std::filesystem::path path_;
};

}  // namespace tandem::train

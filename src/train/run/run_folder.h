// The folder that a run writes: its parts, and which checkpoints stay.
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
  std::filesystem::path adapter() const { return path_ / "adapter"; }  // of a run with adapters
  std::filesystem::path sampling() const { return path_ / "sampling"; }
  std::filesystem::path mining() const { return path_ / "mining"; }  // while a round is under way
  std::filesystem::path Checkpoint(int64_t step) const;              // checkpoints/step-00000100
  std::filesystem::path Best(int64_t step) const;                    // checkpoints/best-00000100

  // Throws UsageError where the folder holds anything and `resume` is false, or holds no run and
  // `resume` is true; OutputError for a file in its place. The lock, and what a process that was
  // killed at its start left half-written, count as nothing.
  void CheckUsable(bool resume) const;
  // Makes the folders and removes what an earlier process left half-written. Files and folders that
  // a run does not write are left alone, whatever their names are.
  void Prepare() const;

  // Steps of the checkpoints that are there, ascending.
  std::vector<int64_t> Checkpoints() const;
  std::optional<int64_t> LatestCheckpoint() const;
  // Keeps the last checkpoints that the plan asks for, as many as it says, the one at `step`, and
  // the best weights; removes the others. What is kept does not depend on interruptions.
  void Prune(const RunPlan& plan, int64_t step, int64_t best_step) const;
  void RemoveCheckpoint(int64_t step) const;
  void RemoveMining() const;
  // Removes all best weights but those of `best_step` and those that were the best at a checkpoint
  // that is there, from which a run may go on.
  void KeepBests(int64_t best_step) const;

 private:
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  bool HoldsNothing() const;
  // What a killed process left half-written beside the checkpoints.
  std::vector<std::filesystem::path> OwnLeftovers() const;

  std::filesystem::path path_;
};

}  // namespace tandem::train

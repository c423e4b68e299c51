// The folder that a search writes: the paths of its parts.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/files/files.h"

namespace tandem::tune {

class SearchFolder {
 public:
  explicit SearchFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path journal() const { return path_ / "journal.jsonl"; }
  std::filesystem::path lock() const { return path_ / "tune.lock"; }
  std::filesystem::path page() const { return path_ / "tune.html"; }
  std::filesystem::path recipe() const { return path_ / "recipe.toml"; }  // of the choice
  std::filesystem::path base_values() const { return path_ / "base/dev.jsonl"; }
  std::filesystem::path retrained() const { return path_ / "retrained"; }  // a run folder
  std::filesystem::path test_values(const std::string& model) const {
    return path_ / "test" / (model + ".jsonl");
  }
  // "trials/007".
  std::filesystem::path Trial(int64_t trial) const {
    return path_ / "trials" / fmt::format("{:03}", trial);
  }
  std::filesystem::path TrialRecipe(int64_t trial) const { return Trial(trial) / "recipe.toml"; }
  std::filesystem::path TrialRun(int64_t trial) const { return Trial(trial) / "run"; }
  // Of the validation at a step.
  std::filesystem::path TrialValues(int64_t trial, int64_t step) const {
    return Trial(trial) / "dev" / fmt::format("step-{:08}.jsonl", step);
  }
  // Removes what a killed search was writing when it ended; runs look after their own folders.
  void RemoveUnfinished() const {
    for (const std::filesystem::path& folder : {path_, path_ / "base", path_ / "test"}) {
      RemoveUnfinishedFiles(folder);
    }
    for (const char* kind : {"trials", "averages", "soup"}) {
      std::error_code none;  // a search that has not come so far has no such folder
      for (const auto& entry : std::filesystem::directory_iterator(path_ / kind, none)) {
        RemoveUnfinishedFiles(entry.path());
        RemoveUnfinishedFiles(entry.path() / "dev");
      }
    }
  }
  // Of the tuned model's weight: "averages/007-0.5", "averages/soup-0.5".
  std::filesystem::path Average(const std::string& of, double weight) const {
    return path_ / "averages" / fmt::format("{}-{}", of, weight);
  }
  // Of the soup that a trial was tried in: "soup/007".
  std::filesystem::path Soup(int64_t trial) const {
    return path_ / "soup" / fmt::format("{:03}", trial);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tandem::tune

#include "train/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files.h"

namespace tandem::train {
namespace {

constexpr std::string_view kStep = "step-";
constexpr std::string_view kBest = "best-";
constexpr size_t kKeptCheckpoints = 2;

// The number in a folder's name "PREFIX00000100".
std::optional<int64_t> NumberIn(const std::filesystem::path& path, std::string_view prefix) {
  const std::string name = path.filename().native();
  if (name.rfind(prefix, 0) != 0) return std::nullopt;
  int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

void Remove(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) throw OutputError(path.native(), "cannot be removed", error.value());
}

// Hidden entries are what a killed process was still writing.
void RemoveHidden(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> leftovers;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().native();
    const bool temporary = name.find(".tmp") != std::string::npos;
    if (name.front() == '.' || temporary) leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) Remove(path);
}

std::vector<int64_t> NumbersIn(const std::filesystem::path& folder, std::string_view prefix) {
  std::vector<int64_t> numbers;
  if (!std::filesystem::is_directory(folder)) return numbers;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (const auto number = NumberIn(entry.path(), prefix)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// A folder can be made at `path` only where its nearest ancestor that exists is one.
void CheckAncestors(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path ancestor = std::filesystem::absolute(path).parent_path();
  while (ancestor.has_relative_path() && !std::filesystem::exists(ancestor, error)) {
    ancestor = ancestor.parent_path();
  }
  if (!std::filesystem::is_directory(ancestor, error)) {
    throw OutputError(path.native(), "cannot be made as a folder", ENOTDIR);
  }
}

}  // namespace

std::filesystem::path RunFolder::Checkpoint(int64_t step) const {
  return checkpoints() / fmt::format("{}{:08}", kStep, step);
}

std::filesystem::path RunFolder::Best(int64_t step) const {
  return checkpoints() / fmt::format("{}{:08}", kBest, step);
}

void RunFolder::CheckUsable(bool resume) const {
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  if (!std::filesystem::exists(status)) {
    CheckAncestors(path_);
    if (resume) {
      throw UsageError(fmt::format("{}: there is no run to resume; leave --resume out to start one",
                                   path_.native()));
    }
    return;
  }
  if (!std::filesystem::is_directory(status)) {
    throw OutputError(path_.native(), "cannot be a run folder", ENOTDIR);
  }
  const bool empty = std::filesystem::is_empty(path_);
  if (!resume && !empty) {
    throw UsageError(
        fmt::format("{}: exists already; give --resume to continue the run in it, or another "
                    "--output",
                    path_.native()));
  }
  if (resume && !empty && !std::filesystem::exists(recipe())) {
    throw UsageError(
        fmt::format("{}: is no run folder (it has no {}), so that it cannot be resumed",
                    path_.native(), recipe().filename().native()));
  }
}

void RunFolder::Prepare() const {
  MakeFolder(checkpoints());
  RemoveHidden(path_);
  RemoveHidden(checkpoints());
}

std::vector<int64_t> RunFolder::Checkpoints() const { return NumbersIn(checkpoints(), kStep); }

std::optional<int64_t> RunFolder::LatestCheckpoint() const {
  const std::vector<int64_t> steps = Checkpoints();
  if (steps.empty()) return std::nullopt;
  return steps.back();
}

void RunFolder::Prune(const RunPlan& plan, int64_t step, int64_t best_step) const {
  std::vector<int64_t> planned;
  for (const int64_t number : Checkpoints()) {
    if (plan.CheckpointDue(number) || number == step)
      planned.push_back(number);
    else
      Remove(Checkpoint(number));
  }
  while (planned.size() > kKeptCheckpoints) {
    Remove(Checkpoint(planned.front()));
    planned.erase(planned.begin());
  }
  for (const int64_t number : NumbersIn(checkpoints(), kBest)) {
    if (number != best_step) Remove(Best(number));
  }
}

}  // namespace tandem::train

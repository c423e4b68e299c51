#include "train/run/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "train/run/checkpoint.h"

namespace tandem::train {
namespace {

constexpr std::string_view kStep = "step-";
constexpr std::string_view kBest = "best-";

// Returns the number in a name "PREFIX00000100"; nothing for other names.
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

// Returns the name under which a process that was killed wanted to save a temporary file or folder:
// "NAME" for the file "NAME.tmpPID" of AtomicFile, and for the folder ".NAME.tmpPID" of
// AtomicFolder (with ".old" after it if the file system cannot exchange folders). Nothing for other
// paths.
std::optional<std::string> NameBehindTemporary(const std::filesystem::path& path) {
  std::string name = path.filename().native();
  const bool is_folder = std::filesystem::is_directory(std::filesystem::symlink_status(path));
  if (is_folder != name.starts_with('.')) return std::nullopt;
  if (is_folder) {
    name.erase(0, 1);
    if (name.ends_with(".old")) name.erase(name.size() - std::string_view(".old").size());
  }
  return NameOfUnfinished(name);
}

// Returns the entries of `folder` that a killed process has left unfinished; `ours` says which
// names a run writes there.
template <typename Ours>
std::vector<std::filesystem::path> Leftovers(const std::filesystem::path& folder,
                                             const Ours& ours) {
  std::vector<std::filesystem::path> leftovers;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::optional<std::string> name = NameBehindTemporary(entry.path());
    if (name && ours(*name)) leftovers.push_back(entry.path());
  }
  return leftovers;
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

// Throws if no folder can be made at `path`, because its nearest existing ancestor is not a folder.
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

// Whether the run would save the checkpoint of `folder` even without an interruption.
bool IsPlanned(const RunPlan& plan, int64_t step, const std::filesystem::path& folder) {
  if (!plan.by_progress) return plan.CheckpointDue(step);
  const CheckpointFacts facts = ReadFacts(folder);
  return plan.CheckpointDue(LoopState{
      .step = step, .progress = facts.progress, .progress_before = facts.progress_before});
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
  const bool empty = HoldsNothing();
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

bool RunFolder::HoldsNothing() const {
  const std::vector<std::filesystem::path> leftovers = OwnLeftovers();
  const auto entries = std::filesystem::directory_iterator(path_);
  return std::all_of(begin(entries), end(entries), [&](const auto& entry) {
    return entry.path() == lock() ||
           std::find(leftovers.begin(), leftovers.end(), entry.path()) != leftovers.end();
  });
}

std::vector<std::filesystem::path> RunFolder::OwnLeftovers() const {
  return Leftovers(path_, [this](const std::string& name) {
    const std::filesystem::path path = path_ / name;
    return path == recipe() || path == given_recipe() || path == model();
  });
}

void RunFolder::Prepare() const {
  MakeFolder(checkpoints());
  for (const auto& path : OwnLeftovers()) Remove(path);
  const auto is_checkpoint = [](const std::string& name) {
    return NumberIn(name, kStep).has_value() || NumberIn(name, kBest).has_value();
  };
  for (const auto& path : Leftovers(checkpoints(), is_checkpoint)) Remove(path);
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
    if (number == step || IsPlanned(plan, number, Checkpoint(number)))
      planned.push_back(number);
    else
      Remove(Checkpoint(number));
  }
  while (planned.size() > static_cast<size_t>(plan.keep_checkpoints)) {
    Remove(Checkpoint(planned.front()));
    planned.erase(planned.begin());
  }
  KeepBests(best_step);
}

void RunFolder::KeepOnly(const std::optional<int64_t>& start) const {
  const std::optional<int64_t> last = LatestCheckpoint();
  for (const int64_t number : Checkpoints()) {
    if (number != start && number != last) Remove(Checkpoint(number));
  }
  if (last && last != start) DropTensors(Checkpoint(*last));
  std::optional<int64_t> best;
  if (start) best = ReadFacts(Checkpoint(*start)).best_step;
  for (const int64_t number : NumbersIn(checkpoints(), kBest)) {
    if (number != best) Remove(Best(number));
  }
}

void RunFolder::RemoveCheckpoint(int64_t step) const { Remove(Checkpoint(step)); }
void RunFolder::RemoveMining() const { Remove(mining()); }
void RunFolder::RemoveModel() const {
  Remove(model());
  Remove(adapter());
}

void RunFolder::KeepBests(int64_t best_step) const {
  std::vector<int64_t> kept = {best_step};
  for (const int64_t step : Checkpoints()) {
    kept.push_back(ReadFacts(Checkpoint(step)).best_step);
  }
  for (const int64_t number : NumbersIn(checkpoints(), kBest)) {
    if (std::find(kept.begin(), kept.end(), number) == kept.end()) Remove(Best(number));
  }
}

}  // namespace tandem::train

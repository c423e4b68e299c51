#include "commands/report/report_sweep.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "report/sweep/run_tree.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

bool IsModelFolder(const fs::path& path) {
  return fs::exists(path / "config.json") || fs::exists(path / "modules.json");
}

std::string LastName(const std::string& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().native();
}

void AddRunsOf(const std::string& folder, bool alone, ReportedRuns& found) {
  const report::RunTree tree = report::RunsBelow(folder);
  if (tree.runs.empty()) {
    throw UsageError(fmt::format(
        "{}: is no run, no model, and no folder of runs: none of the {} folders in it has "
        "metrics.jsonl or recipe.resolved.toml",
        folder, tree.folders));
  }
  for (const std::string& run : tree.runs) {
    const std::string below = fs::path(run).lexically_relative(folder).native();
    found.inputs.push_back(run);
    found.names[run] = alone ? below : fmt::format("{}/{}", LastName(folder), below);
  }
  found.unread.insert(found.unread.end(), tree.unread.begin(), tree.unread.end());
  found.several = true;
}

// Throws where a run of `input`, one of those from number `from` on, is there from an input before
// it. What was itself named twice, ReadReportInput refuses.
void CheckFoundOnce(const std::string& input, size_t from, const ReportedRuns& found) {
  for (size_t i = from; i < found.inputs.size(); ++i) {
    for (size_t j = 0; j < from; ++j) {
      std::error_code error;
      const bool same = fs::equivalent(found.inputs[i], found.inputs[j], error) && !error;
      const bool from_folder =
          found.names.contains(found.inputs[i]) || found.names.contains(found.inputs[j]);
      if (!same || !from_folder) continue;
      throw UsageError(fmt::format(
          "{} lies in two of the folders and runs that are named, the second of them {}; name each "
          "run once",
          found.inputs[j], input));
    }
  }
}

}  // namespace

ReportedRuns FindReportedRuns(const std::vector<std::string>& inputs) {
  ReportedRuns found;
  for (const std::string& input : inputs) {
    const size_t before = found.inputs.size();
    if (!fs::exists(input)) {
      throw UsageError(fmt::format(
          "{}: there is no such file or folder; expected a run folder, a folder of runs, a model "
          "folder or a file NAME.evaluation.json",
          input));
    }
    if (fs::is_directory(input) && !report::IsRunFolder(input) && !IsModelFolder(input)) {
      AddRunsOf(input, inputs.size() == 1, found);
    } else {
      found.inputs.push_back(input);
    }
    CheckFoundOnce(input, before, found);
  }
  return found;
}

}  // namespace tandem::app

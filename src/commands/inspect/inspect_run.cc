// Inspects training runs and their checkpoints for `tandem inspect`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "commands/catalogues.h"
#include "commands/inspect/inspections.h"
#include "config/recipe/recipe_parse.h"
#include "report/records/run_log.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

// The number of rows of a list that are shown. Of a longer list, the first and the newest rows are
// shown.
constexpr size_t kMostRows = 20;

void AddRecipe(const fs::path& path, Json& found) {
  if (!fs::exists(path)) return;
  const config::Recipe recipe = config::ParseRecipe(ReadFile(path), path.native(), {},
                                                    AllCatalogues(), config::IdleKeys::kAccept)
                                    .recipe;
  found["base"] = recipe.model.base;
  found["data"] = fmt::format("{}", fmt::join(recipe.data.paths(), ", "));
  found["objective"] = recipe.objective.name;
  found["sampling"] = recipe.sampling.name;
  if (recipe.train.batch) {
    found["queries_per_step"] = *recipe.train.batch * recipe.train.accumulate;
  } else {
    found["most_tokens_per_step"] = *recipe.train.batch_tokens * recipe.train.accumulate;
  }
  found["learning_rate"] = recipe.optimizer.learning_rate;
  found["seed"] = recipe.seed;
}

std::vector<std::string> FoldersIn(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().native();
    if (entry.is_directory(error) && !name.starts_with('.')) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns a row without its event, which is clear from its place.
template <typename Row>
Json Fields(const Row& row) {
  Json fields = report::ToJson(row);
  fields.erase("event");
  return fields;
}

// Returns {"step", MEASURE: value, ...}.
Json Figures(const report::ValidationRow& row) {
  Json figures = {{"step", row.step}};
  for (const report::NamedNumber& measure : row.measures) {
    figures[measure.name] = measure.AsDouble();
  }
  return figures;
}

// A file that was cut may lack numbers in its last row, and earlier versions wrote other numbers.
Json LastLine(const report::StepRow& row) {
  Json line = {{"step", row.step}};
  for (const auto& [key, number] : {std::pair{"epoch", row.epoch},
                                    {"loss", row.loss},
                                    {"learning_rate", row.learning_rate},
                                    {"gradient_norm", row.gradient_norm}}) {
    if (!std::isnan(number)) line[key] = number;
  }
  return line;
}

void AddFigures(const report::RunLog& log, Json& found) {
  found["step"] = log.step;
  if (!log.steps.empty()) found["last_line"] = LastLine(log.steps.back());
  if (const report::ValidationRow* best = log.BestValidation()) found["best"] = Figures(*best);
  found["validations"] = Json::array();
  const size_t left_out =
      log.validations.size() > kMostRows ? log.validations.size() - kMostRows : 0;
  for (size_t i = 0; i < log.validations.size(); ++i) {
    if (i > 0 && i <= left_out) continue;
    Json row = Figures(log.validations[i]);
    row["best"] = log.validations[i].best;
    found["validations"].push_back(std::move(row));
  }
}

// Adds what the sampler drew and left out in each epoch.
void AddPasses(const fs::path& folder, Json& found) {
  for (const report::PassFile& file : report::ReadPasses(folder, kMostRows)) {
    if (!file.row) {
      found["passes"].push_back({{"pass", fmt::format("{} is damaged", file.name)}});
      continue;
    }
    Json row = Fields(*file.row);
    if (file.row->mean_score_left_out) {
      row["mean_score_left_out"] = std::round(1e6 * *file.row->mean_score_left_out) / 1e6;
    }
    found["passes"].push_back(std::move(row));
  }
}

// Bytes of the regular files in `path`, a file or a folder; 0 where there is none.
uint64_t BytesIn(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return fs::file_size(path, error);
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (!entry.is_regular_file(error)) continue;
    const uint64_t size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

// The part of a run that a file or folder of it belongs to.
std::string_view PartOf(const std::string& name) {
  if (name == "model") return "model";
  if (name == "adapter") return "adapter";
  if (name.starts_with("best-")) return "best_weights";
  if (name.starts_with("step-")) return "checkpoints";
  for (const char* const log : {"metrics.jsonl", "timing.jsonl", "sampling"}) {
    if (name == log) return "logs";
  }
  return "other";
}

// The folders of the runs, by ascending seed.
std::vector<fs::path> SeedFoldersIn(const fs::path& path) {
  constexpr std::string_view kPrefix = "seed-";
  std::map<int64_t, fs::path> runs;
  for (const std::string& name : FoldersIn(path)) {
    int64_t seed = 0;
    const char* const end = name.data() + name.size();
    if (!name.starts_with(kPrefix)) continue;
    std::from_chars(name.data() + kPrefix.size(), end, seed);
    const fs::path run = path / name;
    if (name != fmt::format("{}{}", kPrefix, seed)) continue;
    if (fs::exists(run / "recipe.resolved.toml") || fs::exists(run / "metrics.jsonl")) {
      runs.emplace(seed, run);
    }
  }
  std::vector<fs::path> folders;
  for (const auto& [seed, folder] : runs) folders.push_back(folder);
  return folders;
}

// Returns the bytes of a run by its parts, and their sum.
Json BytesOfRun(const fs::path& path) {
  std::map<std::string_view, uint64_t> parts;
  for (const fs::path& folder : {path, path / "checkpoints"}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().native();
      if (name != "checkpoints") parts[PartOf(name)] += BytesIn(entry.path());
    }
  }
  Json bytes = Json::object();
  uint64_t all = 0;
  for (const char* const part :
       {"model", "adapter", "best_weights", "checkpoints", "logs", "other"}) {
    if (parts.contains(part)) bytes[part] = parts[part];
    all += parts[part];
  }
  bytes["all"] = all;
  return bytes;
}

}  // namespace

Json InspectTrainingRun(const fs::path& path) {
  const report::RunLog log = report::ReadRunLog(path / "metrics.jsonl");
  const bool has_model = fs::exists(path / "model");
  Json found = {{"kind", "training_run"}, {"finished", has_model && log.finished.has_value()}};
  if (has_model) {
    found["model"] = (path / "model").native();
    if (log.finished) found["model_step"] = log.finished->model_step;
  }
  AddRecipe(path / "recipe.resolved.toml", found);
  AddFigures(log, found);
  AddPasses(path / "sampling", found);
  found["checkpoints"] = FoldersIn(path / "checkpoints");
  found["bytes"] = BytesOfRun(path);
  return found;
}

bool HoldsSeedRuns(const fs::path& path) { return !SeedFoldersIn(path).empty(); }

Json InspectSeedRuns(const fs::path& path) {
  Json found = {{"kind", "training_runs_of_seeds"}, {"runs", Json::array()}};
  uint64_t all = 0;
  for (const fs::path& run : SeedFoldersIn(path)) {
    const report::RunLog log = report::ReadRunLog(run / "metrics.jsonl");
    const bool finished = fs::exists(run / "model") && log.finished.has_value();
    Json row = {{"run", run.native()}, {"finished", finished}, {"step", log.step}};
    if (finished) row["model_step"] = log.finished->model_step;
    if (const report::ValidationRow* best = log.BestValidation()) {
      row["best_step"] = best->step;
      for (const report::NamedNumber& measure : best->measures) {
        row[measure.name] = measure.AsDouble();
      }
    }
    const uint64_t bytes = BytesIn(run);
    row["bytes"] = bytes;
    all += bytes;
    found["runs"].push_back(std::move(row));
  }
  found["bytes"] = all;
  return found;
}

Json InspectCheckpoint(const fs::path& path) {
  const fs::path file = path / "state.json";
  const Json state = ParseIfJson(ReadFile(file)).value_or(Json());
  if (!state.is_object()) throw ModelError(file.native(), "", "is no JSON object");
  Json found = {{"kind", "checkpoint"}};
  const Json& counters = state.contains("loop") ? state["loop"] : state;
  for (const auto& [key, value] : counters.items()) {
    if (value.is_number() || value.is_boolean()) found[key] = value;
  }
  for (const char* name : {"weights", "optimizer", "sampler"}) {
    const fs::path tensors = path / fmt::format("{}.safetensors", name);
    if (fs::exists(tensors)) found[name] = {{"bytes", fs::file_size(tensors)}};
  }
  return found;
}

}  // namespace tandem::app

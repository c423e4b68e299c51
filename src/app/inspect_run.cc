// Training runs and their checkpoints in `tandem inspect`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/catalogues.h"
#include "app/inspections.h"
#include "base/error.h"
#include "base/files.h"
#include "config/recipe_parse.h"
#include "data/line_reader.h"
#include "sampling/audit_file.h"

namespace tandem::app {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// What metrics.jsonl tells, line by line.
struct RunLog {
  int64_t step = 0;              // the last one that a line names
  Json last;                     // line of training
  std::vector<Json> figures;     // {"step", MEASURE, "best"} of each validation, the newest last
  std::optional<Json> finished;  // the line that ends a run
};

// Validations that are shown; a run of many keeps the first and the newest.
constexpr size_t kMostValidations = 20;

void AddLine(const Json& line, RunLog& log) {
  log.step = std::max(log.step, line.value("step", int64_t{0}));
  if (line.contains("finished")) {
    log.finished = line;
  } else if (line.contains("validation")) {
    Json row = {{"step", line["step"]}};
    for (const auto& [name, value] : line["validation"].items()) row[name] = value;
    row["best"] = line.value("best", false);
    log.figures.push_back(std::move(row));
    if (log.figures.size() > kMostValidations) log.figures.erase(log.figures.begin() + 1);
  } else if (line.contains("loss")) {
    log.last = line;
  }
}

RunLog ReadLog(const fs::path& path) {
  RunLog log;
  if (!fs::exists(path)) return log;
  data::Warnings ignored;
  data::LineReader reader(path, ignored);
  std::string_view text;
  while (reader.Next(&text)) {
    const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    // A run that is under way, or was killed, may end in a part of a line.
    if (line.is_discarded() || !line.is_object()) continue;
    AddLine(line, log);
  }
  return log;
}

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

// The newest validation that was the best one.
const Json* BestOf(const RunLog& log) {
  const auto best = std::find_if(log.figures.rbegin(), log.figures.rend(),
                                 [](const Json& row) { return row["best"].get<bool>(); });
  return best == log.figures.rend() ? nullptr : &*best;
}

void AddFigures(const RunLog& log, Json& found) {
  found["step"] = log.step;
  if (log.last.is_object()) {
    found["last_line"] = Json::object();
    for (const char* key : {"step", "epoch", "loss", "learning_rate", "gradient_norm"}) {
      if (log.last.contains(key)) found["last_line"][key] = log.last[key];
    }
  }
  if (const Json* best = BestOf(log)) {
    found["best"] = *best;
    found["best"].erase("best");
  }
  found["validations"] = log.figures;
}

// Passes whose records are shown; a run of many keeps the first and the newest.
constexpr size_t kMostPasses = 20;

Json PassRow(const sampling::PassRecord& record) {
  size_t drawn = 0;
  for (const auto& batch : record.batches) drawn += batch.size();
  Json row = {{"pass", record.pass}, {"batches", record.batches.size()}, {"queries", drawn}};
  if (!record.complete) return row;
  row["left_out"] = record.left_out.size();
  double sum = 0;
  size_t scored = 0;
  for (const sampling::LeftOut& one : record.left_out) {
    if (std::isnan(one.score)) continue;
    sum += one.score;
    ++scored;
  }
  if (scored > 0) {
    const double mean = sum / static_cast<double>(scored);
    row["mean_score_left_out"] = std::round(1e6 * mean) / 1e6;
  }
  return row;
}

// What the sampler drew and left out, by the records in sampling/.
void AddPasses(const fs::path& folder, Json& found) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".bin") files.push_back(entry.path());
  }
  if (files.empty()) return;
  std::sort(files.begin(), files.end());
  if (files.size() > kMostPasses) {
    files.erase(files.begin() + 1,
                files.begin() + static_cast<std::ptrdiff_t>(files.size() - kMostPasses + 1));
  }
  found["passes"] = Json::array();
  for (const fs::path& file : files) {
    try {
      found["passes"].push_back(PassRow(sampling::ReadPassRecord(file)));
    } catch (const DataError&) {  // a run goes on without a record that was damaged
      found["passes"].push_back({{"pass", fmt::format("{} is damaged", file.filename().native())}});
    }
  }
}

}  // namespace

Json InspectTrainingRun(const fs::path& path) {
  const RunLog log = ReadLog(path / "metrics.jsonl");
  const bool has_model = fs::exists(path / "model");
  Json found = {{"kind", "training_run"}, {"finished", has_model && log.finished.has_value()}};
  if (has_model) {
    found["model"] = (path / "model").native();
    if (log.finished) found["model_step"] = log.finished->value("model_step", int64_t{0});
  }
  AddRecipe(path / "recipe.resolved.toml", found);
  AddFigures(log, found);
  AddPasses(path / "sampling", found);
  found["checkpoints"] = FoldersIn(path / "checkpoints");
  return found;
}

Json InspectCheckpoint(const fs::path& path) {
  const fs::path file = path / "state.json";
  const Json state = Json::parse(ReadFile(file), nullptr, /*allow_exceptions=*/false);
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

#include "commands/train/train_seeds.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"
#include "cli/output_style.h"
#include "commands/catalogues.h"
#include "config/recipe/recipe_parse.h"
#include "eval/significance/mean_interval.h"
#include "report/records/run_log.h"
#include "report/tables/table.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

// What a run came to.
struct SeedResult {
  int64_t seed = 0;
  std::string run;
  std::string measure;           // that decides; "": the run has no validation
  std::optional<double> before;  // of the base model
  std::optional<double> value;   // of the best validation
  int64_t model_step = 0;
  double loss = 0;  // of the last line of metrics
};

std::optional<double> FirstMeasure(const report::ValidationRow& row) {
  if (row.measures.empty()) return std::nullopt;
  return row.measures.front().AsDouble();
}

SeedResult ResultOf(const SeedRun& run) {
  const report::RunLog log = report::ReadRunLog(fs::path(run.options.output) / "metrics.jsonl");
  SeedResult result{.seed = run.seed, .run = run.options.output};
  if (!log.steps.empty()) result.loss = log.steps.back().loss;
  result.model_step = log.finished ? log.finished->model_step : log.step;
  const report::ValidationRow* const best = log.BestValidation();
  if (best == nullptr || best->measures.empty()) return result;
  result.measure = best->measures.front().name;
  result.value = FirstMeasure(*best);
  const report::ValidationRow& first = log.validations.front();
  if (first.step == 0) result.before = FirstMeasure(first);
  return result;
}

// The numbers that the runs are compared by: their best validations, or else their last losses.
std::vector<double> ValuesOf(const std::vector<SeedResult>& results) {
  std::vector<double> values;
  for (const SeedResult& result : results) values.push_back(result.value.value_or(result.loss));
  return values;
}

report::Interval IntervalOf(const eval::MeanSpread& spread) {
  const eval::Interval interval =
      spread.interval.value_or(eval::Interval{spread.mean, spread.mean});
  return {spread.mean, interval.low, interval.high};
}

std::string SeedsJson(const std::vector<SeedResult>& results, const std::string& measure,
                      const eval::MeanSpread& spread) {
  Json runs = Json::array();
  for (const SeedResult& result : results) {
    Json row = {{"seed", result.seed},
                {"run", result.run},
                {"model_step", result.model_step},
                {"loss", result.loss}};
    if (result.before) row["before"] = *result.before;
    if (result.value) row["value"] = *result.value;
    runs.push_back(std::move(row));
  }
  Json json = {{"measure", measure}, {"runs", std::move(runs)}, {"mean", spread.mean}};
  if (spread.standard_deviation) {
    json["standard_deviation"] = *spread.standard_deviation;
    json["low"] = spread.interval->low;
    json["high"] = spread.interval->high;
  }
  return report::JsonText(json);
}

report::Table SeedsTable(const std::vector<SeedResult>& results, const std::string& measure,
                         const eval::MeanSpread& spread) {
  const bool validated = results.front().value.has_value();
  std::vector<report::Column> columns = {{.name = "seed"}};
  if (validated) columns.push_back({.name = "before"});
  columns.push_back({.name = measure});
  columns.push_back({.name = "model step"});
  if (validated) columns.push_back({.name = "loss"});
  report::Table table(std::move(columns));
  for (const SeedResult& result : results) {
    std::vector<report::Cell> row = {fmt::format("{}", result.seed)};
    if (validated) row.emplace_back(result.before);
    row.emplace_back(result.value.value_or(result.loss));
    row.emplace_back(result.model_step);
    if (validated) row.emplace_back(result.loss);
    table.Add(std::move(row));
  }
  const auto add = [&](const char* what, report::Cell value) {
    std::vector<report::Cell> row = {what};
    if (validated) row.emplace_back(std::nullopt);
    row.push_back(std::move(value));
    table.Add(std::move(row));
  };
  add("mean", IntervalOf(spread));
  add("standard deviation", spread.standard_deviation);
  return table;
}

}  // namespace

std::vector<SeedRun> SeedRunsOf(const TrainOptions& options, bool looks) {
  const config::Recipe recipe =
      config::LoadRecipe(options.recipe, options.sets, AllCatalogues()).recipe;
  const fs::path output = options.output.empty() ? recipe.output : options.output;
  if (output.empty()) {
    throw UsageError("there is no folder for the runs: give --output, or output in the recipe");
  }
  std::error_code error;
  if (looks && !options.resume && fs::exists(output, error) && !fs::is_empty(output, error)) {
    throw UsageError(
        fmt::format("{}: exists already; give --resume to go on with the runs in it, or another "
                    "--output",
                    output.native()));
  }
  const int64_t first = options.globals.seed.value_or(recipe.seed);
  std::vector<SeedRun> runs;
  for (int64_t seed = first; seed < first + options.seeds; ++seed) {
    SeedRun run{.seed = seed, .options = options};
    run.options.globals.seed = seed;
    run.options.begin_or_resume = options.resume;
    run.options.resume = false;
    run.options.output = (output / fmt::format("seed-{}", seed)).native();
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string FormatSeedRuns(const std::vector<SeedRun>& runs, const std::string& format) {
  std::vector<SeedResult> results;
  for (const SeedRun& run : runs) results.push_back(ResultOf(run));
  const std::string measure =
      results.front().measure.empty() ? "last loss" : results.front().measure;
  const eval::MeanSpread spread = eval::SpreadOf(ValuesOf(results));
  if (format == "json") return SeedsJson(results, measure, spread);
  return SeedsTable(results, measure, spread).Format(format, OutputStyle());
}

}  // namespace tandem::app

#include "report/records/run_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "config/recipe/recipe_text.h"
#include "config/recipe/recorded_recipes.h"
#include "config/recipe/sources.h"
#include "report/records/run_times.h"
#include "sampling/audit/audit_file.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;

// Passes that the page lists; a run of more keeps the first and the newest.
constexpr size_t kMostPasses = 50;

std::string NameOf(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole.filename().native() : whole.parent_path().filename().native();
}

std::vector<Fact> FactsOf(const config::Recipe& recipe) {
  const std::string queries =
      recipe.train.batch
          ? fmt::format("{} queries", *recipe.train.batch * recipe.train.accumulate)
          : fmt::format("at most {} tokens", *recipe.train.batch_tokens * recipe.train.accumulate);
  std::vector<Fact> facts = {
      {"base model", recipe.model.base},
      {"towers", recipe.model.towers},
      {"training data", fmt::format("{}", fmt::join(recipe.data.paths(), ", "))},
      {"objective", recipe.objective.name},
      {"sampling", recipe.sampling.name},
      {"a step", queries},
      {"optimizer", recipe.optimizer.name},
      {"learning rate", fmt::format("{:g}", recipe.optimizer.learning_rate)},
      {"schedule", recipe.schedule.name},
      {"seed", fmt::format("{}", recipe.seed)}};
  if (recipe.validation.enabled()) facts.push_back({"validated by", recipe.validation.measure});
  return facts;
}

// Files of lines have no splits. What a path ends with says which they are, since the file may be
// on another machine.
bool IsFileOfLines(std::string_view path) {
  constexpr std::string_view kEndings[] = {".jsonl", ".json", ".csv", ".tsv", ".gz"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [path](std::string_view ending) { return path.ends_with(ending); });
}

std::optional<ValidationFacts> ValidationFactsOf(const config::Recipe& recipe) {
  const config::ValidationRecipe& validation = recipe.validation;
  if (!validation.enabled()) return std::nullopt;
  if (validation.data) {
    return ValidationFacts{.data = NameOf(*validation.data),
                           .split = IsFileOfLines(*validation.data) ? "" : validation.split};
  }
  if (!validation.sources.empty()) {
    return ValidationFacts{
        .data = fmt::format("{}", fmt::join(config::NamesOf(validation.sources), ", "))};
  }
  std::vector<std::string> names;
  for (const std::string& path : recipe.data.paths()) names.push_back(NameOf(path));
  return ValidationFacts{.data = fmt::format("{}", fmt::join(names, ", ")), .held_out = true};
}

std::optional<double> NumberOf(const config::Value& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

KeyValues KeysOf(const config::Recipe& recipe, config::RecipeCatalogues catalogues) {
  KeyValues keys;
  for (const config::RecipeKey& key : config::RecipeKeys(recipe, catalogues)) {
    const auto* text = std::get_if<std::string>(&key.value);
    KeyValue value{text != nullptr ? *text : config::FormatValue(key.value), NumberOf(key.value)};
    if (key.idle.empty() && !value.text.empty()) keys[key.path()] = std::move(value);
  }
  return keys;
}

void AddInputs(const fs::path& folder, config::RecipeCatalogues catalogues, RunRecord& run) {
  std::vector<std::string> problems;
  run.inputs = ReadRunInputs(folder, catalogues, problems);
  for (const std::string& problem : problems) {
    run.missing.push_back(fmt::format("{}: {}", run.name, problem));
  }
}

void ReadRecipe(const fs::path& path, config::RecipeCatalogues catalogues, RunRecord& run) {
  if (!fs::exists(path)) {
    run.missing.push_back(run.name +
                          ": there is no recipe.resolved.toml, so what was run is not known.");
    return;
  }
  run.recipe_text = ReadFile(path);
  try {
    const config::Recipe recipe =
        config::ReadResolvedRecipe(run.recipe_text, path.native(), catalogues);
    run.recipe = FactsOf(recipe);
    run.validation = ValidationFactsOf(recipe);
    run.keys = KeysOf(recipe, catalogues);
  } catch (const Error& error) {
    run.missing.push_back(fmt::format("{}: its recipe cannot be read: {}", run.name, error.what()));
  }
}

// Counts the draws of each query of one epoch.
void CountDraws(const sampling::PassRecord& record, std::vector<int64_t>& draws) {
  draws.resize(std::max(draws.size(), record.pair_counts.size()));
  for (const auto& batch : record.batches) {
    for (const auto& [query, document] : batch) {
      if (query < draws.size()) ++draws[query];
    }
  }
}

std::vector<int64_t> QueriesByDraws(const std::vector<int64_t>& draws) {
  std::vector<int64_t> counts;
  for (const int64_t drawn : draws) {
    const size_t bin = std::min<size_t>(static_cast<size_t>(drawn), kMostDraws);
    counts.resize(std::max(counts.size(), bin + 1));
    ++counts[bin];
  }
  return counts;
}

// The scores by which the sampler began; none where the run has no such file, or a damaged one.
std::vector<float> FirstScoresOf(const fs::path& folder, RunRecord& run) {
  const fs::path file = folder / sampling::kFirstScoresName;
  if (!fs::exists(file)) return {};
  try {
    return sampling::ReadFirstScores(file);
  } catch (const DataError& error) {
    run.missing.push_back(
        fmt::format("{}: sampling/{} is damaged, so that nobody knows who was "
                    "drawn by the first score: {}.",
                    run.name, sampling::kFirstScoresName, error.what()));
    run.first_scores_damaged = true;
    return {};
  }
}

// The records of the epochs and how often each query was drawn in all of them.
void AddPasses(const fs::path& folder, RunRecord& run) {
  std::vector<int64_t> draws;  // of each query
  DrawsByScoreReader by_score(FirstScoresOf(folder, run));
  for (const PassFile& file : ReadPasses(folder, kMostPasses)) {
    if (!file.row) {  // a run goes on without a record that was damaged
      run.missing.push_back(
          fmt::format("{}: sampling/{} is damaged, and its epoch is in no number of draws: {}.",
                      run.name, file.name, file.fault));
      ++run.damaged_passes;
      continue;
    }
    run.passes.push_back(*file.row);
    const sampling::PassRecord record = sampling::ReadPassRecord(folder / file.name);
    CountDraws(record, draws);
    by_score.Add(record);
  }
  run.draws_by_score = by_score.Take();
  run.queries_by_draws = QueriesByDraws(draws);
}

void SayUnreadable(std::string_view file, size_t lines, int64_t first, RunRecord& run) {
  if (lines == 0) return;
  run.missing.push_back(
      lines == 1 ? fmt::format("{}: one line of {} cannot be read: line {}.", run.name, file, first)
                 : fmt::format("{}: {} lines of {} cannot be read, line {} the first of them.",
                               run.name, lines, file, first));
}

// Reads a log where there is one.
template <typename Log>
Log ReadLog(const fs::path& path, Log (*read)(const fs::path&), RunRecord& run) {
  const std::string name = path.filename().native();
  if (!fs::exists(path)) {
    run.missing.push_back(fmt::format("{}: there is no {}.", run.name, name));
    return {};
  }
  Log log = read(path);
  SayUnreadable(name, log.unreadable_lines, log.first_unreadable, run);
  return log;
}

// Adds what the newest process logged about its machine and its validation.
void AddMachine(const TimingLog& timing, RunRecord& run) {
  if (timing.starts.empty()) return;
  const StartRow& start = timing.starts.back();
  run.machine = {{"Tandem", start.version},
                 {"threads", fmt::format("{}", start.threads)},
                 {"precision", start.precision},
                 {"instruction set", start.isa}};
  if (!run.validation) return;
  run.validation->queries = start.validation_queries;
  run.validation->documents = start.validation_documents;
  run.validation->corpus = start.validation_corpus;
}

}  // namespace

RunRecord ReadRun(const fs::path& folder, config::RecipeCatalogues catalogues,
                  const std::string& name) {
  RunRecord run{.name = name.empty() ? NameOf(folder) : name};
  ReadRecipe(folder / "recipe.resolved.toml", catalogues, run);
  AddInputs(folder, catalogues, run);
  run.log = ReadLog(folder / "metrics.jsonl", &ReadRunLog, run);
  const TimingLog timing = ReadLog(folder / "timing.jsonl", &ReadTimingLog, run);
  AddMachine(timing, run);
  AddTimes(timing, run);
  AddPasses(folder / "sampling", run);
  return run;
}

}  // namespace tandem::report

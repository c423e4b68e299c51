#include "tune/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "eval/measure.h"
#include "train/checks/run_cost.h"
#include "train/objective/training_objective.h"
#include "train/run/run_lock.h"
#include "train/seconds_since.h"
#include "tune/choice/finals.h"
#include "tune/choice/test_data.h"
#include "tune/draw/draw_trial.h"
#include "tune/outcome.h"
#include "tune/page/tune_page.h"
#include "tune/query_values.h"
#include "tune/search_context.h"
#include "tune/search_inputs.h"
#include "tune/space/default_space.h"
#include "tune/space/same_validation.h"
#include "tune/space/space.h"
#include "tune/trials/base_validations.h"
#include "tune/trials/quiet_sink.h"
#include "tune/trials/trial.h"
#include "tune/trials/trials.h"

namespace tandem::tune {
namespace {

namespace fs = std::filesystem;

// Steps whose time is measured: enough for a mean, and little beside a trial.
constexpr int64_t kTimedSteps = 5;

// Throws unless a search may begin in the folder, or go on.
void CheckFolder(const SearchFolder& folder, bool resume) {
  const std::string path = folder.path().native();
  std::error_code error;
  if (resume) {
    if (fs::exists(folder.journal(), error)) return;
    throw UsageError(fmt::format(
        "{}: holds no search to resume (no journal.jsonl); begin one without --resume", path));
  }
  if (fs::exists(folder.path(), error) && !fs::is_directory(folder.path(), error)) {
    throw UsageError(fmt::format("{}: is a file, and a search needs a folder", path));
  }
  if (!fs::exists(folder.path(), error) || fs::is_empty(folder.path(), error)) return;
  throw UsageError(fmt::format(
      "{}: exists already; give --resume to go on with the search in it, or another --output",
      path));
}

void CheckMeasure(const config::LoadedTune& tune) {
  const std::string& name = tune.recipe.recipe.validation.measure;
  if (name == "loss") return;  // which ModelMeasurer refuses
  if (eval::ParseMeasure(name).info->kind != eval::MeasureKind::kSamplesPooled) return;
  throw tune.recipe.ErrorAt("validation.measure",
                            fmt::format("is \"{}\", which has no value of a single query, so that "
                                        "trials cannot be compared by a paired test; give another "
                                        "measure, like \"ndcg@10\"",
                                        name));
}

void CheckKept(const config::LoadedTune& tune) {
  std::set<fs::path> known;
  for (const std::string& folder : tune.tune.keep) {
    std::error_code error;  // what cannot be looked at is refused below
    const fs::path path = fs::weakly_canonical(folder, error);
    if (!known.insert(error ? fs::path(folder) : path).second) {
      throw tune.recipe.ErrorAt("tune.keep", fmt::format("names {} twice", folder));
    }
    const fs::path judgements = fs::path(folder) / "qrels" / (tune.tune.keep_split + ".tsv");
    if (fs::exists(judgements)) continue;
    throw tune.recipe.ErrorAt(
        "tune.keep", fmt::format("names {}, which has no judgements {}; give BEIR folders, and "
                                 "tune.keep_split",
                                 folder, judgements.native()));
  }
}

void CheckFingerprint(const SearchFolder& folder, const Journal& journal,
                      const std::string& fingerprint) {
  const Json* const plan = journal.Find("plan");
  if (plan == nullptr || plan->at("search").text() == fingerprint) return;
  throw UsageError(fmt::format(
      "{}: was begun with another recipe, other --set flags or another --budget; give the same, or "
      "begin another search",
      folder.path().native()));
}

void CheckInputs(const SearchFolder& folder, const Journal& journal, const Json& inputs) {
  const Json* const plan = journal.Find("plan");
  if (plan == nullptr) return;
  const std::string different = DifferentInputs(plan->Find("inputs"), inputs);
  if (different.empty()) return;
  throw UsageError(fmt::format(
      "{}: {} changed since the search began, so that its values would not compare; put "
      "back what it began with, or begin another search",
      folder.path().native(), different));
}

// What is found out before anything is written.
struct Beginning {
  train::Validated base;
  SearchPlan plan;
};

std::vector<config::Assignment> ConfigurationsOf(const config::LoadedTune& tune) {
  const auto seed = static_cast<uint64_t>(tune.recipe.recipe.seed);
  std::vector<config::Assignment> all = DrawConfigurations(tune, seed, kMostConfigurations);
  if (all.size() > 1) return all;
  throw UsageError(fmt::format(
      "{}: the search has one configuration, the recipe as it is; list several values of a key in "
      "[tune], or a range",
      tune.recipe.file));
}

SearchPlan MakePlan(const config::LoadedTune& tune, const SearchOptions& options,
                    std::vector<config::Assignment> configurations, double validation_seconds) {
  SearchPlan plan{.brackets = {}, .configurations = std::move(configurations)};
  train::RunCost run;
  {
    std::set<std::string> warned;
    const QuietSink quiet(warned);
    run = train::MeasureRunCost(TrialRecipe(tune, SearchFolder(options.output), 1, {}), kTimedSteps,
                                options.stop, options.group);
  }
  const bool in_steps = options.budget && options.budget->steps > 0;
  const std::vector<int64_t> base_validations = CountBaseValidations(plan.configurations);
  const SearchCost cost{.steps = run.steps,
                        .step_seconds = run.step_seconds,
                        .setup_seconds = run.setup_seconds,
                        .validation_seconds = validation_seconds,
                        .length_factor = LengthFactor(tune, plan.configurations, in_steps),
                        .base_validations = base_validations};
  const auto most = static_cast<int64_t>(plan.configurations.size());
  const int64_t rungs = tune.tune.rungs;
  plan.brackets = options.budget
                      ? BracketsWithin(*options.budget, rungs, cost, most)
                      : BracketsFor(UnitsOf(HyperbandBrackets(rungs, most)), rungs, most);
  plan.configurations.resize(static_cast<size_t>(plan.brackets.front().rungs.front().trials));
  Note(fmt::format("a full run has {} steps of {:.3f} s; {}", run.steps, run.step_seconds,
                   PlanText(plan, rungs, cost)));
  return plan;
}

Beginning Begin(const config::LoadedTune& tune, const SearchOptions& options,
                const train::ModelMeasurer& measurer) {
  std::vector<config::Assignment> configurations = ConfigurationsOf(tune);
  const auto start = std::chrono::steady_clock::now();
  Beginning beginning{.base = measurer.Measure(measurer.recipe().model.base,
                                               train::SettingsOf::kRecipe, options.stop),
                      .plan = {}};
  const double seconds = train::SecondsSince(start);
  Note(fmt::format("base: {} {:.4f} on {} queries", measurer.recipe().validation.measure,
                   beginning.base.value, beginning.base.queries.size()));
  if (const auto& layers = measurer.recipe().model.layers) {
    Note(
        fmt::format("the base is the whole model; trials begin with its first {} layers", *layers));
  }
  beginning.plan = MakePlan(tune, options, std::move(configurations), seconds);
  return beginning;
}

void WriteBeginning(const SearchContext& search, const Beginning& beginning,
                    const std::string& fingerprint, const Json& inputs) {
  if (search.journal.Find("base") == nullptr) {
    search.journal.Append([&] {
      WriteQueryValues(search.folder.base_values(), beginning.base.queries);
      return Json{{"event", "base"},
                  {"value", beginning.base.value},
                  {"queries", beginning.base.queries.size()}};
    });
  }
  // Each process has timed its own steps; rank 0's plan is that of all.
  search.journal.Append([&] {
    Json row = PlanRow(beginning.plan, fingerprint);
    row["inputs"] = inputs;
    return row;
  });
}

// The keys to search: the recipe's, or those of the default space where it names none.
void ChooseSpace(config::LoadedTune& tune, const train::RunData& data) {
  if (!tune.tune.keys.empty()) {
    CheckSameValidation(tune, data);
    return;
  }
  const config::Recipe& recipe = tune.recipe.recipe;
  const DataKind kind = KindOf(recipe, data, train::NeedsOf(recipe.objective).teacher);
  tune.tune.keys = DefaultKeys(recipe, kind);
  KeepSameValidation(tune, data);
  std::string names;
  for (const config::SearchKey& key : tune.tune.keys) {
    names += (names.empty() ? "" : ", ") + key.path;
  }
  Note(fmt::format("[tune] names no key: the default space for {} is searched: {}", KindText(kind),
                   names));
}

std::string Run(const SearchContext& search) {
  const std::string file = search.folder.journal().native();
  SearchPlan plan = PlanOf(*search.journal.Find("plan"), file);
  AddDrawn(search.journal, file, plan);
  TrainTrials(search, plan);
  Finish(search, plan);
  if (search.journal.Find("end") == nullptr) {
    search.journal.Append([&] {
      WriteChosenRecipe(search);
      return Json{{"event", "end"}};
    });
  } else if (search.leads()) {
    WriteChosenRecipe(search);  // which somebody may have removed
  }
  if (search.leads()) WriteTunePage(search, plan);  // again after each --resume, of the journal
  return search.leads() ? OutcomeText(search, plan) : "";
}

// The journal and the lock of a search's folder, which this makes where it is missing.
struct OpenSearch {
  OpenSearch(const SearchFolder& folder, dist::ProcessGroup& group) {
    group.Agree([&] {
      if (!group.leads()) return;
      MakeFolder(folder.path());
      lock = std::make_unique<train::RunLock>(folder.lock());
    });
    journal = std::make_unique<Journal>(folder.journal(), group);
  }
  std::unique_ptr<train::RunLock> lock;  // only on rank 0
  std::unique_ptr<Journal> journal;
};

// Throws what shows before the data are read.
void CheckBefore(const config::LoadedTune& tune, const SearchFolder& folder, bool resume) {
  CheckFolder(folder, resume);
  CheckMeasure(tune);
  CheckKept(tune);
  if (!resume) CheckKeysDoSomething(tune);
}

}  // namespace

std::string RunSearch(config::LoadedTune tune, const SearchOptions& options) {
  const SearchFolder folder(options.output);
  dist::ProcessGroup& group = *options.group;
  group.Agree([&] {
    if (group.leads()) CheckBefore(tune, folder, options.resume);
  });
  const std::string fingerprint = SearchFingerprint(tune, options.budget);
  std::optional<OpenSearch> open;
  if (options.resume) {
    open.emplace(folder, group);
    CheckFingerprint(folder, *open->journal, fingerprint);
    if (group.leads()) folder.RemoveUnfinished();
  }
  std::unique_ptr<train::ModelMeasurer> measurer;
  Json inputs;  // on rank 0
  group.Agree([&] {
    measurer = std::make_unique<train::ModelMeasurer>(tune.recipe, options.group);
    CheckTestData(tune, measurer->data());
    if (group.leads()) inputs = HashInputs(tune, *measurer);
    if (group.leads() && open) CheckInputs(folder, *open->journal, inputs);
    ChooseSpace(tune, measurer->data());
  });
  std::optional<Beginning> beginning;
  if (!open || open->journal->Find("plan") == nullptr) {
    beginning = Begin(tune, options, *measurer);
  }
  if (!open) open.emplace(folder, group);
  std::set<std::string> warned;
  train::SharedTokens tokens;
  const SearchContext search{.tune = tune,
                             .options = options,
                             .folder = folder,
                             .measurer = *measurer,
                             .journal = *open->journal,
                             .warned = warned,
                             .tokens = tokens};
  if (beginning) WriteBeginning(search, *beginning, fingerprint, inputs);
  return Run(search);
}

}  // namespace tandem::tune

#include "tune/trials/base_validations.h"

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/files/files.h"
#include "base/json/json.h"
#include "base/json/json_reader.h"
#include "config/recipe/recorded_recipes.h"
#include "report/records/run_log.h"
#include "train/run/run_folder.h"

namespace tandem::tune {
namespace {

constexpr const char* kSimilarity = "similarity";
constexpr const char* kMeasures = "measures";

// An objective decides what scores in the lines mean, and so which documents are relevant and which
// queries can be held out. Of [data], what says which negatives a query gets has no part in a
// ranking of documents.
bool MayChangeBase(std::string_view key) {
  if (key == "data.negatives" || key.starts_with("data.masks.")) return false;
  return key.starts_with("model.") || key.starts_with("validation.") || key.starts_with("data.") ||
         key == "objective.name" || key == "objective.similarity_kind";
}

// The validation before the first step of a trial's run, with the similarity of its model; null
// where there is none yet.
Json BaseOf(const SearchContext& search, int64_t trial) {
  const train::RunFolder run(search.folder.TrialRun(trial));
  if (!std::filesystem::exists(run.recipe())) return {};
  const report::RunLog log = report::ReadRunLog(run.metrics());
  if (log.validations.empty() || log.validations.front().step != 0) return {};
  const config::Recipe recipe = config::ReadResolvedRecipe(
      ReadFile(run.recipe()), run.recipe().native(), search.tune.recipe.catalogues);
  Json measures = Json::array();
  for (const report::NamedNumber& measure : log.validations.front().measures) {
    measures.push_back(Json::array({measure.name, measure.AsDouble()}));
  }
  return {{kSimilarity, recipe.objective.params.String("similarity_kind")},
          {kMeasures, std::move(measures)}};
}

train::KnownBase KnownBaseOf(const Json& row) {
  train::KnownBase known{.similarity = row.at(kSimilarity).text(), .validated = {}};
  const Json& measures = row.at(kMeasures);
  known.validated.value = measures.at(0).at(1).get<double>();
  for (size_t i = 1; i < measures.size(); ++i) {
    known.validated.further.push_back(
        {measures.at(i).at(0).text(), measures.at(i).at(1).get<double>()});
  }
  return known;
}

Json FindBases(const SearchContext& search, const SearchPlan& plan, int64_t trial) {
  const auto of_trial = [&plan](int64_t number) {
    return BaseKeys(plan.configurations[static_cast<size_t>(number) - 1]);
  };
  Json found = Json::array();
  std::set<std::string> similarities;
  for (int64_t other = 1; other <= static_cast<int64_t>(plan.configurations.size()); ++other) {
    if (other == trial || of_trial(other) != of_trial(trial)) continue;
    Json base = BaseOf(search, other);
    if (base.is_null() || !similarities.insert(base.at(kSimilarity).text()).second) continue;
    found.push_back(std::move(base));
  }
  return found;
}

}  // namespace

config::Assignment BaseKeys(const config::Assignment& values) {
  config::Assignment kept;
  for (const auto& [key, value] : values) {
    if (MayChangeBase(key)) kept.emplace_back(key, value);
  }
  return kept;
}

std::vector<int64_t> CountBaseValidations(const std::vector<config::Assignment>& configurations) {
  std::set<config::Assignment> seen;
  std::vector<int64_t> counts;
  for (const config::Assignment& values : configurations) {
    seen.insert(BaseKeys(values));
    counts.push_back(static_cast<int64_t>(seen.size()));
  }
  return counts;
}

std::vector<train::KnownBase> KnownBases(const SearchContext& search, const SearchPlan& plan,
                                         int64_t trial) {
  std::string text;
  search.group().Agree([&] {
    if (search.leads()) text = FindBases(search, plan, trial).Dump();
  });
  std::vector<train::KnownBase> known;
  for (const Json& row : ParseJson(search.group().BroadcastBytes(text))) {
    known.push_back(KnownBaseOf(row));
  }
  return known;
}

}  // namespace tandem::tune

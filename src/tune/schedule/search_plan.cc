#include "tune/schedule/search_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "base/progress.h"
#include "report/tables/numbers.h"

namespace tandem::tune {
namespace {

double RatioOf(const std::optional<double>& value, const std::optional<double>& of) {
  return value && of && *of > 0 ? *value / *of : 1;
}

std::optional<double> Number(const std::optional<int64_t>& value) {
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

// How much longer a run is than another one.
double LengthRatio(const config::TrainRecipe& run, const config::TrainRecipe& than, bool in_steps) {
  const double batch = RatioOf(Number(run.batch), Number(than.batch));
  if (run.epochs && than.epochs) return RatioOf(run.epochs, than.epochs) / (in_steps ? batch : 1);
  if (run.steps && than.steps) {
    return RatioOf(Number(run.steps), Number(than.steps)) * (in_steps ? 1 : batch);
  }
  return 1;
}

}  // namespace

double LengthFactor(const config::LoadedTune& tune,
                    const std::vector<config::Assignment>& configurations, bool in_steps) {
  constexpr size_t kEnough = 100;  // for a mean
  double sum = 0;
  const size_t count = std::min(configurations.size(), kEnough);
  for (size_t i = 0; i < count; ++i) {
    config::Assignment values = configurations[i];
    const config::LoadedRecipe recipe = config::MakeTrialRecipe(tune, "trial", &values);
    sum += LengthRatio(recipe.recipe.train, tune.recipe.recipe.train, in_steps);
  }
  return count == 0 ? 1 : sum / static_cast<double>(count);
}

std::string SearchFingerprint(const config::LoadedTune& tune, const std::optional<Budget>& budget) {
  RunningHash hash;
  hash.Add(tune.recipe.text);  // with [tune], as it stands in the file
  for (const std::string& set : tune.recipe.sets) hash.Add(set);
  if (budget) {
    hash.Add(budget->seconds);
    hash.Add(static_cast<uint64_t>(budget->steps));
  }
  return fmt::format("{:016x}", hash.value());
}

Json AssignmentJson(const config::Assignment& values) {
  Json keys = Json::object();
  for (const auto& [key, value] : values) keys.Append(key, Json(value));
  return keys;
}

config::Assignment AssignmentOf(const Json& keys) {
  config::Assignment values;
  for (const JsonMember& member : keys.items()) {
    values.emplace_back(member.key, member.value.text());
  }
  return values;
}

Json PlanRow(const SearchPlan& plan, const std::string& fingerprint) {
  Json brackets = Json::array();
  for (const Bracket& bracket : plan.brackets) {
    Json rungs = Json::array();
    for (const Rung& rung : bracket.rungs) rungs.push_back(Json::array({rung.trials, rung.units}));
    brackets.push_back(std::move(rungs));
  }
  Json configurations = Json::array();
  for (const config::Assignment& values : plan.configurations) {
    configurations.push_back(AssignmentJson(values));
  }
  return {{"event", "plan"},
          {"format", 1},
          {"search", fingerprint},
          {"brackets", std::move(brackets)},
          {"configurations", std::move(configurations)}};
}

SearchPlan PlanOf(const Json& row, const std::string& file) {
  try {
    SearchPlan plan;
    for (const Json& rungs : row.at("brackets")) {
      Bracket bracket;
      for (const Json& rung : rungs) {
        bracket.rungs.push_back({rung.at(0).get<int64_t>(), rung.at(1).get<int64_t>()});
      }
      plan.brackets.push_back(std::move(bracket));
    }
    for (const Json& keys : row.at("configurations")) {
      plan.configurations.push_back(AssignmentOf(keys));
    }
    return plan;
  } catch (const JsonError& error) {
    throw ModelError(file, "", fmt::format("its row \"plan\" is broken: {}", error.what()));
  }
}

std::string TrialsText(const SearchPlan& plan) {
  const int64_t trials = TrialsOf(plan.brackets);
  const auto in_full = static_cast<int64_t>(
      std::count_if(plan.brackets.begin(), plan.brackets.end(),
                    [](const Bracket& bracket) { return bracket.rungs.size() == 1; }));
  if (in_full == 0 || in_full == static_cast<int64_t>(plan.brackets.size())) {
    return fmt::format("{} configuration{}", trials, trials == 1 ? "" : "s");
  }
  return fmt::format(
      "{} trials: {} configurations by successive halving, then {} in full, each where those "
      "before it promise most",
      trials, trials - in_full, in_full);
}

std::string PlanText(const SearchPlan& plan, int64_t rungs, const SearchCost& cost) {
  return fmt::format(
      "{}; {:.1f} times the training of one, about {}", TrialsText(plan),
      static_cast<double>(UnitsOf(plan.brackets)) / static_cast<double>(FullUnits(rungs)),
      FormatDuration(SecondsOf(plan.brackets, rungs, cost)));
}

std::string AssignmentText(const config::Assignment& assignment) {
  std::string text;
  for (const auto& [key, value] : assignment) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value);
  }
  return text.empty() ? "the recipe as it is" : text;
}

}  // namespace tandem::tune

#include "tune/draw/draw_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "tune/draw/surrogate.h"
#include "tune/schedule/halving.h"
#include "tune/space/space.h"
#include "tune/trials/trials.h"

namespace tandem::tune {
namespace {

// Below so many there is nothing to tell one direction from another.
constexpr size_t kLeastValues = 3;

// The values of each trial so far; those of the plan's first bracket come first.
std::vector<ValuesByLength> ValuesOf(const SearchPlan& plan, const Journal& journal) {
  std::vector<ValuesByLength> values(plan.configurations.size());
  std::vector<size_t> brackets;  // of each trial
  for (size_t b = 0; b < plan.brackets.size(); ++b) {
    brackets.insert(brackets.end(), static_cast<size_t>(plan.brackets[b].rungs.front().trials), b);
  }
  for (const RungResult& result : ResultsOf(journal)) {
    const auto trial = static_cast<size_t>(result.trial - 1);
    const int64_t units = plan.brackets[brackets[trial]].rungs[result.round].units;
    if (result.value) values[trial][units] = *result.value;
  }
  return values;
}

}  // namespace

void TrialDrawer::ReadCandidates() {
  if (!candidates_.empty()) return;
  candidates_ = DrawConfigurations(
      search_.tune, static_cast<uint64_t>(search_.tune.recipe.recipe.seed), kMostConfigurations);
  points_ = PointsOf(search_.tune, candidates_);
}

config::Assignment TrialDrawer::Choose(const SearchPlan& plan) {
  ReadCandidates();
  const std::vector<config::Assignment>& tried = plan.configurations;
  std::vector<size_t> rest;
  std::vector<ConfigurationPoint> rest_points;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (std::find(tried.begin(), tried.end(), candidates_[i]) != tried.end()) continue;
    rest.push_back(i);
    rest_points.push_back(points_[i]);
  }
  if (rest.empty()) {
    throw ModelError(search_.folder.journal().native(), "",
                     "its plan has more trials than [tune] has configurations; it was changed, and "
                     "the search cannot go on: begin another one");
  }
  const std::vector<ValuesByLength> values = ValuesOf(plan, search_.journal);
  const auto known = std::count_if(values.begin(), values.end(),
                                   [](const ValuesByLength& of) { return !of.empty(); });
  if (static_cast<size_t>(known) < kLeastValues) return candidates_[rest.front()];
  const Surrogate surrogate(PointsOf(search_.tune, tried), ComparableValues(values));
  return candidates_[rest[MostPromising(surrogate, rest_points)]];
}

void TrialDrawer::Draw(SearchPlan& plan) {
  search_.journal.Append([&] {
    return Json{{"event", "draw"},
                {"trial", plan.configurations.size() + 1},
                {"values", AssignmentJson(Choose(plan))}};
  });
  AddDrawn(search_.journal, search_.folder.journal().native(), plan);
}

void AddDrawn(const Journal& journal, const std::string& file, SearchPlan& plan) {
  try {
    for (const Json* row : journal.All("draw")) {
      if (row->at("trial").get<size_t>() != plan.configurations.size() + 1) continue;
      plan.configurations.push_back(AssignmentOf(row->at("values")));
    }
  } catch (const JsonError& error) {
    throw ModelError(file, "", fmt::format("its row \"draw\" is broken: {}", error.what()));
  }
}

}  // namespace tandem::tune

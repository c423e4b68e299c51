#include "tune/draw/draw_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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

// Trials of full length, and those that cannot be trained.
std::set<int64_t> DoneTrials(const SearchPlan& plan, const Journal& journal) {
  const std::vector<RungResult> results = ResultsOf(journal);
  const std::vector<int64_t> in_full = Finalists(plan.brackets, results);
  std::set<int64_t> done(in_full.begin(), in_full.end());
  for (const RungResult& result : results) {
    if (!result.value) done.insert(result.trial);
  }
  return done;
}

}  // namespace

void TrialDrawer::ReadCandidates() {
  if (!candidates_.empty()) return;
  candidates_ = DrawConfigurations(
      search_.tune, static_cast<uint64_t>(search_.tune.recipe.recipe.seed), kMostConfigurations);
  points_ = PointsOf(search_.tune, candidates_);
}

std::vector<size_t> TrialDrawer::Rest(const SearchPlan& plan) const {
  const std::vector<config::Assignment>& tried = plan.configurations;
  std::vector<size_t> fresh, left;
  const std::set<int64_t> done = DoneTrials(plan, search_.journal);
  for (size_t i = 0; i < candidates_.size(); ++i) {
    bool begun = false, ended = false;
    for (size_t trial = 0; trial < tried.size(); ++trial) {
      if (tried[trial] != candidates_[i]) continue;
      begun = true;
      ended |= done.contains(static_cast<int64_t>(trial) + 1);
    }
    if (!begun) fresh.push_back(i);
    if (begun && !ended) left.push_back(i);
  }
  return fresh.empty() ? left : fresh;
}

config::Assignment TrialDrawer::Choose(const SearchPlan& plan, const std::vector<size_t>& rest) {
  const std::vector<ValuesByLength> values = ValuesOf(plan, search_.journal);
  const auto known = std::count_if(values.begin(), values.end(),
                                   [](const ValuesByLength& of) { return !of.empty(); });
  if (static_cast<size_t>(known) < kLeastValues) return candidates_[rest.front()];
  std::vector<ConfigurationPoint> rest_points;
  for (const size_t i : rest) rest_points.push_back(points_[i]);
  const Surrogate surrogate(PointsOf(search_.tune, plan.configurations), ComparableValues(values));
  return candidates_[rest[MostPromising(surrogate, rest_points)]];
}

bool TrialDrawer::Draw(SearchPlan& plan) {
  ReadCandidates();
  const std::vector<size_t> rest = Rest(plan);  // the same on all ranks, as the journal is
  if (rest.empty()) return false;
  search_.journal.Append([&] {
    return Json{{"event", "draw"},
                {"trial", plan.configurations.size() + 1},
                {"values", AssignmentJson(Choose(plan, rest))}};
  });
  AddDrawn(search_.journal, search_.folder.journal().native(), plan);
  return true;
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

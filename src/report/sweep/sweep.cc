#include "report/sweep/sweep.h"

#include <algorithm>
#include <utility>

#include "report/sweep/input_names.h"
#include "report/sweep/sweep_results.h"

namespace tandem::report {
namespace {

// The mean of what `take` has of each result.
template <typename Take>
GroupMean MeanOf(const SweepData& data, const RecipeGroup& group, const Take& take) {
  std::vector<double> values;
  for (const size_t run : group.runs) {
    if (!data.results[run]) continue;
    if (const std::optional<double> value = take(*data.results[run])) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return eval::SpreadOf(values);
}

void SortGroups(const SweepData& data, std::vector<RecipeGroup>& groups) {
  const auto rank = [&](const RecipeGroup& group) {
    const GroupMean mean = ValueOf(data, group);
    if (!mean) return std::pair(true, 0.0);
    return std::pair(false, LowerIsBetter(data.measure) ? mean->mean : -mean->mean);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const RecipeGroup& a, const RecipeGroup& b) { return rank(a) < rank(b); });
}

}  // namespace

bool LowerIsBetter(std::string_view measure) { return measure == "loss"; }

std::string SweepData::Words() const {
  return (validation ? "validation on " : "evaluation on ") + name;
}

GroupMean ValueOf(const SweepData& data, const RecipeGroup& group) {
  return MeanOf(data, group, [](const RunResult& result) { return std::optional(result.value); });
}

GroupMean GainOf(const SweepData& data, const RecipeGroup& group) {
  const double sign = LowerIsBetter(data.measure) ? -1 : 1;
  return MeanOf(data, group, [&](const RunResult& result) -> std::optional<double> {
    if (!result.base) return std::nullopt;
    return sign * (result.value - *result.base);
  });
}

size_t ResultsOf(const SweepData& data, const RecipeGroup& group) {
  return static_cast<size_t>(std::count_if(group.runs.begin(), group.runs.end(), [&](size_t run) {
    return data.results[run].has_value();
  }));
}

std::vector<size_t> Sweep::RunsThatAre(RunState state) const {
  std::vector<size_t> runs;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i] == state) runs.push_back(i);
  }
  return runs;
}

Sweep MakeSweep(const ReportInput& input, const SweepOptions& options) {
  Sweep sweep{.input = input, .options = options};
  for (const RunRecord& run : input.runs) sweep.states.push_back(StateOf(run));
  sweep.run_keys = KeysWithInputNames(input.runs);
  sweep.groups = GroupsByRecipe(sweep.run_keys, sweep.RunsThatAre(RunState::kFinished));
  sweep.repeats = TakeOutRepeats(input.runs, sweep.groups);
  for (const Repeat& repeat : sweep.repeats) sweep.states[repeat.run] = RunState::kRepeated;
  sweep.data = ResultsByData(sweep, ChosenMeasure(sweep, options.measure));
  if (sweep.data.empty()) {
    sweep.data.push_back({.name = "", .validation = true, .measure = options.measure});
    sweep.data.back().results.resize(input.runs.size());
  }
  sweep.keys = DifferingKeys(sweep.groups);
  SortGroups(sweep.data.front(), sweep.groups);
  return sweep;
}

}  // namespace tandem::report

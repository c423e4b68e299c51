#include "report/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "report/page/page_parts.h"
#include "report/page/validation_words.h"

namespace tandem::report {
namespace {

std::optional<double> ValidationValue(const ValidationRow& row, std::string_view measure) {
  for (const NamedNumber& number : row.measures) {
    if (number.name == measure) return number.AsDouble();
  }
  return std::nullopt;
}

std::optional<double> EvaluationValue(const EvaluationRecord& record, std::string_view measure) {
  for (const MeasureResult& one : record.measures) {
    if (one.name == measure) return one.mean;
  }
  return std::nullopt;
}

std::optional<RunResult> ResultOfValidation(const RunRecord& run, std::string_view measure) {
  const ValidationRow* const best = run.log.BestValidation();
  const std::optional<double> value =
      best == nullptr ? std::nullopt : ValidationValue(*best, measure);
  if (!value) return std::nullopt;
  const ValidationRow& first = run.log.validations.front();
  return RunResult{*value, first.step == 0 ? ValidationValue(first, measure) : std::nullopt};
}

// All measures that runs have, and the one that most of them were chosen by.
struct KnownMeasures {
  std::vector<std::string> names;
  std::string deciding;
};

void AddName(const std::string& name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

KnownMeasures SweepMeasuresOf(const ReportInput& input) {
  KnownMeasures known;
  std::map<std::string, int> deciding;
  for (const RunRecord& run : input.runs) {
    const ValidationRow* const best = run.log.BestValidation();
    if (best == nullptr || best->measures.empty()) continue;
    for (const NamedNumber& number : best->measures) AddName(number.name, known.names);
    const std::string& first = best->measures.front().name;
    if (++deciding[first] > deciding[known.deciding]) known.deciding = first;
  }
  for (const RunsEvaluation& one : input.of_runs) {
    for (const MeasureResult& measure : input.evaluations[one.evaluation].record.measures) {
      AddName(measure.name, known.names);
    }
  }
  if (known.deciding.empty() && !known.names.empty()) known.deciding = known.names.front();
  return known;
}

std::string ChosenMeasure(const ReportInput& input, const std::string& asked) {
  const KnownMeasures known = SweepMeasuresOf(input);
  if (asked.empty()) return known.deciding;
  if (std::find(known.names.begin(), known.names.end(), asked) != known.names.end()) return asked;
  const std::vector<std::string_view> names(known.names.begin(), known.names.end());
  std::string list;
  for (const std::string& name : known.names) list += (list.empty() ? "" : ", ") + name;
  throw UsageError(fmt::format("--measure {}: no run has it; they have {}{}", asked,
                               list.empty() ? "none" : list, DidYouMean(asked, names)));
}

// What one run was validated on: runs of other data are not compared.
std::string ValidationName(const RunRecord& run) {
  const std::string words = ValidationWords(run);
  return words.empty() ? "data that its recipe does not name" : words;
}

// The measure, and the same of each of the data sets that runs are validated on ("ndcg@10[NAME]").
std::vector<std::string> WithParts(const ReportInput& input, const std::string& measure) {
  std::vector<std::string> names = {measure};
  for (const RunRecord& run : input.runs) {
    const ValidationRow* const best = run.log.BestValidation();
    if (best == nullptr) continue;
    for (const NamedNumber& number : best->measures) {
      if (number.name.starts_with(measure + "[")) AddName(number.name, names);
    }
  }
  return names;
}

void AddValidations(const ReportInput& input, const std::string& measure,
                    std::vector<SweepData>& data) {
  const size_t before = data.size();
  for (const std::string& part : WithParts(input, measure)) {
    for (size_t i = 0; i < input.runs.size(); ++i) {
      const std::optional<RunResult> result = ResultOfValidation(input.runs[i], part);
      if (!result) continue;
      const std::string name = ValidationName(input.runs[i]);
      auto found = std::find_if(data.begin(), data.end(), [&](const SweepData& one) {
        return one.name == name && one.measure == part;
      });
      if (found == data.end()) {
        found = data.insert(data.end(), {.name = name, .validation = true, .measure = part});
        found->results.resize(input.runs.size());
      }
      found->results[i] = result;
    }
  }
  const auto runs = [](const SweepData& one) {
    return std::count_if(one.results.begin(), one.results.end(),
                         [](const auto& result) { return result.has_value(); });
  };
  std::stable_sort(data.begin() + static_cast<std::ptrdiff_t>(before), data.end(),
                   [&](const SweepData& a, const SweepData& b) { return runs(a) > runs(b); });
}

const LabelledEvaluation* EvaluationOf(const ReportInput& input, const EvaluationGroup& group,
                                       size_t run, bool before) {
  for (const RunsEvaluation& one : input.of_runs) {
    const LabelledEvaluation* const evaluation = &input.evaluations[one.evaluation];
    if (one.run != run || (one.name == "before") != before) continue;
    if (std::find(group.evaluations.begin(), group.evaluations.end(), evaluation) !=
        group.evaluations.end()) {
      return evaluation;
    }
  }
  return nullptr;
}

void AddEvaluations(const ReportInput& input, const std::string& measure,
                    std::vector<SweepData>& data) {
  for (const EvaluationGroup& group : GroupsOf(input)) {
    SweepData one{.name = group.dataset, .measure = measure};
    one.results.resize(input.runs.size());
    bool any = false;
    for (size_t run = 0; run < input.runs.size(); ++run) {
      const LabelledEvaluation* const after = EvaluationOf(input, group, run, false);
      const LabelledEvaluation* const before = EvaluationOf(input, group, run, true);
      if (after == nullptr) continue;
      const std::optional<double> value = EvaluationValue(after->record, measure);
      if (!value) continue;
      one.results[run] = RunResult{
          *value, before == nullptr ? std::nullopt : EvaluationValue(before->record, measure)};
      any = true;
    }
    if (any) data.push_back(std::move(one));
  }
}

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

RunState StateOf(const RunRecord& run) {
  if (run.keys.empty()) return RunState::kBroken;
  return run.log.finished ? RunState::kFinished : RunState::kUnfinished;
}

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
  const std::string measure = ChosenMeasure(input, options.measure);
  AddValidations(input, measure, sweep.data);
  AddEvaluations(input, measure, sweep.data);
  if (sweep.data.empty()) {
    sweep.data.push_back({.name = "no data", .validation = true, .measure = measure});
    sweep.data.back().results.resize(input.runs.size());
  }
  sweep.groups = GroupsByRecipe(input.runs, sweep.RunsThatAre(RunState::kFinished));
  sweep.keys = DifferingKeys(sweep.groups);
  SortGroups(sweep.data.front(), sweep.groups);
  return sweep;
}

}  // namespace tandem::report

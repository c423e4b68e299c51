#include "report/sweep/sweep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "report/page/page_parts.h"
#include "report/sweep/input_names.h"

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

KnownMeasures SweepMeasuresOf(const Sweep& sweep, const std::vector<size_t>& runs) {
  KnownMeasures known;
  std::map<std::string, int> deciding;
  for (const size_t run : runs) {
    const ValidationRow* const best = sweep.input.runs[run].log.BestValidation();
    if (best == nullptr || best->measures.empty()) continue;
    for (const NamedNumber& number : best->measures) AddName(number.name, known.names);
    const std::string& first = best->measures.front().name;
    if (++deciding[first] > deciding[known.deciding]) known.deciding = first;
  }
  for (const RunsEvaluation& one : sweep.input.of_runs) {
    if (std::find(runs.begin(), runs.end(), one.run) == runs.end()) continue;
    for (const MeasureResult& measure : sweep.input.evaluations[one.evaluation].record.measures) {
      AddName(measure.name, known.names);
    }
  }
  if (known.deciding.empty() && !known.names.empty()) known.deciding = known.names.front();
  return known;
}

// The runs that choose which data and measures there are.
std::vector<size_t> ChoosingRuns(const Sweep& sweep) {
  std::vector<size_t> runs = sweep.RunsThatAre(RunState::kFinished);
  return runs.empty() ? sweep.RunsThatAre(RunState::kUnfinished) : runs;
}

// The measure, and the same of each of the data sets that runs are validated on ("ndcg@10[NAME]").
std::vector<std::string> WithParts(const Sweep& sweep, const std::vector<size_t>& runs,
                                   const std::string& measure) {
  std::vector<std::string> names = {measure};
  for (const size_t run : runs) {
    const ValidationRow* const best = sweep.input.runs[run].log.BestValidation();
    if (best == nullptr) continue;
    for (const NamedNumber& number : best->measures) {
      if (number.name.starts_with(measure + "[")) AddName(number.name, names);
    }
  }
  return names;
}

// What a run's value of `part` is measured on; of the measure of one of several data sets, its own
// queries.
std::string DataNameOf(const Sweep& sweep, size_t run, const std::string& measure,
                       const std::string& part) {
  const std::string all = ValidationName(sweep.input.runs[run], sweep.run_keys[run]);
  if (part == measure) return all;
  const std::string source = part.substr(measure.size() + 1, part.size() - measure.size() - 2);
  return fmt::format("those of {} among {}", source, all);
}

SweepData* FindData(std::vector<SweepData>& data, const std::string& name,
                    const std::string& measure) {
  const auto found = std::find_if(data.begin(), data.end(), [&](const SweepData& one) {
    return one.name == name && one.measure == measure;
  });
  return found == data.end() ? nullptr : &*found;
}

void AddValidations(const Sweep& sweep, const std::vector<size_t>& choosing,
                    const std::string& measure, std::vector<SweepData>& data) {
  const size_t before = data.size();
  const std::vector<RunRecord>& runs = sweep.input.runs;
  for (const std::string& part : WithParts(sweep, choosing, measure)) {
    for (const size_t run : choosing) {
      if (!ResultOfValidation(runs[run], part)) continue;
      const std::string name = DataNameOf(sweep, run, measure, part);
      if (FindData(data, name, part) == nullptr) {
        data.push_back({.name = name, .validation = true, .measure = part});
        data.back().results.resize(runs.size());
      }
    }
    for (size_t run = 0; run < runs.size(); ++run) {
      if (sweep.states[run] == RunState::kBroken) continue;
      SweepData* const there = FindData(data, DataNameOf(sweep, run, measure, part), part);
      if (there != nullptr) there->results[run] = ResultOfValidation(runs[run], part);
    }
  }
  const auto results = [&](const SweepData& one) {
    return std::count_if(choosing.begin(), choosing.end(),
                         [&](size_t run) { return one.results[run].has_value(); });
  };
  std::stable_sort(data.begin() + static_cast<std::ptrdiff_t>(before), data.end(),
                   [&](const SweepData& a, const SweepData& b) { return results(a) > results(b); });
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

void AddEvaluations(const Sweep& sweep, const std::vector<size_t>& choosing,
                    const std::string& measure, std::vector<SweepData>& data) {
  const ReportInput& input = sweep.input;
  for (const EvaluationGroup& group : GroupsOf(input)) {
    SweepData one{.name = group.dataset, .measure = measure};
    one.results.resize(input.runs.size());
    for (size_t run = 0; run < input.runs.size(); ++run) {
      const LabelledEvaluation* const after = EvaluationOf(input, group, run, false);
      const LabelledEvaluation* const before = EvaluationOf(input, group, run, true);
      if (after == nullptr || sweep.states[run] == RunState::kBroken) continue;
      const std::optional<double> value = EvaluationValue(after->record, measure);
      if (!value) continue;
      one.results[run] = RunResult{
          *value, before == nullptr ? std::nullopt : EvaluationValue(before->record, measure)};
    }
    const bool any = std::any_of(choosing.begin(), choosing.end(),
                                 [&](size_t run) { return one.results[run].has_value(); });
    if (any) data.push_back(std::move(one));
  }
}

}  // namespace

std::string ChosenMeasure(const Sweep& sweep, const std::string& asked) {
  const KnownMeasures known = SweepMeasuresOf(sweep, ChoosingRuns(sweep));
  if (asked.empty()) return known.deciding;
  if (std::find(known.names.begin(), known.names.end(), asked) != known.names.end()) return asked;
  const std::vector<std::string_view> names(known.names.begin(), known.names.end());
  std::string list;
  for (const std::string& name : known.names) list += (list.empty() ? "" : ", ") + name;
  throw UsageError(fmt::format("--measure {}: no run has it; they have {}{}", asked,
                               list.empty() ? "none" : list, DidYouMean(asked, names)));
}

std::vector<SweepData> ResultsByData(const Sweep& sweep, const std::string& measure) {
  std::vector<SweepData> data;
  const std::vector<size_t> choosing = ChoosingRuns(sweep);
  AddValidations(sweep, choosing, measure, data);
  AddEvaluations(sweep, choosing, measure, data);
  return data;
}

}  // namespace tandem::report

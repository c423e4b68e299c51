#include "report/verdict/paired_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "eval/significance/compare.h"
#include "eval/significance/power.h"
#include "eval/significance/significance.h"
#include "report/page/page_parts.h"
#include "report/page/validation_words.h"
#include "report/records/same_data.h"

namespace tandem::report {
namespace {

// As `tandem compare` has it where nobody gives --confidence.
constexpr double kLevel = 1 - eval::CompareOptions{}.confidence;

const MeasureResult* MeasureNamed(const EvaluationRecord& record, const std::string& name) {
  const auto found = std::find_if(record.measures.begin(), record.measures.end(),
                                  [&](const MeasureResult& one) { return one.name == name; });
  return found == record.measures.end() ? nullptr : &*found;
}

// The values of a measure by the ids of their queries; empty where they were not kept.
std::map<std::string, double> ValuesById(const EvaluationRecord& record, const std::string& name) {
  const MeasureResult* const measure = MeasureNamed(record, name);
  std::map<std::string, double> values;
  if (measure == nullptr || measure->per_query.size() != record.query_ids.size()) return values;
  for (size_t q = 0; q < record.query_ids.size(); ++q) {
    if (measure->per_query[q]) values[record.query_ids[q]] = *measure->per_query[q];
  }
  return values;
}

// Where every sign pattern was looked at, p cannot be below 2 of them.
bool CanBeSeen(const PairedChange& change, double level) {
  if (!change.exact) return true;
  return std::ldexp(2.0, -static_cast<int>(change.gained + change.lost)) < level;
}

// "before" and "after" are names of files; here they become what a reader calls the models. Which
// folder the model before training is, a reader may not know.
std::string ModelName(const LabelledEvaluation& one) {
  const std::string& folder = one.record.model.folder;
  if (one.label == "before") {
    return "the model before training" + (folder.empty() ? "" : fmt::format(" ({})", folder));
  }
  if (one.label == "after") return "the trained model";
  return one.label;
}

Contender ContenderOf(const LabelledEvaluation& evaluation, const PairedChange& change,
                      double adjusted_p, size_t contenders) {
  Contender one{.name = ModelName(evaluation),
                .baseline = change.first,
                .value = change.second,
                .queries = change.queries,
                .p = adjusted_p,
                .seen = adjusted_p < kLevel};
  if (one.seen) return one;
  if (!CanBeSeen(change, kLevel)) {
    one.doubt = TooFewDiffer(change.gained + change.lost);
  }
  if (change.effect_size) {
    one.queries_needed =
        eval::QueriesNeeded(*change.effect_size, kLevel / static_cast<double>(contenders));
  }
  return one;
}

// A word of a command line, in quotes where a shell would take it apart.
std::string ShellWord(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+=:@%,~").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ServingCommands(const LabelledEvaluation& one) {
  if (!one.place) return "";
  return fmt::format(
      "tandem index build {} {} --output mine.index --with-model\ntandem serve mine.index{}",
      ShellWord(one.place->model), ShellWord(one.place->data),
      IsByDocument(one.record.dataset) ? " --by-document" : "");
}

}  // namespace

bool PairedChange::seen() const { return p < kLevel; }

std::optional<PairedChange> ChangeOf(const EvaluationRecord& a, const EvaluationRecord& b,
                                     const std::string& measure, uint64_t seed) {
  const std::map<std::string, double> first = ValuesById(a, measure);
  const std::map<std::string, double> second = ValuesById(b, measure);
  PairedChange change;
  std::vector<double> differences;
  for (const auto& [query, value] : first) {
    const auto other = second.find(query);
    if (other == second.end()) continue;
    change.first += value;
    change.second += other->second;
    change.gained += other->second > value;
    change.lost += other->second < value;
    differences.push_back(other->second - value);
  }
  if (differences.empty()) return std::nullopt;
  change.queries = differences.size();
  change.first /= static_cast<double>(change.queries);
  change.second /= static_cast<double>(change.queries);
  const eval::TestResult test = eval::SignFlipTest(differences, {.seed = seed});
  change.p = test.p_value;
  change.exact = test.exact;
  change.effect_size = eval::CohensDz(differences);
  return change;
}

std::string QueriesText(const EvaluationRecord& a, const EvaluationRecord& b,
                        const std::string& measure, uint64_t seed) {
  const std::optional<PairedChange> change = ChangeOf(a, b, measure, seed);
  if (!change) return "";
  return QueriesText(*change);
}

std::string QueriesText(const PairedChange& change) {
  return fmt::format("{} gained, {} lost; {}", change.gained, change.lost, PText(change.p));
}

std::optional<Recommendation> RecommendationOf(const ReportInput& input) {
  const std::vector<EvaluationGroup> groups = GroupsOf(input);
  if (groups.empty()) return std::nullopt;
  const EvaluationGroup& group = groups.front();
  const EvaluationRecord& baseline = group.evaluations.front()->record;
  const EvaluationRecord& last = group.evaluations.back()->record;
  if (group.evaluations.size() < 2 || last.measures.empty()) return std::nullopt;
  Contest contest{.measure = last.measures.front().name,
                  .data = group.dataset,
                  .baseline = ModelName(*group.evaluations.front())};
  std::vector<std::pair<const LabelledEvaluation*, PairedChange>> changes;
  std::vector<double> p_values;
  for (size_t i = 1; i < group.evaluations.size(); ++i) {
    const std::optional<PairedChange> change =
        ChangeOf(baseline, group.evaluations[i]->record, contest.measure, input.seed);
    if (!change) continue;
    changes.emplace_back(group.evaluations[i], *change);
    p_values.push_back(change->p);
  }
  if (changes.empty()) return std::nullopt;
  const std::vector<double> adjusted = eval::HolmAdjusted(p_values);
  for (size_t i = 0; i < changes.size(); ++i) {
    contest.contenders.push_back(
        ContenderOf(*changes[i].first, changes[i].second, adjusted[i], changes.size()));
  }
  const DatasetFacts& dataset = baseline.dataset;
  if (std::any_of(input.runs.begin(), input.runs.end(),
                  [&](const RunRecord& run) { return ChoseTheStep(run, dataset); })) {
    contest.caution =
        "these queries also chose the best step of training, which flatters the trained model: ask "
        "others (--dataset, --split)";
  }
  std::vector<double> of_baseline;
  for (const auto& [query, value] : ValuesById(baseline, contest.measure)) {
    of_baseline.push_back(value);
  }
  contest.room = RoomAbove(of_baseline);
  Recommendation found = Recommend(contest);
  found.commands =
      ServingCommands(found.contender ? *changes[*found.contender].first : *group.evaluations[0]);
  return found;
}

}  // namespace tandem::report

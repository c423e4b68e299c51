#include "report/page/validation_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/records/same_data.h"

namespace tandem::report {
namespace {

std::string QueriesOf(const ValidationFacts& facts) {
  if (!facts.queries) return "queries";
  return fmt::format("{} {}", GroupedCount(*facts.queries),
                     *facts.queries == 1 ? "query" : "queries");
}

// The words of all runs, each once; several with their runs' names where they differ.
std::string WordsOfAll(const ReportInput& input) {
  std::vector<std::string> words;
  std::string named;
  for (const RunRecord& run : input.runs) {
    const std::string one = ValidationWords(run);
    if (one.empty()) continue;
    named += fmt::format("{}{}: {}", named.empty() ? "" : "; ", run.name, one);
    if (std::find(words.begin(), words.end(), one) == words.end()) words.push_back(one);
  }
  if (words.empty()) return "";
  return words.size() == 1 ? words.front() : named;
}

}  // namespace

std::string ValidationWords(const RunRecord& run) {
  return run.validation ? ValidationWords(*run.validation) : "";
}

std::string ValidationWords(const ValidationFacts& facts) {
  const std::string ranked =
      facts.documents && facts.corpus && *facts.documents < *facts.corpus
          ? fmt::format(", ranked among {} of {} documents", GroupedCount(*facts.documents),
                        GroupedCount(*facts.corpus))
          : "";
  const std::string data =
      facts.held_out ? fmt::format("that were held out of the training data ({})", facts.data)
                     : "of " + facts.data + (facts.split.empty() ? "" : ", split " + facts.split);
  return fmt::format("{} {}{}", QueriesOf(facts), data, ranked);
}

bool ChoseTheStep(const RunRecord& run, const DatasetFacts& dataset) {
  return run.validation && !run.validation->held_out && run.log.BestValidation() != nullptr &&
         run.validation->data == dataset.name && run.validation->split == dataset.split;
}

std::string BesideValidation(const ReportInput& input, const DatasetFacts& dataset) {
  const std::string words = WordsOfAll(input);
  if (words.empty()) return "";
  const bool chose = std::any_of(input.runs.begin(), input.runs.end(),
                                 [&](const RunRecord& run) { return ChoseTheStep(run, dataset); });
  const std::string queries = fmt::format("{} {}", GroupedCount(dataset.queries),
                                          dataset.queries == 1 ? "query" : "queries");
  if (chose) {
    return fmt::format(
        " ({}). The same queries chose the best step of training, which flatters the trained "
        "model: "
        "validation was on {}",
        queries, words);
  }
  return fmt::format(" ({}). The curve of validation is of other data: {}", queries, words);
}

std::string BesideMeasures(const ReportInput& input) {
  const std::string words = WordsOfAll(input);
  if (words.empty()) return "";
  const std::vector<EvaluationGroup> groups = GroupsOf(input);
  if (groups.empty()) return fmt::format(" Measured on {}.", words);
  const DatasetFacts& dataset = groups.front().evaluations.front()->record.dataset;
  const bool chose = std::any_of(input.runs.begin(), input.runs.end(),
                                 [&](const RunRecord& run) { return ChoseTheStep(run, dataset); });
  if (chose) return fmt::format(" Measured on {}: those of the table of measures.", words);
  return fmt::format(" Measured on {}. The table of measures is of other data: {}.", words,
                     DataWords(dataset));
}

}  // namespace tandem::report

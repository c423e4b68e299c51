// The table of measures, with intervals and differences.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/page_parts.h"
#include "report/page/validation_words.h"
#include "report/records/same_data.h"
#include "report/tables/numbers.h"
#include "report/verdict/paired_change.h"

namespace tandem::report {
namespace {

std::vector<std::string> NamesOf(const EvaluationGroup& group) {
  std::vector<std::string> names;
  for (const LabelledEvaluation* one : group.evaluations) {
    for (const MeasureResult& measure : one->record.measures) {
      if (std::find(names.begin(), names.end(), measure.name) == names.end()) {
        names.push_back(measure.name);
      }
    }
  }
  return names;
}

const MeasureResult* Find(const EvaluationRecord& record, const std::string& name) {
  for (const MeasureResult& measure : record.measures) {
    if (measure.name == name) return &measure;
  }
  return nullptr;
}

PageCell ValueCell(const MeasureResult* measure) {
  if (measure == nullptr) return TextCell("-");
  PageCell cell = NumberCell(measure->mean);
  if (measure->mean && measure->low && measure->high) {
    cell.note = fmt::format("[{}, {}]", Fixed(measure->low, 3), Fixed(measure->high, 3));
  }
  return cell;
}

// Higher is better, for every measure of a ranking.
void MarkBest(std::vector<PageCell>& row) {
  std::optional<double> best;
  size_t values = 0;
  for (const PageCell& cell : row) {
    if (!cell.sort_value) continue;
    ++values;
    best = std::max(best.value_or(*cell.sort_value), *cell.sort_value);
  }
  if (values < 2) return;
  for (PageCell& cell : row) cell.best = cell.sort_value && Fixed(cell.sort_value) == Fixed(best);
}

PageCell DifferenceCell(const EvaluationGroup& group, const std::string& name, uint64_t seed) {
  const EvaluationRecord& a = group.evaluations[0]->record;
  const EvaluationRecord& b = group.evaluations[1]->record;
  const MeasureResult* first = Find(a, name);
  const MeasureResult* second = Find(b, name);
  if (first == nullptr || second == nullptr || !first->mean || !second->mean) return TextCell("-");
  const double difference = *second->mean - *first->mean;
  return {.text = Signed(difference),
          .note = WithPOnOneLine(QueriesText(a, b, name, seed)),
          .sort_value = difference};
}

void AddGroupMeasures(const ReportInput& input, const EvaluationGroup& group, Page& page) {
  PageTable table{.caption = "Means over queries, with 95 % bootstrap intervals, on " +
                             group.dataset +
                             BesideValidation(input, group.evaluations.front()->record.dataset),
                  .columns = {{"Measure"}},
                  .sortable = group.evaluations.size() > 1};
  for (const LabelledEvaluation* one : group.evaluations) {
    table.columns.push_back({one->label, true});
  }
  const bool two = group.evaluations.size() == 2;
  if (two) table.columns.push_back({"Difference", true, true});
  for (const std::string& name : NamesOf(group)) {
    std::vector<PageCell> row = {ForeignCell(name)};
    for (const LabelledEvaluation* one : group.evaluations) {
      row.push_back(ValueCell(Find(one->record, name)));
    }
    MarkBest(row);
    if (two) row.push_back(DifferenceCell(group, name, input.seed));
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    page.Missing("No measures on " + group.dataset + ".");
  } else {
    page.AddTable(table);
  }
}

std::string LabelsOf(const EvaluationGroup& group) {
  std::string labels;
  for (const LabelledEvaluation* one : group.evaluations) {
    labels += (labels.empty() ? "" : ", ") + one->label;
  }
  return labels;
}

// Two data sets of one name look like one to a reader: the page says what it does not compare.
void SayWhatIsNotCompared(const std::vector<EvaluationGroup>& groups, Page& page) {
  for (size_t i = 1; i < groups.size(); ++i) {
    const EvaluationRecord& record = groups[i].evaluations.front()->record;
    const auto first = std::find_if(groups.begin(), groups.end(), [&](const EvaluationGroup& g) {
      return DataName(g.evaluations.front()->record.dataset) == DataName(record.dataset);
    });
    if (first->evaluations.front() == groups[i].evaluations.front()) continue;
    page.Missing(fmt::format(
        "{} and {} are not compared: they were not measured on the same queries and documents but "
        "on {}.",
        LabelsOf(*first), LabelsOf(groups[i]),
        BothDataWords(first->evaluations.front()->record, record)));
  }
}

}  // namespace

void AddMeasures(const ReportInput& input, Page& page) {
  page.Section("measures", "How well it ranks", [&] {
    for (const std::string& sentence : input.missing) page.Missing(sentence);
    const std::vector<EvaluationGroup> groups = GroupsOf(input);
    if (groups.empty()) {
      if (input.missing.empty()) page.Missing("No evaluation was given.");
      return;
    }
    SayWhatIsNotCompared(groups, page);
    for (const EvaluationGroup& group : groups) AddGroupMeasures(input, group, page);
    page.Paragraph(
        "An interval says how much a mean would move with other queries of the same kind. Whether "
        "two models differ is asked query by query: p is how often chance alone would give so "
        "large a difference of the means (paired randomisation test, as tandem compare has it); "
        "below 0.05 chance is hardly the reason.");
  });
}

}  // namespace tandem::report

#include "commands/evaluate/group_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json/json.h"
#include "base/log.h"
#include "report/tables/numbers.h"
#include "text/width/display_width.h"

namespace tandem::app {
namespace {

// The values of one measure by group; the queries without the field come last.
struct GroupValues {
  std::map<std::string, std::vector<double>> of_groups;
  std::vector<double> without;
};

GroupValues ValuesOfGroups(const eval::Evaluation& evaluation, const eval::MeasureValues& measure,
                           const std::map<std::string, std::string>& groups) {
  GroupValues values;
  for (size_t q = 0; q < evaluation.queries.size(); ++q) {
    const auto group = groups.find(evaluation.queries[q]);
    std::vector<double>& list =
        group == groups.end() ? values.without : values.of_groups[group->second];
    if (measure.per_query[q]) list.push_back(*measure.per_query[q]);
  }
  return values;
}

GroupMeasure GroupRow(const std::string& measure, std::optional<std::string> group,
                      const std::vector<double>& values, const eval::BootstrapOptions& options) {
  GroupMeasure row{.measure = measure, .group = std::move(group), .queries = values.size()};
  if (values.empty()) return row;
  double sum = 0;
  for (const double value : values) sum += value;
  row.mean = sum / static_cast<double>(values.size());
  if (values.size() < 2) return row;
  row.interval =
      eval::PercentileInterval(eval::ResampledMeans(values, options), options.confidence);
  return row;
}

std::optional<double> LowOfGroup(const GroupMeasure& row) {
  return row.interval ? std::optional(row.interval->low) : std::nullopt;
}
std::optional<double> HighOfGroup(const GroupMeasure& row) {
  return row.interval ? std::optional(row.interval->high) : std::nullopt;
}

std::string GroupName(const GroupMeasure& row) { return row.group.value_or("(without)"); }

report::Cell MeanCell(const GroupMeasure& row) {
  if (row.interval) return report::Interval{*row.mean, row.interval->low, row.interval->high};
  return row.mean;
}

// The rows of each group.
std::vector<std::vector<const GroupMeasure*>> RowsOfGroups(const GroupReport& report) {
  std::vector<std::vector<const GroupMeasure*>> groups;
  for (const GroupMeasure& row : report.rows) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& rows) {
      return rows.front()->group == row.group;
    });
    if (same == groups.end()) {
      groups.push_back({&row});
    } else {
      same->push_back(&row);
    }
  }
  return groups;
}

std::vector<std::string> MeasuresOf(const GroupReport& report) {
  std::vector<std::string> measures;
  for (const GroupMeasure& row : report.rows) {
    if (measures.empty() || measures.back() != row.measure) measures.push_back(row.measure);
  }
  return measures;
}

// A column for each group, a row for each measure. A measure's queries have a row above it where
// they are not those of the measure before.
std::string GroupText(const GroupReport& report, const report::TextStyle& style) {
  const std::vector<std::vector<const GroupMeasure*>> groups = RowsOfGroups(report);
  std::vector<report::Column> columns{{.name = report.field}};
  for (const auto& rows : groups) {
    columns.push_back({.name = text::Printable(GroupName(*rows.front()))});
  }
  report::Table table(std::move(columns));
  std::vector<size_t> queries_above;
  for (const std::string& measure : MeasuresOf(report)) {
    std::vector<report::Cell> means{measure};
    std::vector<report::Cell> queries_shown{"queries"};
    std::vector<size_t> queries;
    for (const auto& rows : groups) {
      const auto of_measure = std::find_if(rows.begin(), rows.end(), [&](const GroupMeasure* row) {
        return row->measure == measure;
      });
      const bool exists = of_measure != rows.end();
      means.push_back(exists ? MeanCell(**of_measure) : report::Cell());
      queries.push_back(exists ? (*of_measure)->queries : 0);
      queries_shown.emplace_back(queries.back());
    }
    if (queries != queries_above) table.Add(std::move(queries_shown));
    queries_above = std::move(queries);
    table.Add(std::move(means));
  }
  return fmt::format("\ngroups of queries by {}; {:.0f} % intervals of the mean\n{}", report.field,
                     100 * report.confidence, table.Text(style));
}

// A tab or the end of a line in a value would make other columns and lines.
std::string GroupOnOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string GroupTsv(const GroupReport& report) {
  std::string text;
  for (const GroupMeasure& row : report.rows) {
    const std::string group = row.group
                                  ? fmt::format("{}={}", report.field, GroupOnOneLine(*row.group))
                                  : "without " + report.field;
    const auto line = [&](std::string_view suffix, std::optional<double> value) {
      text +=
          fmt::format("group:{}:{}{}\tall\t{}\n", group, row.measure, suffix, report::Exact(value));
    };
    line("", row.mean);
    line(":low", LowOfGroup(row));
    line(":high", HighOfGroup(row));
    line(":queries", static_cast<double>(row.queries));
  }
  return text;
}

Json GroupJson(const GroupReport& report) {
  Json rows = Json::array();
  for (const GroupMeasure& row : report.rows) {
    rows.push_back({{"measure", row.measure},
                    {"group", row.group ? Json(*row.group) : Json()},
                    {"queries", row.queries},
                    {"mean", report::JsonNumber(row.mean)},
                    {"low", report::JsonNumber(LowOfGroup(row))},
                    {"high", report::JsonNumber(HighOfGroup(row))}});
  }
  return {
      {"groups",
       {{"field", report.field}, {"confidence", report.confidence}, {"values", std::move(rows)}}}};
}

}  // namespace

GroupReport MakeGroupReport(const eval::Evaluation& evaluation, const std::string& field,
                            const std::map<std::string, std::string>& groups,
                            const eval::BootstrapOptions& options) {
  GroupReport report{.field = field, .confidence = options.confidence, .rows = {}};
  for (const eval::MeasureValues& measure : evaluation.measures) {
    const std::string name = measure.measure.name();
    if (measure.per_query.empty()) {
      Note(fmt::format("{} pools all queries and has no values of groups", name));
      continue;
    }
    const GroupValues values = ValuesOfGroups(evaluation, measure, groups);
    for (const auto& [group, list] : values.of_groups) {
      report.rows.push_back(GroupRow(name, group, list, options));
    }
    if (!values.without.empty()) {
      report.rows.push_back(GroupRow(name, std::nullopt, values.without, options));
    }
  }
  return report;
}

FurtherFigures GroupFigures(const GroupReport& report, const report::TextStyle& style) {
  return {.text = GroupText(report, style), .tsv = GroupTsv(report), .json = GroupJson(report)};
}

}  // namespace tandem::app

#include "commands/evaluate/evaluation_output.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/log.h"
#include "report/tables/numbers.h"

namespace tandem::app {
namespace {

std::string FormatJson(const eval::Evaluation& evaluation, bool per_query,
                       std::span<const FurtherFigures> further) {
  Json means = Json::object();
  Json by_query = Json::object();
  for (const eval::MeasureValues& values : evaluation.measures) {
    const std::string name = values.measure.name();
    means[name] = report::JsonNumber(values.mean);
    if (!per_query || values.per_query.empty()) continue;
    Json of_queries = Json::object();
    for (size_t q = 0; q < values.per_query.size(); ++q) {
      of_queries.Append(evaluation.queries[q], report::JsonNumber(values.per_query[q]));
    }
    by_query[name] = std::move(of_queries);
  }
  Json root = {{"measures", std::move(means)}};
  if (per_query) root["per_query"] = std::move(by_query);
  for (const FurtherFigures& figures : further) root.Update(figures.json);
  return report::JsonText(root);
}

std::string FormatTsv(const eval::Evaluation& evaluation, bool per_query) {
  report::Table table({{.name = "measure"}, {.name = "query"}, {.name = "value"}});
  for (const eval::MeasureValues& values : evaluation.measures) {
    const std::string name = values.measure.name();
    for (size_t q = 0; per_query && q < values.per_query.size(); ++q) {
      table.Add({name, evaluation.queries[q], values.per_query[q]});
    }
    table.Add({name, "all", values.mean});
  }
  return table.Tsv();
}

// The least width of a column of values.
constexpr size_t kColumn = 10;

report::Table QueryTable(const eval::Evaluation& evaluation) {
  std::vector<report::Column> columns = {{.name = "query", .when_long = report::LongText::kKeep}};
  std::vector<const eval::MeasureValues*> shown;
  for (const eval::MeasureValues& values : evaluation.measures) {
    if (values.per_query.empty()) continue;
    columns.push_back({.name = values.measure.name(), .least_width = kColumn});
    shown.push_back(&values);
  }
  report::Table table(std::move(columns));
  for (size_t q = 0; q < evaluation.queries.size(); ++q) {
    std::vector<report::Cell> row = {evaluation.queries[q]};
    for (const eval::MeasureValues* values : shown) row.emplace_back(values->per_query[q]);
    table.Add(std::move(row));
  }
  return table;
}

std::string FormatText(const eval::Evaluation& evaluation, const report::TextStyle& style,
                       bool per_query) {
  report::Table means(
      {{.name = "queries"},
       {.name = fmt::format("{}", evaluation.queries.size()), .least_width = kColumn - 2}});
  for (const eval::MeasureValues& values : evaluation.measures) {
    means.Add({values.measure.name(), values.mean});
  }
  const std::string text = means.Text(style);
  return per_query ? text + "\n" + QueryTable(evaluation).Text(style) : text;
}

}  // namespace

std::string FormatEvaluation(const eval::Evaluation& evaluation, std::string_view format,
                             const report::TextStyle& style, bool per_query,
                             std::span<const FurtherFigures> further) {
  if (format == "json") return FormatJson(evaluation, per_query, further);
  std::string text =
      format == "tsv" ? FormatTsv(evaluation, per_query) : FormatText(evaluation, style, per_query);
  for (const FurtherFigures& figures : further) {
    text += format == "tsv" ? figures.tsv : figures.text;
  }
  return text;
}

void PrintRemarks(std::span<const eval::Remark> remarks) {
  for (const eval::Remark& remark : remarks) {
    if (remark.is_warning) {
      Warn(remark.text);
    } else {
      Note(remark.text);
    }
  }
}

}  // namespace tandem::app

#include "app/evaluation_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/log.h"

namespace tandem::app {
namespace {

using Json = nlohmann::ordered_json;

std::string Rounded(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "-";
}

// The fewest digits that read back to the same double.
std::string Exact(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

Json JsonValue(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string FormatJson(const eval::Evaluation& evaluation, bool per_query,
                       std::span<const FurtherFigures> further) {
  Json means = Json::object();
  Json by_query = Json::object();
  for (const eval::MeasureValues& values : evaluation.measures) {
    const std::string name = values.measure.name();
    means[name] = JsonValue(values.mean);
    Json of_queries = Json::object();
    for (size_t q = 0; q < values.per_query.size(); ++q) {
      of_queries[evaluation.queries[q]] = JsonValue(values.per_query[q]);
    }
    if (!values.per_query.empty()) by_query[name] = std::move(of_queries);
  }
  Json root = {{"measures", std::move(means)}};
  if (per_query) root["per_query"] = std::move(by_query);
  for (const FurtherFigures& figures : further) root[figures.key] = figures.json;
  // Ids may hold any bytes, but JSON is UTF-8: bytes that are not become U+FFFD.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string FormatTsv(const eval::Evaluation& evaluation, bool per_query) {
  std::string text = "measure\tquery\tvalue\n";
  for (const eval::MeasureValues& values : evaluation.measures) {
    const std::string name = values.measure.name();
    for (size_t q = 0; per_query && q < values.per_query.size(); ++q) {
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\n", name, evaluation.queries[q],
                     Exact(values.per_query[q]));
    }
    fmt::format_to(std::back_inserter(text), "{}\tall\t{}\n", name, Exact(values.mean));
  }
  return text;
}

// The least width of a column of values.
constexpr size_t kColumn = 10;

void AppendQueryTable(const eval::Evaluation& evaluation, std::string& text) {
  size_t id_width = std::string_view("query").size();
  for (const std::string& query : evaluation.queries) {
    id_width = std::max(id_width, query.size());
  }
  std::vector<const eval::MeasureValues*> columns;
  for (const eval::MeasureValues& values : evaluation.measures) {
    if (!values.per_query.empty()) columns.push_back(&values);
  }
  const auto width = [](const eval::MeasureValues& values) {
    return std::max(kColumn, values.measure.name().size()) + 2;
  };
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{:<{}}", "query", id_width);
  for (const auto* values : columns) {
    fmt::format_to(out, "{:>{}}", values->measure.name(), width(*values));
  }
  text += '\n';
  for (size_t q = 0; q < evaluation.queries.size(); ++q) {
    fmt::format_to(out, "{:<{}}", evaluation.queries[q], id_width);
    for (const auto* values : columns) {
      fmt::format_to(out, "{:>{}}", Rounded(values->per_query[q]), width(*values));
    }
    text += '\n';
  }
}

std::string FormatText(const eval::Evaluation& evaluation, bool per_query) {
  size_t width = std::string_view("queries").size();
  for (const eval::MeasureValues& values : evaluation.measures) {
    width = std::max(width, values.measure.name().size());
  }
  std::string text = fmt::format("{:<{}}  {:>8}\n", "queries", width, evaluation.queries.size());
  for (const eval::MeasureValues& values : evaluation.measures) {
    fmt::format_to(std::back_inserter(text), "{:<{}}  {:>8}\n", values.measure.name(), width,
                   Rounded(values.mean));
  }
  if (per_query) AppendQueryTable(evaluation, text);
  return text;
}

}  // namespace

std::string FormatEvaluation(const eval::Evaluation& evaluation, std::string_view format,
                             bool per_query, std::span<const FurtherFigures> further) {
  if (format == "json") return FormatJson(evaluation, per_query, further);
  std::string text =
      format == "tsv" ? FormatTsv(evaluation, per_query) : FormatText(evaluation, per_query);
  for (const FurtherFigures& figures : further) {
    text += format == "tsv" ? figures.tsv : figures.text;
  }
  return text;
}

void PrintEvaluation(const eval::Evaluation& evaluation, const eval::EvaluationOptions& options,
                     std::string_view format, bool per_query,
                     std::span<const FurtherFigures> further) {
  for (const eval::Remark& remark : eval::RemarksOn(evaluation, options)) {
    if (remark.is_warning) {
      Warn(remark.text);
    } else {
      Note(remark.text);
    }
  }
  std::cout << FormatEvaluation(evaluation, format, per_query, further);
}

}  // namespace tandem::app

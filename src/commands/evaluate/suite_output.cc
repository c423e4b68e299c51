#include "commands/evaluate/suite_output.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/json/json.h"
#include "eval/significance/suite_summary.h"
#include "report/tables/numbers.h"
#include "report/tables/table.h"

namespace tandem::app {
namespace {

using Value = std::optional<double>;

// The values of one measure for all models and sets.
struct MeasureTable {
  std::string name;
  std::vector<std::vector<Value>> values;  // [sets][models]
  eval::SuiteSummary summary;
};

std::vector<MeasureTable> TablesOf(const SuiteResults& results) {
  std::vector<MeasureTable> tables;
  const size_t measures = results.of.front().front().evaluation.measures.size();
  for (size_t m = 0; m < measures; ++m) {
    MeasureTable table{.name = results.of.front().front().evaluation.measures[m].measure.name()};
    for (const std::vector<ModelEvaluation>& of_set : results.of) {
      std::vector<Value>& row = table.values.emplace_back();
      for (const ModelEvaluation& found : of_set) {
        row.push_back(found.evaluation.measures[m].mean);
      }
    }
    table.summary = eval::SummarizeSuite(table.values);
    tables.push_back(std::move(table));
  }
  return tables;
}

Json SetsJson(const SuiteResults& results) {
  Json sets = Json::array();
  for (size_t s = 0; s < results.plan.sets.size(); ++s) {
    const EvaluatedSet& set = results.plan.sets[s];
    const ModelEvaluation& first = results.of[s].front();
    Json of_set = {{"name", set.name},
                   {"path", set.folder},
                   {"split", set.split},
                   {"queries", first.evaluation.queries.size()},
                   {"documents", first.documents},
                   {"corpus", first.corpus}};
    if (!set.candidates.empty()) of_set["candidates"] = set.candidates;
    sets.push_back(std::move(of_set));
  }
  return sets;
}

Json MeasureJson(const SuiteResults& results, const MeasureTable& table) {
  Json values = Json::object(), means = Json::object(), ranks = Json::object();
  for (size_t k = 0; k < results.plan.models.size(); ++k) {
    const std::string& model = results.plan.models[k].name;
    for (size_t s = 0; s < results.plan.sets.size(); ++s) {
      values[model][results.plan.sets[s].name] = report::JsonNumber(table.values[s][k]);
    }
    means[model] = report::JsonNumber(table.summary.means[k]);
    ranks[model] = report::JsonNumber(table.summary.average_ranks[k]);
  }
  return {{"values", std::move(values)},
          {"mean", std::move(means)},
          {"average_rank", std::move(ranks)}};
}

// Calls `row(model, set, query, value)` for each value of a query, in the order of models and sets.
template <typename Row>
void ForEachQuery(const SuiteResults& results, size_t measure, size_t model, size_t set,
                  const Row& row) {
  const eval::Evaluation& evaluation = results.of[set][model].evaluation;
  const std::vector<Value>& values = evaluation.measures[measure].per_query;
  for (size_t q = 0; q < values.size(); ++q) row(evaluation.queries[q], values[q]);
}

std::string FormatJson(const SuiteResults& results, const std::vector<MeasureTable>& tables,
                       bool per_query) {
  Json root = {
      {"models", Json::array()}, {"sets", SetsJson(results)}, {"measures", Json::object()}};
  for (const EvaluatedModel& model : results.plan.models) {
    root["models"].push_back({{"name", model.name}, {"path", model.flags.model}});
  }
  for (size_t m = 0; m < tables.size(); ++m) {
    root["measures"][tables[m].name] = MeasureJson(results, tables[m]);
    // An AUC over all queries has no values for single queries.
    const bool has_queries = !results.of[0][0].evaluation.measures[m].per_query.empty();
    for (size_t k = 0; per_query && has_queries && k < results.plan.models.size(); ++k) {
      for (size_t s = 0; s < results.plan.sets.size(); ++s) {
        Json of_queries = Json::object();
        ForEachQuery(results, m, k, s, [&](const std::string& query, const Value& value) {
          of_queries.Append(query, report::JsonNumber(value));
        });
        root["per_query"][tables[m].name][results.plan.models[k].name][results.plan.sets[s].name] =
            std::move(of_queries);
      }
    }
  }
  return report::JsonText(root);
}

std::string FormatTsv(const SuiteResults& results, const std::vector<MeasureTable>& tables,
                      bool per_query) {
  report::Table shown({{.name = "measure"},
                       {.name = "model"},
                       {.name = "set"},
                       {.name = "query"},
                       {.name = "value"}});
  for (size_t m = 0; m < tables.size(); ++m) {
    for (size_t k = 0; k < results.plan.models.size(); ++k) {
      const auto line = [&](const std::string& set, const std::string& query, const Value& value) {
        shown.Add({tables[m].name, results.plan.models[k].name, set, query, value});
      };
      for (size_t s = 0; s < results.plan.sets.size(); ++s) {
        const std::string& set = results.plan.sets[s].name;
        if (per_query) {
          ForEachQuery(results, m, k, s, [&](const std::string& query, const Value& value) {
            line(set, query, value);
          });
        }
        line(set, "all", tables[m].values[s][k]);
      }
      line("all", "all", tables[m].summary.means[k]);
      line("all", "rank", tables[m].summary.average_ranks[k]);
    }
  }
  return shown.Tsv();
}

// Says which documents were ranked for sets whose whole corpus was not ranked.
std::string RankedText(const SuiteResults& results) {
  std::string text;
  for (size_t s = 0; s < results.plan.sets.size(); ++s) {
    const EvaluatedSet& set = results.plan.sets[s];
    const ModelEvaluation& first = results.of[s].front();
    if (!set.candidates.empty()) {
      text += fmt::format("{}: the candidates of {}, at most {} a query\n", set.name,
                          set.candidates, first.documents);
    } else if (first.documents < first.corpus) {
      text += fmt::format("{}: a pool of {} of {} documents\n", set.name, first.documents,
                          first.corpus);
    }
  }
  return text;
}

// Returns a table with a row for each set, rows that summarise them, and a column for each model.
report::Table TextTable(const SuiteResults& results, const MeasureTable& table) {
  std::vector<report::Column> columns = {
      {.name = table.name, .when_long = report::LongText::kKeep}};
  for (const EvaluatedModel& model : results.plan.models) columns.push_back({.name = model.name});
  report::Table shown(std::move(columns));
  const bool compares = results.plan.models.size() > 1;
  const auto add = [&](std::string name, const std::vector<Value>& values, report::Best best) {
    std::vector<report::Cell> cells = {report::Cell(std::move(name))};
    cells.insert(cells.end(), values.begin(), values.end());
    shown.Add(std::move(cells), compares ? best : report::Best::kNone);
  };
  for (size_t s = 0; s < results.plan.sets.size(); ++s) {
    add(results.plan.sets[s].name, table.values[s], report::Best::kHighest);
  }
  if (results.plan.sets.size() == 1) return shown;
  add("mean", table.summary.means, report::Best::kHighest);
  if (compares) add("average rank", table.summary.average_ranks, report::Best::kLowest);
  return shown;
}

std::string FormatText(const SuiteResults& results, const std::vector<MeasureTable>& tables,
                       const report::TextStyle& style) {
  std::string text;
  for (const MeasureTable& table : tables) {
    if (!text.empty()) text += '\n';
    text += TextTable(results, table).Text(style);
  }
  const std::string ranked = RankedText(results);
  if (!ranked.empty()) text.append(1, '\n').append(ranked);
  return text;
}

}  // namespace

std::string FormatSuite(const SuiteResults& results, std::string_view format, bool per_query,
                        const report::TextStyle& style) {
  const std::vector<MeasureTable> tables = TablesOf(results);
  if (format == "json") return FormatJson(results, tables, per_query);
  if (format == "tsv") return FormatTsv(results, tables, per_query);
  return FormatText(results, tables, style);
}

}  // namespace tandem::app

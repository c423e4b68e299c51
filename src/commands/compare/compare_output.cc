#include "commands/compare/compare_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "eval/significance/power.h"
#include "report/verdict/recommendation.h"

namespace tandem::app {
namespace {

std::string ShowDifference(double value) { return report::Signed(value); }
std::string ShowP(double p) { return report::PValue(p); }
bool IsFolder(const std::string& path) { return std::filesystem::is_directory(path); }

std::vector<report::Column> DifferenceColumns() {
  return {{.name = "measure", .when_long = report::LongText::kKeep},
          {.name = "baseline"},
          {.name = "value"},
          {.name = "difference", .show = ShowDifference},
          {.name = "low", .show = ShowDifference},
          {.name = "high", .show = ShowDifference},
          {.name = "p", .show = ShowP},
          {.name = "Holm p", .key = "holm_p", .show = ShowP},
          {.name = "d_z", .decimals = 2}};
}

std::vector<report::Cell> DifferenceCells(const eval::MeasureDifference& difference) {
  return {difference.measure,    difference.baseline,     difference.mean,
          difference.difference, difference.interval.low, difference.interval.high,
          difference.p_value,    difference.holm_p,       difference.effect_size};
}

// Where every way of swapping the systems was tried, p cannot be below 2 of these ways: with few
// queries of different values nothing can be seen, whatever the difference. "" elsewhere.
std::string TooFewQueries(const eval::MeasureDifference& difference, double confidence) {
  const auto least = [](size_t ways) { return 2 / static_cast<double>(ways); };
  if (!difference.exact || least(difference.permutations) < 1 - confidence) return "";
  return fmt::format(", too few queries differ: {}", std::bit_width(difference.permutations) - 1);
}

std::string DataText(const CompareCommandOptions& options) {
  if (!options.qrels.empty()) return options.qrels;
  return fmt::format("{}, split {}{}", options.dataset,
                     options.split.empty() ? "test" : options.split,
                     options.by_document ? ", by document" : "");
}

// Says why a difference is not seen where a person might think that it is, or that more queries of
// the kind would show it.
std::string DoubtOf(const eval::MeasureDifference& difference, double confidence) {
  if (difference.holm_p < 1 - confidence) {
    return fmt::format("over other queries and seeds the difference may lie from {} to {}",
                       report::Signed(difference.interval.low),
                       report::Signed(difference.interval.high));
  }
  if (TooFewQueries(difference, confidence).empty()) return "";
  return report::TooFewDiffer(static_cast<size_t>(std::bit_width(difference.permutations) - 1));
}

// Of the baseline, on the queries that all have; none for a measure that pools its queries, and
// over seeds, whose test is another one.
std::optional<report::Room> RoomOf(const ShownComparison& shown) {
  const eval::System& baseline = shown.systems.front().system;
  const std::vector<std::optional<double>>& values = baseline.evaluation.measures.front().per_query;
  if (values.empty() || shown.comparison.systems.front().measures.front().over_seeds) {
    return std::nullopt;
  }
  const std::set<std::string> common(shown.comparison.queries.begin(),
                                     shown.comparison.queries.end());
  std::vector<double> found;
  for (size_t q = 0; q < values.size(); ++q) {
    if (values[q] && common.contains(baseline.evaluation.queries[q])) found.push_back(*values[q]);
  }
  return report::RoomAbove(found);
}

// The first measure decides, as the first system is the baseline.
report::Contest ContestOf(const ShownComparison& shown) {
  const eval::Comparison& comparison = shown.comparison;
  const double level = 1 - shown.options.confidence;
  report::Contest contest{
      .measure = comparison.systems.front().measures.front().measure,
      .data = DataText(shown.options),
      .baseline = comparison.baseline,
      .models = std::all_of(shown.options.systems.begin(), shown.options.systems.end(), IsFolder)};
  contest.level = level;
  contest.room = RoomOf(shown);
  for (const eval::SystemComparison& system : comparison.systems) {
    const eval::MeasureDifference& difference = system.measures.front();
    report::Contender contender{.name = system.name,
                                .baseline = difference.baseline,
                                .value = difference.mean,
                                .queries = difference.queries,
                                .p = difference.holm_p,
                                .seen = difference.Significant(shown.options.confidence)};
    if (!contender.seen) contender.doubt = DoubtOf(difference, shown.options.confidence);
    // Holm's first step holds the smallest p to the level shared by all; seeds need more than
    // queries.
    if (!contender.seen && !difference.over_seeds && difference.effect_size) {
      contender.queries_needed = eval::QueriesNeeded(
          *difference.effect_size, level / static_cast<double>(comparison.systems.size()));
    }
    contest.contenders.push_back(std::move(contender));
  }
  return contest;
}

std::string FormatText(const ShownComparison& shown, const report::TextStyle& style) {
  const eval::Comparison& comparison = shown.comparison;
  std::string text =
      fmt::format("baseline: {} ({} queries)\n", comparison.baseline, comparison.queries.size());
  for (size_t s = 0; s < comparison.systems.size(); ++s) {
    const eval::SystemComparison& system = comparison.systems[s];
    report::Table table(DifferenceColumns());
    std::string verdicts;
    for (const eval::MeasureDifference& difference : system.measures) {
      table.Add(DifferenceCells(difference));
      verdicts += fmt::format("{}: {}\n", difference.measure,
                              VerdictOf(system.name, difference, shown.options.confidence));
    }
    text += fmt::format("\n{}\n{}\n{}", system.name, table.Text(style), verdicts);
    text += ExtremesText(shown, s, style);
  }
  return text + "\n" + report::Recommend(ContestOf(shown)).sentence + "\n";
}

std::string FormatTsv(const eval::Comparison& comparison, double confidence) {
  std::vector<report::Column> columns = DifferenceColumns();
  columns.insert(columns.begin(), {.name = "system"});
  for (const char* name : {"queries", "permutations", "exact", "resamples", "significant"}) {
    columns.push_back({.name = name});
  }
  report::Table table(std::move(columns));
  for (const eval::SystemComparison& system : comparison.systems) {
    for (const eval::MeasureDifference& difference : system.measures) {
      std::vector<report::Cell> cells = DifferenceCells(difference);
      cells.insert(cells.begin(), system.name);
      cells.emplace_back(difference.queries);
      cells.emplace_back(difference.permutations);
      cells.emplace_back(difference.exact);
      cells.emplace_back(difference.resamples);
      cells.emplace_back(difference.Significant(confidence));
      table.Add(std::move(cells));
    }
  }
  return table.Tsv();
}

Json ExtremesJson(const std::vector<eval::QueryDifference>& queries) {
  Json list = Json::array();
  for (const eval::QueryDifference& query : queries) {
    list.push_back({{"query", query.query}, {"baseline", query.baseline}, {"value", query.value}});
  }
  return list;
}

Json JsonOf(const eval::MeasureDifference& difference, double confidence) {
  return {
      {"baseline", difference.baseline},     {"value", difference.mean},
      {"difference", difference.difference}, {"low", difference.interval.low},
      {"high", difference.interval.high},    {"p", difference.p_value},
      {"holm_p", difference.holm_p},         {"d_z", report::JsonNumber(difference.effect_size)},
      {"queries", difference.queries},       {"permutations", difference.permutations},
      {"exact", difference.exact},           {"resamples", difference.resamples},
      {"over_seeds", difference.over_seeds}, {"significant", difference.Significant(confidence)}};
}

std::string FormatJson(const ShownComparison& shown) {
  const eval::Comparison& comparison = shown.comparison;
  Json systems = Json::array();
  for (size_t s = 0; s < comparison.systems.size(); ++s) {
    const eval::SystemComparison& system = comparison.systems[s];
    Json measures = Json::object();
    for (size_t m = 0; m < system.measures.size(); ++m) {
      Json entry = JsonOf(system.measures[m], shown.options.confidence);
      entry["verdict"] = VerdictOf(system.name, system.measures[m], shown.options.confidence);
      const eval::Extremes extremes =
          eval::ExtremesOf(comparison, shown.systems[0].system, shown.systems[s + 1].system, m,
                           shown.options.queries);
      entry["gained"] = ExtremesJson(extremes.gained);
      entry["lost"] = ExtremesJson(extremes.lost);
      measures[system.measures[m].measure] = std::move(entry);
    }
    systems.push_back({{"system", system.name}, {"measures", std::move(measures)}});
  }
  const report::Contest contest = ContestOf(shown);
  return report::JsonText(
      {{"baseline", comparison.baseline},
       {"queries", comparison.queries.size()},
       {"confidence", shown.options.confidence},
       {"recommendation", report::RecommendationJson(contest, report::Recommend(contest))},
       {"systems", std::move(systems)}});
}

}  // namespace

std::string VerdictOf(std::string_view system, const eval::MeasureDifference& difference,
                      double confidence) {
  const double half = (difference.interval.high - difference.interval.low) / 2;
  const std::string p_text = report::PText(difference.holm_p);
  const bool better = difference.difference > 0;
  if (!difference.Significant(confidence)) {
    return fmt::format("no difference was seen ({}, {}{})",
                       report::PlusMinus(difference.difference, half), p_text,
                       TooFewQueries(difference, confidence));
  }
  return fmt::format(
      "{} is {} by {}, {}", system, better ? "better" : "worse",
      report::PlusMinus(better ? difference.difference : -difference.difference, half), p_text);
}

std::string FormatComparison(const ShownComparison& shown, const report::TextStyle& style) {
  if (shown.options.format == "json") return FormatJson(shown);
  if (shown.options.format == "tsv") {
    return FormatTsv(shown.comparison, shown.options.confidence);
  }
  return FormatText(shown, style);
}

}  // namespace tandem::app

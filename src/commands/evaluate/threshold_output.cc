#include "commands/evaluate/threshold_output.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/json/json.h"
#include "base/log.h"
#include "commands/evaluate/named_figure.h"
#include "eval/samples/run_samples.h"

namespace tandem::app {
namespace {

std::array<NamedFigure, 3> FiguresOf(const ThresholdReport& report) {
  return {{{"auc", report.figures.auc, report.intervals.auc},
           {"partial_auc", report.figures.partial_auc, report.intervals.partial_auc},
           {"pool_ap", report.figures.average_precision, report.intervals.average_precision}}};
}

std::optional<double> ShownThreshold(const eval::ChosenThreshold& chosen) {
  if (!chosen.threshold) return std::nullopt;
  return eval::ShownScore(*chosen.threshold);
}

std::array<NamedFigure, 5> ValuesOf(const eval::ChosenThreshold& chosen) {
  // A share of an empty set of documents is NaN.
  const auto share = [&](double value) -> std::optional<double> {
    if (!chosen.threshold || std::isnan(value)) return std::nullopt;
    return value;
  };
  const eval::ThresholdValues& values = chosen.values;
  return {{{"threshold", ShownThreshold(chosen), chosen.threshold_interval},
           {"precision", values.precision, chosen.intervals.precision},
           {"recall", share(values.recall), chosen.intervals.recall},
           {"fpr", share(values.false_positive_rate), chosen.intervals.false_positive_rate},
           {"results", values.results, chosen.intervals.results}}};
}

report::Cell CellOf(const NamedFigure& named) {
  if (!named.value) return std::nullopt;
  if (named.name == "threshold") return report::Exact(named.value);  // to be cut at
  return *named.value;
}

// Formats an interval so short that all columns fit into 80 columns of a terminal: shares near 1
// with two decimals, rates near 0 with one digit, everything else with three digits.
report::Cell IntervalCell(const NamedFigure& named) {
  if (!named.interval) return std::nullopt;
  const double low = named.interval->low, high = named.interval->high;
  if (named.name == "fpr") return fmt::format("{:.1g}..{:.1g}", low, high);
  if (named.name == "precision" || named.name == "recall") {
    return fmt::format("{:.2f}..{:.2f}", low, high);
  }
  return fmt::format("{:.3g}..{:.3g}", low, high);
}

void AppendTsv(std::string_view prefix, const NamedFigure& named, std::string& text) {
  const auto line = [&](std::string_view suffix, std::optional<double> value) {
    text += fmt::format("{}{}{}\tall\t{}\n", prefix, named.name, suffix, report::Exact(value));
  };
  line("", named.value);
  line(":low", named.interval ? std::optional(named.interval->low) : std::nullopt);
  line(":high", named.interval ? std::optional(named.interval->high) : std::nullopt);
}

Json JsonOf(const NamedFigure& named) {
  Json json = {{"value", report::JsonNumber(named.value)}};
  json["low"] =
      report::JsonNumber(named.interval ? std::optional(named.interval->low) : std::nullopt);
  json["high"] =
      report::JsonNumber(named.interval ? std::optional(named.interval->high) : std::nullopt);
  return json;
}

// Returns the value that the threshold reaches for the figure that its target names.
std::optional<double> ReachedBy(const eval::ChosenThreshold& chosen) {
  switch (chosen.target.kind) {
    case eval::TargetKind::kPrecision:
      return chosen.values.precision;
    case eval::TargetKind::kRecall:
      return chosen.values.recall;
    case eval::TargetKind::kFalsePositiveRate:
      return chosen.values.false_positive_rate;
    case eval::TargetKind::kResults:
      return chosen.values.results;
  }
  return std::nullopt;
}

std::string ThresholdText(const ThresholdReport& report, const report::TextStyle& style) {
  const std::string percent = fmt::format("{} % interval", 100 * report.confidence);
  report::Table figures({{.name = "pool"}, {.name = "value"}, {.name = percent}});
  for (const NamedFigure& figure : FiguresOf(report)) {
    figures.Add({figure.name, CellOf(figure), IntervalCell(figure)});
  }
  report::Table table({{.name = "threshold for", .when_long = report::LongText::kKeep},
                       {.name = "score"},
                       {.name = "precision"},
                       {.name = "recall"},
                       {.name = "fpr"},
                       {.name = "results"}});
  for (const eval::ChosenThreshold& chosen : report.thresholds) {
    std::vector<report::Cell> values = {chosen.met ? chosen.target.name()
                                                   : chosen.target.name() + " (not met)"};
    std::vector<report::Cell> intervals = {percent};
    for (const NamedFigure& value : ValuesOf(chosen)) {
      values.push_back(CellOf(value));
      intervals.push_back(IntervalCell(value));
    }
    table.Add(std::move(values));
    table.Add(std::move(intervals));
  }
  std::string text = "\n" + figures.Text(style) + "\n" + table.Text(style);
  if (report.chosen_on) {
    text += fmt::format("chosen on {}: {} queries; --apply-thresholds measures them on others\n",
                        report.chosen_on->name(), report.chosen_on->queries);
  }
  return text;
}

std::string ThresholdTsv(const ThresholdReport& report) {
  std::string text;
  if (report.chosen_on) {
    text += fmt::format("thresholds:chosen_on\tall\t{}\n", report.chosen_on->name());
  }
  for (const NamedFigure& figure : FiguresOf(report)) AppendTsv("pool:", figure, text);
  for (const eval::ChosenThreshold& chosen : report.thresholds) {
    const std::string prefix = chosen.target.name() + ":";
    text += fmt::format("{}met\tall\t{}\n", prefix, chosen.met ? 1 : 0);
    for (const NamedFigure& value : ValuesOf(chosen)) AppendTsv(prefix, value, text);
  }
  return text;
}

Json ThresholdJson(const ThresholdReport& report) {
  Json pool = Json::object();
  for (const NamedFigure& figure : FiguresOf(report))
    pool[std::string(figure.name)] = JsonOf(figure);
  pool["resamples"] = report.intervals.resamples;
  Json thresholds = Json::array();
  for (const eval::ChosenThreshold& chosen : report.thresholds) {
    Json entry = {{"wish", chosen.target.name()}, {"met", chosen.met}};
    for (const NamedFigure& value : ValuesOf(chosen))
      entry[std::string(value.name)] = JsonOf(value);
    entry["met_share"] = chosen.met_share;
    entry["ends_at_depth"] = chosen.ends_at_depth;
    thresholds.push_back(std::move(entry));
  }
  return {{"chosen_on", report.chosen_on ? JsonOf(*report.chosen_on) : Json()},
          {"pool", std::move(pool)},
          {"thresholds", std::move(thresholds)},
          {"confidence", report.confidence},
          {"unknown_from", report::JsonNumber(report.unknown_from)}};
}

}  // namespace

ThresholdReport MakeThresholdReport(std::span<const eval::QuerySamples> samples,
                                    const eval::CorpusLevels& corpus,
                                    const ThresholdRequest& request) {
  const eval::BootstrapOptions options{
      .seed = request.seed, .resamples = kThresholdResamples, .threads = request.threads};
  const eval::ScoreLevels pool = eval::PoolLevels(samples);
  ThresholdReport report;
  report.thresholds = eval::ChooseThresholds(pool, corpus, request.targets, options);
  report.figures = eval::FiguresOf(pool);
  report.intervals = eval::FigureIntervals(pool, options);
  report.confidence = options.confidence;
  if (corpus.unknown_from != eval::kNoFloor) {
    report.unknown_from = corpus.unknown_from;
    report.cut_queries = corpus.cut_queries;
  }
  return report;
}

ThresholdReport ThresholdsOfRun(const data::Run& run, const data::Qrels& qrels,
                                const eval::Evaluation& evaluation,
                                const eval::RankingOptions& ranking,
                                const ThresholdRequest& request) {
  const eval::RunSamples all =
      eval::SamplesOfRun(run, qrels, evaluation.queries, ranking, /*all_results=*/true);
  const eval::RunSamples pool =
      eval::SamplesOfRun(run, qrels, evaluation.queries, ranking, /*all_results=*/false);
  return MakeThresholdReport(pool.samples, eval::LevelsOfCorpus(all.samples, all.floors, nullptr),
                             request);
}

FurtherFigures ThresholdFigures(const ThresholdReport& report, const report::TextStyle& style) {
  return {.text = ThresholdText(report, style),
          .tsv = ThresholdTsv(report),
          .json = ThresholdJson(report)};
}

void WarnOfUnknown(const ThresholdReport& report) {
  if (!report.unknown_from) return;
  Warn(
      fmt::format("thresholds at {:.4f} and below: precision and number of results are unknown, "
                  "because the results of so many queries end above: {}",
                  *report.unknown_from, report.cut_queries));
  for (const eval::ChosenThreshold& chosen : report.thresholds) {
    if (chosen.met && chosen.ends_at_depth) {
      Warn(fmt::format(
          "threshold {}: a lower one might do as well, but is unknown; a deeper run, or "
          "--model, tells",
          chosen.target.name()));
    }
  }
}

namespace {

// Says why there is no threshold at all for a target, and what to do.
std::string_view WhyNoneIsKnown(const eval::ChosenThreshold& chosen) {
  if (chosen.ends_at_depth) {
    return "the run ends before any threshold is known; give a deeper run, or --model";
  }
  if (chosen.target.kind == eval::TargetKind::kFalsePositiveRate) {
    return "there are no other documents than positives, of which it would be a share";
  }
  return "no positive has a score";
}

}  // namespace

void CheckTargetsMet(const ThresholdReport& report) {
  for (const eval::ChosenThreshold& chosen : report.thresholds) {
    if (chosen.met) continue;
    const std::optional<double> reached = ReachedBy(chosen);
    if (!chosen.threshold || !reached) {
      throw CheckFailed(fmt::format("threshold {} cannot be met: {}", chosen.target.name(),
                                    WhyNoneIsKnown(chosen)));
    }
    const std::string depth =
        chosen.ends_at_depth ? " (of the thresholds that the depth of the run lets know)" : "";
    throw CheckFailed(
        fmt::format("threshold {} cannot be met: the best possible is {:.4g}, at "
                    "score {}{}",
                    chosen.target.name(), *reached, report::Exact(ShownThreshold(chosen)), depth));
  }
}

}  // namespace tandem::app

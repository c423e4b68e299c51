#include "commands/evaluate/applied_output.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/json/json.h"
#include "base/log.h"
#include "commands/evaluate/named_figure.h"
#include "eval/samples/run_samples.h"
#include "report/tables/numbers.h"

namespace tandem::app {
namespace {

std::array<NamedFigure, 4> FiguresOf(const eval::AppliedThreshold& applied) {
  return {{{"precision", applied.precision, applied.precision_interval},
           {"recall", applied.recall, applied.recall_interval},
           {"nothing", applied.nothing, applied.nothing_interval},
           {"results", applied.results, applied.results_interval}}};
}

report::Cell IntervalCellOf(const NamedFigure& figure) {
  if (!figure.interval) return std::nullopt;
  const double low = figure.interval->low, high = figure.interval->high;
  return figure.name == "results" ? fmt::format("{:.3g}..{:.3g}", low, high)
                                  : fmt::format("{:.3f}..{:.3f}", low, high);
}

std::optional<double> LowOf(const NamedFigure& figure) {
  return figure.interval ? std::optional(figure.interval->low) : std::nullopt;
}
std::optional<double> HighOf(const NamedFigure& figure) {
  return figure.interval ? std::optional(figure.interval->high) : std::nullopt;
}

std::string AppliedText(const AppliedReport& report, const report::TextStyle& style) {
  report::Table table({{.name = "threshold for", .when_long = report::LongText::kKeep},
                       {.name = "score"},
                       {.name = "precision"},
                       {.name = "recall"},
                       {.name = "nothing"},
                       {.name = "results"}});
  for (size_t t = 0; t < report.thresholds.size(); ++t) {
    const eval::AppliedThreshold& applied = report.thresholds[t];
    std::vector<report::Cell> values = {report.targets[t], report::Exact(applied.threshold)};
    std::vector<report::Cell> intervals = {fmt::format("{} % interval", 100 * report.confidence),
                                           std::nullopt};
    for (const NamedFigure& figure : FiguresOf(applied)) {
      values.push_back(figure.value);
      intervals.push_back(IntervalCellOf(figure));
    }
    table.Add(std::move(values));
    table.Add(std::move(intervals));
  }
  return fmt::format(
      "\nchosen on {}; measured on {}: {} queries\n{}",
      report.chosen_on ? report.chosen_on->name() : "data that the file does not name",
      report.measured_on.name(), report.measured_on.queries, table.Text(style));
}

std::string AppliedTsv(const AppliedReport& report) {
  std::string text;
  for (size_t t = 0; t < report.thresholds.size(); ++t) {
    const auto line = [&](std::string_view name, std::string_view suffix,
                          std::optional<double> value) {
      text +=
          fmt::format("{}:{}{}\tall\t{}\n", report.targets[t], name, suffix, report::Exact(value));
    };
    line("threshold", "", report.thresholds[t].threshold);
    for (const NamedFigure& figure : FiguresOf(report.thresholds[t])) {
      line(figure.name, "", figure.value);
      line(figure.name, ":low", LowOf(figure));
      line(figure.name, ":high", HighOf(figure));
    }
  }
  return text;
}

Json AppliedJson(const AppliedReport& report) {
  Json thresholds = Json::array();
  for (size_t t = 0; t < report.thresholds.size(); ++t) {
    const eval::AppliedThreshold& applied = report.thresholds[t];
    Json entry = {{"wish", report.targets[t]},
                  {"threshold", applied.threshold},
                  {"found", applied.found},
                  {"shown", applied.shown ? Json(*applied.shown) : Json()},
                  {"queries_with_nothing", applied.queries_with_nothing}};
    for (const NamedFigure& figure : FiguresOf(applied)) {
      entry[std::string(figure.name)] = Json{{"value", report::JsonNumber(figure.value)},
                                             {"low", report::JsonNumber(LowOf(figure))},
                                             {"high", report::JsonNumber(HighOf(figure))}};
    }
    thresholds.push_back(std::move(entry));
  }
  return {{"applied", std::move(thresholds)},
          {"chosen_on", report.chosen_on ? JsonOf(*report.chosen_on) : Json()},
          {"measured_on", JsonOf(report.measured_on)},
          {"confidence", report.confidence}};
}

}  // namespace

AppliedReport MakeAppliedReport(const SavedThresholds& saved, const ThresholdSource& measured_on,
                                std::span<const std::vector<eval::QueryShown>> shown,
                                const eval::BootstrapOptions& options) {
  AppliedReport report{.targets = {},
                       .thresholds = {},
                       .chosen_on = saved.chosen_on,
                       .measured_on = measured_on,
                       .confidence = options.confidence};
  for (size_t t = 0; t < saved.thresholds.size(); ++t) {
    report.targets.push_back(saved.thresholds[t].target);
    report.thresholds.push_back(
        eval::ApplyThreshold(saved.thresholds[t].threshold, shown[t], options));
  }
  return report;
}

AppliedReport AppliedToRun(const SavedThresholds& saved, const ThresholdSource& measured_on,
                           const data::Run& run, const data::Qrels& qrels,
                           const eval::Evaluation& evaluation, const eval::RankingOptions& ranking,
                           const eval::BootstrapOptions& options) {
  const eval::RunSamples all =
      eval::SamplesOfRun(run, qrels, evaluation.queries, ranking, /*all_results=*/true);
  std::vector<std::vector<eval::QueryShown>> shown;
  for (const SavedThreshold& saved_one : saved.thresholds) {
    shown.push_back(eval::ShownByRun(all, saved_one.threshold));
  }
  return MakeAppliedReport(saved, measured_on, shown, options);
}

FurtherFigures AppliedFigures(const AppliedReport& report, const report::TextStyle& style) {
  return {
      .text = AppliedText(report, style), .tsv = AppliedTsv(report), .json = AppliedJson(report)};
}

void WarnOfApplied(const AppliedReport& report) {
  for (size_t t = 0; t < report.thresholds.size(); ++t) {
    const eval::AppliedThreshold& applied = report.thresholds[t];
    const std::string which =
        fmt::format("threshold {} (score {})", report.targets[t], report::Exact(applied.threshold));
    if (applied.queries_with_nothing == applied.queries) {
      Warn(
          fmt::format("{} is above every score: all {} queries get nothing, and precision is "
                      "undefined",
                      which, applied.queries));
    } else if (!applied.shown) {
      Warn(
          fmt::format("{}: precision and number of results are unknown, because results of the run "
                      "end above it; a deeper run, or --model, tells",
                      which));
    }
  }
}

}  // namespace tandem::app

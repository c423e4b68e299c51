#include "commands/calibrate/calibration_output.h"

#include <fmt/format.h>

#include <optional>

#include "base/json/json.h"
#include "base/log.h"
#include "report/tables/numbers.h"

namespace tandem::app {
namespace {

using report::Table;

double BinBorder(size_t bin) { return static_cast<double>(bin) / eval::kReliabilityBins; }

// Returns the name of a calibration for people.
std::string NameOf(const MeasuredCalibration& one) {
  const std::string name(weights::CalibrationMethodName(one.calibration.method));
  if (one.was_there) return fmt::format("before: {}", name);
  return one.calibration.objective.empty() ? name
                                           : fmt::format("{}'s own", one.calibration.objective);
}

Table StudyTable(const CalibrationStudy& study) {
  std::vector<report::Column> columns = {{.name = "method"}, {.name = "chosen"}};
  for (const auto& [name, value] : CalibrationMeasures(study.Chosen().report)) {
    columns.push_back({.name = name, .best = report::Best::kLowest});
  }
  Table table(columns);
  for (size_t i = 0; i < study.measured.size(); ++i) {
    const MeasuredCalibration& one = study.measured[i];
    std::vector<report::Cell> cells = {NameOf(one), i == study.chosen ? "yes" : ""};
    for (const auto& [name, value] : CalibrationMeasures(one.report)) cells.emplace_back(value);
    table.Add(std::move(cells));
  }
  return table;
}

std::string StudyText(const CalibrationStudy& study, const report::TextStyle& style) {
  Table counts({{.name = "what"}, {.name = "count"}}, {.heading = false});
  counts.Add({"queries", study.queries});
  counts.Add({"positives", study.positives});
  counts.Add({"others", study.negatives});
  return fmt::format("{}\n{}\nprobability  {}\n{}", counts.Text(style),
                     StudyTable(study).Text(style), study.Chosen().calibration.Text(),
                     ReliabilityText(study.Chosen().report.figures, style));
}

Json StudyJson(const CalibrationStudy& study) {
  Json methods = Json::array();
  for (size_t i = 0; i < study.measured.size(); ++i) {
    const MeasuredCalibration& one = study.measured[i];
    Json row = {{"method", weights::CalibrationMethodName(one.calibration.method)},
                {"chosen", i == study.chosen},
                {"held_out", one.held_out},
                {"was_there", one.was_there}};
    row.Update(CalibrationJson(one.report));
    methods.push_back(std::move(row));
  }
  return {{"queries", study.queries},
          {"positives", study.positives},
          {"others", study.negatives},
          {"missing_positives", study.missing_positives},
          {"methods", std::move(methods)}};
}

}  // namespace

std::vector<std::pair<std::string, double>> CalibrationMeasures(
    const eval::CalibrationReport& report) {
  std::vector<std::pair<std::string, double>> measures = {
      {"calibration_error", report.figures.error}};
  for (size_t i = 0; i < eval::kCalibrationDepths.size(); ++i) {
    measures.emplace_back(fmt::format("calibration_error@{}", eval::kCalibrationDepths[i]),
                          report.errors_at[i]);
  }
  measures.emplace_back("brier", report.figures.brier);
  measures.emplace_back("log_loss", report.figures.log_loss);
  return measures;
}

Json CalibrationJson(const eval::CalibrationReport& report) {
  Json json = {{"documents", report.figures.documents}, {"positives", report.figures.positives}};
  for (const auto& [name, value] : CalibrationMeasures(report)) json[name] = value;
  Json bins = Json::array();
  for (size_t b = 0; b < eval::kReliabilityBins; ++b) {
    const eval::ReliabilityBin& bin = report.figures.bins[b];
    const bool empty = bin.count == 0;
    bins.push_back({{"from", BinBorder(b)},
                    {"to", BinBorder(b + 1)},
                    {"documents", bin.count},
                    {"mean_probability", empty ? Json() : Json(bin.mean_probability)},
                    {"share_of_positives", empty ? Json() : Json(bin.share_of_positives)}});
  }
  json["reliability"] = std::move(bins);
  return json;
}

std::string ReliabilityText(const eval::CalibrationFigures& figures,
                            const report::TextStyle& style) {
  Table table({{.name = "probability"},
               {.name = "documents"},
               {.name = "mean probability"},
               {.name = "share of positives"}});
  for (size_t b = 0; b < eval::kReliabilityBins; ++b) {
    const eval::ReliabilityBin& bin = figures.bins[b];
    if (bin.count == 0) continue;
    table.Add({fmt::format("{:.3f} to {:.3f}", BinBorder(b), BinBorder(b + 1)), bin.count,
               bin.mean_probability, bin.share_of_positives});
  }
  return table.Text(style);
}

FurtherFigures CalibrationOfSamples(std::span<const eval::QuerySamples> samples,
                                    const weights::Calibration& calibration,
                                    const report::TextStyle& style) {
  std::vector<eval::QueryForecasts> forecasts;
  size_t missing = 0;
  for (const eval::QuerySamples& query : samples) {
    missing += query.missing_positives;
    forecasts.push_back(
        eval::ForecastsOf(query, [&](double score) { return calibration.Probability(score); }));
  }
  if (missing > 0) {
    Warn(fmt::format("calibration: positives without a score, left out: {}", missing));
  }
  const eval::CalibrationReport report = eval::ReportCalibration(forecasts);
  FurtherFigures further{.json = {{"calibration", CalibrationJson(report)}}};
  Table table({{.name = "measure"}, {.name = "value"}}, {.heading = false});
  const auto add_tsv = [&further](std::string_view name, double value) {
    further.tsv += fmt::format("{}\tall\t{}\n", name, report::Exact(value));
  };
  for (const auto& [name, value] : CalibrationMeasures(report)) {
    table.Add({name, value});
    add_tsv(name, value);
  }
  for (size_t b = 0; b < eval::kReliabilityBins; ++b) {
    const eval::ReliabilityBin& bin = report.figures.bins[b];
    if (bin.count == 0) continue;
    add_tsv(fmt::format("reliability_{}_documents", b + 1), static_cast<double>(bin.count));
    add_tsv(fmt::format("reliability_{}_probability", b + 1), bin.mean_probability);
    add_tsv(fmt::format("reliability_{}_positives", b + 1), bin.share_of_positives);
  }
  further.text = fmt::format("\nprobability  {}\n{}\n{}", calibration.Text(), table.Text(style),
                             ReliabilityText(report.figures, style));
  return further;
}

std::string FormatStudy(const CalibrationStudy& study, std::string_view format,
                        const report::TextStyle& style) {
  if (format == "json") return report::JsonText(StudyJson(study));
  if (format == "tsv") return StudyTable(study).Tsv();
  return StudyText(study, style);
}

}  // namespace tandem::app

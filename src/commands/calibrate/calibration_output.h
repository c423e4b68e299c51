// Prints the figures of a calibration, for `tandem evaluate` and `tandem calibrate`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "commands/calibrate/calibration_study.h"
#include "commands/evaluate/evaluation_output.h"
#include "eval/calibration/reliability.h"
#include "report/tables/table.h"
#include "weights/settings/calibration.h"

namespace tandem::app {

// Returns the names and values that every format shows: calibration_error, calibration_error@1, @10
// and @100, brier, log_loss.
std::vector<std::pair<std::string, double>> CalibrationMeasures(
    const eval::CalibrationReport& report);

// Returns these measures, "documents", "positives" and "reliability": a list of {"from", "to",
// "documents", "mean_probability", "share_of_positives"}; the last two are null for a bin without
// documents.
Json CalibrationJson(const eval::CalibrationReport& report);

// Returns a table of the bins that have documents, one in each row.
std::string ReliabilityText(const eval::CalibrationFigures& figures,
                            const report::TextStyle& style);

// Returns the figures that `tandem evaluate` prints after its measures: a text below them, `measure
// all value` lines of TSV (with reliability_N_documents, _probability, _positives for the bins 1 to
// 15 that have documents), and in JSON the key "calibration".
FurtherFigures CalibrationOfSamples(std::span<const eval::QuerySamples> samples,
                                    const weights::Calibration& calibration,
                                    const report::TextStyle& style);

// Formats the output of `tandem calibrate`. text: counts, a line for each method with the chosen
// one marked, and its reliability table; tsv: a line for each method, unrounded; json: {"queries",
// "positives", "others", "missing_positives", "methods": [{"method", "chosen", "held_out",
// "was_there", ...CalibrationJson}]}.
std::string FormatStudy(const CalibrationStudy& study, std::string_view format,
                        const report::TextStyle& style);

}  // namespace tandem::app

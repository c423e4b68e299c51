// How the figures of a calibration are printed; `tandem evaluate` and `tandem calibrate` print so.
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

// Names and values as every format has them: calibration_error, calibration_error@1, @10 and @100,
// brier, log_loss.
std::vector<std::pair<std::string, double>> CalibrationMeasures(
    const eval::CalibrationReport& report);

// Those measures, "documents", "positives" and "reliability": a list of {"from", "to", "documents",
// "mean_probability", "share_of_positives"}; the last two are null in a bin without documents.
Json CalibrationJson(const eval::CalibrationReport& report);

// The bins that hold documents, one a line.
std::string ReliabilityText(const eval::CalibrationFigures& figures,
                            const report::TextStyle& style);

// What `tandem evaluate` prints beside its measures: the text below them, `measure all value` lines
// of TSV (with reliability_N_documents, _probability, _positives of the bins 1 to 15 that hold
// documents), and in JSON the key "calibration".
FurtherFigures CalibrationOfSamples(std::span<const eval::QuerySamples> samples,
                                    const weights::Calibration& calibration,
                                    const report::TextStyle& style);

// What `tandem calibrate` prints. text: counts, a line for each way with the one that is chosen
// marked, its reliability table; tsv: a line for each way, unrounded; json: {"queries",
// "positives", "others", "missing_positives", "methods": [{"method", "chosen", "held_out",
// "was_there", ...CalibrationJson}]}.
std::string FormatStudy(const CalibrationStudy& study, std::string_view format,
                        const report::TextStyle& style);

}  // namespace tandem::app

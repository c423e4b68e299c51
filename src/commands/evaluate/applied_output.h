// `tandem evaluate --apply-thresholds`: prints what chosen thresholds are worth on other data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/evaluate/evaluation_output.h"
#include "commands/evaluate/threshold_file.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"
#include "eval/samples/applied_thresholds.h"
#include "report/tables/table.h"

namespace tandem::app {

struct AppliedReport {
  std::vector<std::string> targets;  // that each was chosen for
  std::vector<eval::AppliedThreshold> thresholds;
  std::optional<ThresholdSource> chosen_on;
  ThresholdSource measured_on;
  double confidence = 0.95;
};

// `shown[t]` is what threshold t of `saved` shows of each query. Intervals are made as `options`
// says (eval::ApplyThreshold).
AppliedReport MakeAppliedReport(const SavedThresholds& saved, const ThresholdSource& measured_on,
                                std::span<const std::vector<eval::QueryShown>> shown,
                                const eval::BootstrapOptions& options);

// Of the queries of a run that `evaluation` evaluated. What is below the depth of the run is
// unknown.
AppliedReport AppliedToRun(const SavedThresholds& saved, const ThresholdSource& measured_on,
                           const data::Run& run, const data::Qrels& qrels,
                           const eval::Evaluation& evaluation, const eval::RankingOptions& ranking,
                           const eval::BootstrapOptions& options);

// Formats the report after an evaluation's measures: as a table (text), as additional lines
// "precision=0.9:precision<TAB>all<TAB>0.88" (tsv), and as the members "applied", "chosen_on",
// "measured_on" and "confidence" (json).
FurtherFigures AppliedFigures(const AppliedReport& report, const report::TextStyle& style);

// Warns of thresholds that show nothing, whose precision is undefined, and of those of which too
// little is known.
void WarnOfApplied(const AppliedReport& report);

}  // namespace tandem::app

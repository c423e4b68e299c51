// `tandem evaluate --thresholds`: prints the thresholds for targets, and the areas of the pool from
// which they are chosen, each with its interval.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/evaluate/evaluation_output.h"
#include "commands/evaluate/threshold_file.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"
#include "eval/samples/corpus_levels.h"
#include "eval/samples/roc.h"
#include "eval/samples/thresholds.h"
#include "report/tables/table.h"

namespace tandem::app {

// The number of resamples. Percentiles of 2,000 resamples differ by a few percent of an interval's
// width from one seed to another, and take seconds for 7,000 queries.
inline constexpr size_t kThresholdResamples = 2000;

struct ThresholdReport {
  std::optional<ThresholdSource> chosen_on;       // none: nobody has said
  std::vector<eval::ChosenThreshold> thresholds;  // in the order of the targets
  eval::PoolFigures figures;
  eval::PoolIntervals intervals;
  double confidence = 0.95;
  // At this score and below, precision and the number of results are unknown, because the results
  // of `cut_queries` queries end there; none if everything was counted.
  std::optional<double> unknown_from;
  size_t cut_queries = 0;
};

// The targets for which thresholds are chosen, and options of their intervals.
struct ThresholdRequest {
  std::vector<eval::Target> targets;
  uint64_t seed = 1;  // for the resamples
  int threads = 1;
};

// Makes the report. `samples` are the pool; `corpus` has the levels of the same queries over the
// whole corpus. Intervals are at 95 %, from 2,000 resamples (eval::Repetitions).
ThresholdReport MakeThresholdReport(std::span<const eval::QuerySamples> samples,
                                    const eval::CorpusLevels& corpus,
                                    const ThresholdRequest& request);

// Makes the report for the queries of a run that `evaluation` evaluated. Documents below the depth
// of the run are unknown.
ThresholdReport ThresholdsOfRun(const data::Run& run, const data::Qrels& qrels,
                                const eval::Evaluation& evaluation,
                                const eval::RankingOptions& ranking,
                                const ThresholdRequest& request);

// Formats the report after an evaluation's measures: as two tables (text), as additional lines
// "precision=0.9:threshold<TAB>all<TAB>0.41" (tsv), and as the members "chosen_on", "pool",
// "thresholds", "confidence" and "unknown_from" (json). Thresholds are eval::ShownScore, so that
// whoever cuts at one gets the counts that stand beside it.
FurtherFigures ThresholdFigures(const ThresholdReport& report, const report::TextStyle& style);

// Warns of thresholds about which too little is known.
void WarnOfUnknown(const ThresholdReport& report);

// Throws CheckFailed (exit code 6) for the first target that is not met, with the best possible
// value. Must be called after everything is printed.
void CheckTargetsMet(const ThresholdReport& report);

}  // namespace tandem::app

// Converts the results of an evaluation to the rows of a report
// (report/records/evaluation_record.h).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "commands/calibrate/calibration_study.h"
#include "data/dataset.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"
#include "eval/samples/auc.h"
#include "eval/samples/score_levels.h"
#include "eval/samples/thresholds.h"
#include "eval/significance/bootstrap.h"
#include "eval/views/embedding_views.h"
#include "report/records/evaluation_record.h"

namespace tandem::app {

// Returns each measure with its interval over resamples of the queries. For measures with values
// for single queries, it is the interval of their mean (queries without a value are left out of the
// resamples); for auc, partial_auc and pool_ap, it is computed from the pool's levels.
std::vector<report::MeasureResult> MeasureResultsOf(const eval::Evaluation& evaluation,
                                                    const eval::ScoreLevels& pool,
                                                    const eval::BootstrapOptions& options);

// Returns areas, curves and thresholds; a target that cannot be met has a row without numbers. The
// pool must have positives and others.
report::RocFacts RocFactsOf(const eval::ScoreLevels& pool,
                            std::span<const eval::ChosenThreshold> thresholds);

// Returns histograms of the scores of positives and of the others in the same bins, which reach
// from the lowest to the highest score. Positives without a score are left out. There must be at
// least one score.
report::ScoreHistograms ScoreHistogramsOf(std::span<const eval::QuerySamples> samples);

// Returns the calibrations, the chosen one first.
std::vector<report::CalibrationFacts> CalibrationFactsOf(const CalibrationStudy& study);

report::ViewFacts ViewFactsOf(const eval::EmbeddingViews& views);

// The data that CasesOf shows.
struct CaseSources {
  const data::Run& run;
  const data::Qrels& qrels;
  const data::Dataset& dataset;
  eval::RankingOptions ranking;
  size_t queries = 5;         // number of best queries, and of worst ones
  size_t results = 3;         // for each query
  size_t text_columns = 400;  // of a text at most; the rest is cut
};

// Returns the queries with the highest and the lowest values of the first measure that has values
// for single queries, ties in the order of the evaluation; no query is in both lists. Empty if no
// measure has such values.
report::QueryCases CasesOf(const eval::Evaluation& evaluation, const CaseSources& sources);

}  // namespace tandem::app

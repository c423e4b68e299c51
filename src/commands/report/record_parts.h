// Turns what an evaluation found into the rows of a report (report/records/evaluation_record.h).
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

// Each measure with its interval over resamples of the queries: of the mean where queries have
// values of their own (those without a value are left out of the resamples), of auc, partial_auc
// and pool_ap over the pool's levels.
std::vector<report::MeasureResult> MeasureResultsOf(const eval::Evaluation& evaluation,
                                                    const eval::ScoreLevels& pool,
                                                    const eval::BootstrapOptions& options);

// Areas, curves and thresholds; a target that cannot be met has a row without numbers. The pool has
// positives and others.
report::RocFacts RocFactsOf(const eval::ScoreLevels& pool,
                            std::span<const eval::ChosenThreshold> thresholds);

// Scores of positives and of the others in the same bins, which reach from the lowest to the
// highest score. Positives without a score are left out. At least one score is there.
report::ScoreHistograms ScoreHistogramsOf(std::span<const eval::QuerySamples> samples);

// The chosen way first.
std::vector<report::CalibrationFacts> CalibrationFactsOf(const CalibrationStudy& study);

report::ViewFacts ViewFactsOf(const eval::EmbeddingViews& views);

// What CasesOf shows, and where it finds it.
struct CaseSources {
  const data::Run& run;
  const data::Qrels& qrels;
  const data::Dataset& dataset;
  eval::RankingOptions ranking;
  size_t queries = 5;         // best, and as many worst
  size_t results = 3;         // of each query
  size_t text_columns = 400;  // that a text takes at most; the rest is left out
};

// The queries that the first measure with values per query is highest and lowest for, ties in the
// order of the evaluation; no query is in both lists. Empty where no measure has such values.
report::QueryCases CasesOf(const eval::Evaluation& evaluation, const CaseSources& sources);

}  // namespace tandem::app

// Measures of a run against judgements.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/measure.h"
#include "eval/ranking.h"
#include "eval/samples/auc.h"

namespace tandem::eval {

struct EvaluationOptions {
  RankingOptions ranking;
  // Says whether judged queries that the run lacks count, with 0 (trec_eval's -c). For `auc` all
  // their positives are missing.
  bool complete = false;
  int threads = 1;
  // Score samples by query for the AUC measures, where the run does not hold the score of every
  // positive (a model has them all). Empty: taken from the run. Queries without judgement are
  // ignored.
  std::span<const QuerySamples> samples;
  // Fills Evaluation::samples also where no measure needs samples.
  bool count_samples = false;
  // Whether somebody asked for a measure of score samples, and did not just get it by default.
  bool samples_asked_for = true;
};

struct MeasureValues {
  Measure measure;
  std::optional<double> mean;  // none where no query has a value
  // The values of Evaluation::queries, in their order; empty for a measure that pools its queries.
  // A value is missing only for auc_per_query, where a query has no negative or no positive.
  std::vector<std::optional<double>> per_query;
};

struct Evaluation {
  std::vector<std::string> queries;     // evaluated, in ascending order of their bytes
  std::vector<MeasureValues> measures;  // as asked for
  size_t unjudged_queries = 0;          // of the run, ignored
  size_t missing_queries = 0;           // judged, not in the run (counted as 0 where `complete`)
  size_t queries_without_positive = 0;  // evaluated, without a grade at the relevance level
  std::optional<SampleCounts> samples;  // where an AUC measure was asked for
};

// The mean of the values that are there; none where none is.
std::optional<double> MeanOf(std::span<const std::optional<double>> values);

// Says whether one of them is an area of score samples, and no function of a ranking.
bool NeedsSamples(std::span<const Measure> measures);

// Evaluates the queries that are judged and in the run. Means are sums in the order of `queries`
// over their number, in double precision; the number of threads changes nothing. A query without a
// positive counts with 0. Throws DataError when no query is left and when none of them has a
// document that counts for a measure, UsageError for a relevance level that is not above 0,
// NumericError for a score that is not finite and a sample that is not a number.
Evaluation EvaluateRun(const data::Run& run, const data::Qrels& qrels,
                       std::span<const Measure> measures, const EvaluationOptions& options);

// A fact that a reader of an evaluation must know besides its numbers.
struct Remark {
  std::string text;         // one line: "WHAT: COUNT"
  bool is_warning = false;  // it may change what the numbers mean
};
// Queries that were ignored or left out, missing positives, few negatives.
std::vector<Remark> RemarksOn(const Evaluation& evaluation, const EvaluationOptions& options);

}  // namespace tandem::eval

// Measures a threshold that was chosen on other data: how right what it shows is here, how
// complete, and how many queries get nothing.
//
// A threshold that was chosen on the queries it is measured on looks better than it is; on queries
// that it has not seen it is what it is. Shares and their meaning are those of
// eval/samples/thresholds.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/samples/run_samples.h"
#include "eval/significance/bootstrap.h"

namespace tandem::eval {

// What a threshold shows of one query.
struct QueryShown {
  uint64_t positives = 0;  // of the query, also those without a score
  uint64_t found = 0;      // of them shown
  // Documents shown, positives included; none: more than `found`, but how many is not known.
  std::optional<uint64_t> shown;
  bool nothing = false;  // no document is shown
};

struct AppliedThreshold {
  double threshold = 0;
  size_t queries = 0;
  uint64_t found = 0;             // over all queries
  std::optional<uint64_t> shown;  // none: not known of every query
  size_t queries_with_nothing = 0;

  std::optional<double> precision;  // none: nothing is shown, or it is not known what
  std::optional<double> recall;     // none: there is no positive
  std::optional<double> results;    // shown per query; none: not known
  double nothing = 0;               // share of the queries that get nothing
  // Of the first three by the bootstrap over queries; of `nothing` the exact one of Clopper and
  // Pearson, since a bootstrap of a share that is 0 or 1 has no width.
  std::optional<Interval> precision_interval, recall_interval, results_interval;
  Interval nothing_interval;
};

// `queries` has one or more. Intervals are from Repetitions(options.resamples, ...) resamples;
// where a figure has no value in some of them, from the others.
AppliedThreshold ApplyThreshold(double threshold, std::span<const QueryShown> queries,
                                const BootstrapOptions& options);

// What the threshold shows of each query of a run, whose samples hold all results (SamplesOfRun).
// Scores are compared as they stand. A query whose results end at the run's depth above the
// threshold may have more, and none is known of `shown`.
std::vector<QueryShown> ShownByRun(const RunSamples& all, double threshold);

// The interval of a share `successes` of `trials`, at least one, in which a binomial proportion
// lies with `confidence` or more (Clopper and Pearson 1934): low is 0 for no success, high 1 for
// all.
Interval BinomialInterval(size_t successes, size_t trials, double confidence);

}  // namespace tandem::eval

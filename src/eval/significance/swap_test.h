// Says whether two systems differ in a figure of pooled samples, which has no value for a single
// query.
#pragma once

#include <span>

#include "eval/samples/auc.h"
#include "eval/samples/roc.h"
#include "eval/significance/significance.h"

namespace tandem::eval {

struct SwapResult {
  TestResult auc;
  TestResult partial_auc;
  TestResult average_precision;
};

// The randomisation test for pooled figures: if the systems were the same, the samples of each
// query could as well have come from the other one. A permutation swaps the samples of a query, all
// of them, between the systems with chance 1/2; p is the share of permutations whose two figures
// differ at least as much as those observed (by absolute value, but for 10^-12; the +1 and the
// exact case as in SignFlipTest, with all queries that have different samples). A figure without a
// value in one of the two systems counts as no difference.
//
// Scores of one system are mixed with those of the other, whose scale may be another one. So each
// score is replaced by its rank among all samples of its system, equal scores by the mean of their
// ranks, over their number: this changes no figure of a system. A permutation walks all samples, so
// that there are Repetitions(options.permutations, samples of both) of them.
//
// samples_a[q] and samples_b[q] are of the same query. Throws NumericError for a score that is NaN.
SwapResult SwapTest(std::span<const QuerySamples> samples_a,
                    std::span<const QuerySamples> samples_b, const TestOptions& options);

}  // namespace tandem::eval

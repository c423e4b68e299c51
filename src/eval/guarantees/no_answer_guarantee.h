// A threshold that promises silence: of queries that have no answer at most the share `risk` get
// one.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tandem::eval {

// Split conformal prediction. `best_scores` [n] are the highest scores of queries without an
// answer, in any order and of single precision. With the k-th smallest of them, k = ceil((1 -
// risk)(n + 1)), a later query that is exchangeable with these scores above it with a chance of at
// most `risk`, and where scores do not tie of more than risk - 1 / (n + 1). Documents are shown
// from the threshold on, so that it is the next number of single precision above that score. None
// where k > n: with fewer than 1 / risk - 1 queries nothing can be promised. Source: Vovk,
// Gammerman, Shafer 2005, "Algorithmic learning in a random world"; Lei et al. 2018,
// "Distribution-free predictive inference for regression", for the split form.
// Throws NumericError for a score that is NaN.
std::optional<double> ChooseNoAnswerThreshold(std::vector<double> best_scores, double risk);

}  // namespace tandem::eval

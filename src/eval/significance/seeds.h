// Several models of one recipe, trained under different seeds, as one system: the recipe.
#pragma once

#include <span>
#include <vector>

#include "eval/evaluate.h"
#include "eval/significance/bootstrap.h"

namespace tandem::eval {

// The evaluation of a recipe: a query's value is the mean over the seeds, a measure's the mean over
// its queries. All are of the same queries and measures, at least one. A query without a value in
// one of them has none. Throws UsageError for a measure that pools its queries: it has no value of
// a query that could be a mean.
Evaluation MeanOverSeeds(std::span<const Evaluation> seeds);

// The interval of the difference of two recipes' means, `values` minus `baseline`, where both other
// queries and other seeds might have been drawn. `baseline[s][q]` is the value of query q under the
// baseline's seed s; all have the same queries. A resample draws queries as ResampledMeans does,
// the same for both sides, and from each side as many of its seeds as it has, with replacement.
// Since n values drawn from n vary (n - 1) / n times as much as they should, the deviation of drawn
// seeds from their mean is stretched by √(n / (n - 1)) (Hesterberg 2015, section 3.2). One seed
// says nothing about others: it is taken as it is.
Interval IntervalOverSeeds(std::span<const std::vector<double>> baseline,
                           std::span<const std::vector<double>> values,
                           const BootstrapOptions& options);

}  // namespace tandem::eval

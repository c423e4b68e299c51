// One measure of several models on several data sets: means and average ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tandem::eval {

// Rank 1 is the highest value; equal values share the mean of the ranks that they take together,
// so that two best ones have 1.5 (as in Demsar 2006, "Statistical comparisons of classifiers over
// multiple data sets"). No rank for a missing value, which the others are ranked without.
std::vector<std::optional<double>> RanksOf(std::span<const std::optional<double>> values);

// Sums up each model over the sets; none where the model lacks the value of a set, since a mean
// over other sets would compare nothing.
struct SuiteSummary {
  std::vector<std::optional<double>> means;
  std::vector<std::optional<double>> average_ranks;
};

// `by_set[s]` has the value of each model on set s; all have the same number of models.
SuiteSummary SummarizeSuite(std::span<const std::vector<std::optional<double>>> by_set);

}  // namespace tandem::eval

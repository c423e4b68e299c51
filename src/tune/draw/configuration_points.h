// Configurations as points, between which a kernel measures how alike they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/tune/tune_recipe.h"

namespace tandem::tune {

// The value of one searched key. A number lies where it is in the key's list or range: 0 at the
// lowest, 1 at the highest, by the logarithm where the range is logarithmic or the list spans a
// power of ten and has no value of 0 or below. A recipe's own value may lie outside.
struct Coordinate {
  std::optional<double> number;
  std::string text;  // of a value without an order; "" of a key that does nothing in the recipe
  bool operator==(const Coordinate&) const = default;
};
using ConfigurationPoint = std::vector<Coordinate>;  // one for each of `tune.tune.keys`

// The points of configurations, in their order. What a configuration does not set has the value
// that its recipe then has. Throws RecipeError for values that make no recipe together.
std::vector<ConfigurationPoint> PointsOf(const config::LoadedTune& tune,
                                         const std::vector<config::Assignment>& configurations);

// How alike two points are: 1 where they are the same, near 0 where nothing is known from one of
// the other. The product over keys of exp(-d^2 / (2 * 0.7^2)) for numbers at a distance d, and of
// 0.7 for other values that differ, or where only one of the two recipes has the key.
double Likeness(const ConfigurationPoint& a, const ConfigurationPoint& b);

}  // namespace tandem::tune

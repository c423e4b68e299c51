// Says how far computed scores can be from each other.
#pragma once

#include <cstddef>

#include "index/exact/possible_hits.h"

namespace tandem::index {

// The smallest float that is not below `value`.
float RoundedUp(double value);

// The most by which two sums of `width` products of floats can differ, added in whatever orders and
// a few operations more, relative to the product of the rows' lengths (Higham, Accuracy and
// Stability of Numerical Algorithms, section 3.1).
double SumError(size_t width);

// Bounds the absolute error where products vanish because they are too small for a float.
double VanishingError(size_t width);

// The bound of scores that are `error` wrong at most, for rows and a query of which the lengths
// have this product at most: u = score + span / 2.
ScoreBound BoundOf(size_t width, double lengths, double error);

}  // namespace tandem::index

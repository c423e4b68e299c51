// What contract tests of objectives share: every variant of the catalogue, and gradients against
// central differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "objective/random_batch.h"

namespace tandem::objective {

inline void ForEveryVariant(const std::function<void(const Variant&, const Formula&)>& body) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    body(variant, *variant.Make());
  }
}

inline double LargestMagnitude(const std::vector<double>& values) {
  double largest = 1;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

// Compares `gradient` with central differences: moves each of `values`, which `batch` reads.
inline void ExpectCentralDifferences(const Formula& formula, RandomBatch& batch,
                                     std::vector<double>& values,
                                     const std::vector<double>& gradient, const char* what) {
  // With temperatures of 0.01 the third derivative is near 1e6: h = 1e-6 leaves some 1e-7 of it
  // and as much of rounding.
  constexpr double kStep = 1e-6;
  const double bound = 2e-6 * LargestMagnitude(gradient);
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    values[i] = value + kStep;
    const double above = LossOf(formula, batch);
    values[i] = value - kStep;
    const double below = LossOf(formula, batch);
    values[i] = value;
    EXPECT_NEAR((above - below) / (2 * kStep), gradient[i], bound) << what << " " << i;
  }
}

// Moves close scores of a row apart: where a central difference swaps two ranks, it is no
// derivative.
inline void SpreadScores(RandomBatch& batch) {
  for (double& score : batch.query_document) score = std::round(score * 1e3) / 1e3;
  for (size_t cell = 0; cell < batch.q * batch.d; ++cell) {
    batch.query_document[cell] += 1e-5 * static_cast<double>(cell % batch.d);
  }
}

}  // namespace tandem::objective

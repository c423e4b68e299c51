// Says whether a plane tells queries from documents: 0.5 where the towers share a region of the
// embedding space, 1 where each has one of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "eval/views/unit_rows.h"

namespace tandem::eval {

struct SeparabilityOptions {
  size_t folds = 5;        // fewer where there are fewer pairs: then one pair each
  double shrinkage = 0.1;  // of the covariance towards a multiple of the identity, in (0, 1]
  uint64_t seed = 1;       // of the pairs' order, which decides the folds
  int threads = 1;
};

// Accuracy of Fisher's linear discriminant in a cross-validation: the share of rows that are told
// right, each by a discriminant that has not seen its fold. `queries` [P, E] and `positives`
// [P, E], row i the positive of query i; both of a pair are in one fold, so that a text that occurs
// in both towers is never learned from one and asked in the other. Both classes have the same size:
// guessing has 0.5. A row on the plane counts one half, so that identical towers have 0.5 exactly.
//
// The discriminant is w = C^-1 (mean of positives - mean of queries), with its plane half-way
// between the means, C = (1 - s) S + s tr(S)/E I, S the covariance within the classes (divisor: the
// rows), s = `shrinkage`. Without shrinkage S has no inverse where E exceeds the rows; 0.1 costs
// little where it has one. The number is the same for any number of threads. Gives nothing with
// fewer than two pairs. Source: Fisher 1936; shrinkage as Friedman 1989, "Regularized discriminant
// analysis", eq. 18.
std::optional<double> LinearSeparability(const UnitRows& queries, const UnitRows& positives,
                                         const SeparabilityOptions& options);

}  // namespace tandem::eval

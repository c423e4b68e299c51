// Says how similar queries are to each other, measured by how similar they are to documents: the
// ratio of SamToNe's Fig. 6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "eval/views/unit_rows.h"

namespace tandem::eval {

// A ratio whose denominator is nearer to zero than this is left out: it says how near to a right
// angle two texts happen to be and nothing of the towers. Scores of cosine models have two or three
// digits that mean something.
inline constexpr double kLeastRatioDenominator = 0.01;

struct RatioOptions {
  size_t draws = 20'000;  // all pairs i != j where they are not more
  uint64_t seed = 1;
};

// Figures over pairs i != j of sim(q_i, q_j) / sim(q_i, p_j), sim = cosine. A median below 1:
// queries lie nearer to documents that are not theirs than to other queries. 1: the towers are
// mixed. Above 1: queries lie by themselves.
struct SimilarityRatios {
  std::vector<double> ratios;  // in the order of the pairs; those that were left out are not here
  size_t left_out = 0;         // |sim(q_i, p_j)| < kLeastRatioDenominator
  // Means over all pairs, left out or not: where the denominators lie around zero, the quotient of
  // these says more than the ratios. They are unset where there is no pair.
  std::optional<double> mean_query_query;
  std::optional<double> mean_query_positive;
};

// `queries` [P, E] and `positives` [P, E], row i the positive of query i. Pairs are drawn with
// replacement, or all taken in the order (0,1), (0,2), ... No ratio with fewer than two rows.
// Source: SamToNe (Moiseev et al. 2023) §4.3, Fig. 6. Differs: the rule of the denominator, which
// the paper does not give.
SimilarityRatios RatiosOf(const UnitRows& queries, const UnitRows& positives,
                          const RatioOptions& options);

}  // namespace tandem::eval

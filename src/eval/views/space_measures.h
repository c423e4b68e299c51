// Numbers that describe where two towers put their texts on the unit sphere.
#pragma once

#include <optional>

#include "eval/views/unit_rows.h"

namespace tandem::eval {

// Defaults of Wang & Isola's own listing.
inline constexpr double kAlignmentExponent = 2;
inline constexpr double kUniformityScale = 2;

// || mean of a - mean of b ||, from 0 (the means coincide) to 2 (opposite points). Gives nothing
// where one has no rows. Source: Liang et al. 2022, "Mind the gap", §2 (their modality gap).
std::optional<double> CentroidGap(const UnitRows& a, const UnitRows& b);

// mean_i || q_i - p_i ||^alpha over the pairs of row i: 0 where every query is its positive.
// Gives nothing without a row. Source: Wang & Isola 2020, "Understanding contrastive representation
// learning through alignment and uniformity on the hypersphere", eq. L_align.
std::optional<double> Alignment(const UnitRows& queries, const UnitRows& positives,
                                double alpha = kAlignmentExponent);

// log of the mean over pairs i < j of exp(-t || x_i - x_j ||^2): 0 where all rows are one point,
// lower the more evenly they lie; at t = 2 and many dimensions evenly spread rows have about -4.
// Gives nothing with fewer than two rows. O(n^2 E), the same for any number of threads. Source: the
// same, eq. L_uniform.
std::optional<double> Uniformity(const UnitRows& rows, int threads, double t = kUniformityScale);

}  // namespace tandem::eval

// Rows in a plane: their first two principal components.
#pragma once

#include <array>
#include <vector>

#include "eval/views/unit_rows.h"

namespace tandem::eval {

using PlanePoint = std::array<double, 2>;

struct PrincipalPlane {
  std::vector<PlanePoint> points;   // [n]: coordinates of the rows less their mean
  std::array<double, 2> explained;  // each component's share of the variance
};

// Each component points so that the coordinate that is largest in magnitude (the first of equals)
// is positive: rotating all rows then changes nothing. Rows that are all equal give zeros, and so,
// to rounding, does the second component where they lie on a line. The result is the same for any
// number of threads.
//
// Found by block iteration with Rayleigh-Ritz (Golub & Van Loan §8.2.4) on products with the rows,
// never on the covariance's E^2 numbers: O(n E) an iteration, until both residuals are 1e-9 of the
// first variance. Where the second and the ninth component are nearly alike, the iteration ends
// before, in a plane whose variance is as large as that of any other to the digits that a picture
// shows.
PrincipalPlane ProjectOnPlane(const UnitRows& rows, int threads);

}  // namespace tandem::eval

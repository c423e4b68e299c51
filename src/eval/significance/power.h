// How many queries a comparison needs.
#pragma once

#include <cstddef>
#include <optional>

namespace tandem::eval {

// The number of queries, all together, with which a paired two-sided test at `level` (above 0,
// below 1) sees a difference of Cohen's d_z `effect_size` in four of five samples of queries:
// ((z(1 - level / 2) + z(0.8)) / d_z)^2 + z(1 - level / 2)^2 / 2, rounded up (Guenther 1981,
// "Sample size formulas for normal theory t tests", for the paired t-test, whose power the
// randomisation test has for all but very few queries). None where the effect is 0, and where it
// would take more than a thousand million queries.
std::optional<size_t> QueriesNeeded(double effect_size, double level);

}  // namespace tandem::eval

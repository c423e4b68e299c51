// The sign test: whether more pairs of values rose than chance would have it.
#pragma once

#include <cstddef>

namespace tandem::eval {

// The two-sided p-value of `gained` and `lost` pairs where each is as likely, exact: twice the
// share of the binomial distribution at or beyond the smaller of both, at most 1. Pairs without a
// difference count for neither (Conover, Practical Nonparametric Statistics, section 3.4). 1 where
// there is no pair.
double SignTestP(size_t gained, size_t lost);

}  // namespace tandem::eval

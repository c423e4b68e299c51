// Tests and intervals for the mean of values from 0 to 1 that hold for every distribution and every
// number of values.
#pragma once

#include <cstddef>

#include "eval/significance/bootstrap.h"

namespace tandem::eval {

// P(X <= successes) of a binomial X with `trials` trials of probability p in [0, 1].
double BinomialCdf(size_t successes, size_t trials, double p);

// A p-value of "the mean is above `risk`", from n values of [0, 1] with the sum `total`:
//
//   min( exp(-n h(min(R, risk), risk)),  e P(Bin(n, risk) <= ceil(n R)),  1 ),    R = total / n,
//   h(a, b) = a log(a / b) + (1 - a) log((1 - a) / (1 - b)).
//
// Under the hypothesis it is at most d with probability at most d, for every d. 1 without values.
// The first is Hoeffding's bound, the second Bentkus'. `risk` is in (0, 1).
// Source: Bates, Angelopoulos, Lei, Malik, Jordan 2021, "Distribution-free, risk-controlling
// prediction sets"; Angelopoulos, Bates, Candès, Jordan, Lei 2021, "Learn then test", prop. 1.
double HoeffdingBentkusP(double total, size_t n, double risk);

// The interval in which the mean of such values lies with `confidence` or more: all means that
// neither of two such tests, each at half of the rest, excludes. [0, 1] without values.
Interval BoundedMeanInterval(double total, size_t n, double confidence);

}  // namespace tandem::eval

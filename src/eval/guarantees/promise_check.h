// Whether a promise was kept on other queries than those that it was made with.
#pragma once

#include <cstddef>

#include "eval/guarantees/promise.h"
#include "eval/significance/bootstrap.h"

namespace tandem::eval {

// Losses of m queries, each from 0 to 1.
struct SeenLoss {
  double total = 0;
  size_t queries = 0;  // m
  bool whole = true;   // each is 0 or 1
  void Add(double loss);
  double mean() const { return queries == 0 ? 0 : total / static_cast<double>(queries); }
};

// Where the mean loss lies with `confidence`, of queries like these: of whole losses the exact
// interval of Clopper and Pearson, of others BoundedMeanInterval. [0, 1] without queries.
Interval SeenInterval(const SeenLoss& seen, double confidence);

// The chance of so high a loss, or a higher one, if the promise is kept.
//
// A promise of precision bounds the mean loss itself: P(Bin(m, risk) >= total) of whole losses,
// else the Hoeffding-Bentkus bound. (Its confidence is not in it: one of many calibrations may
// break it.) The others bound the mean over calibrations, of which this is one. With `calibration`
// = n queries, the chance that a query is above the threshold is drawn from Beta(a, n + 1 - a), a =
// floor(risk (n
// + 1)), if losses are whole and scores do not tie (Vovk 2012, "Conditional validity of inductive
// conformal predictors"): P(X >= total) of a beta-binomial X. Losses that are not whole vary less,
// and ties make them lower, so that the chance is then too high.
double ChanceIfKept(const Promise& promise, size_t calibration, const SeenLoss& seen);

}  // namespace tandem::eval

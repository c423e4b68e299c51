// The results of a query from a score on, for measures of what a threshold shows.
#pragma once

#include <cstddef>

#include "eval/ranking.h"

namespace tandem::eval {

struct ShownResults {
  size_t shown = 0;
  size_t found = 0;  // positives among them
};

// Models score in single precision, so levels are compared in it: a score of 0.41 that became
// 0.40999999 as a float is 0.41.
inline ShownResults ResultsFrom(const JudgedRanking& ranking, double score) {
  const auto least = static_cast<float>(score);
  ShownResults at;
  for (; at.shown < ranking.results.size(); ++at.shown) {
    if (static_cast<float>(ranking.results[at.shown].score) < least) break;
    at.found += ranking.IsPositive(at.shown);
  }
  return at;
}

}  // namespace tandem::eval

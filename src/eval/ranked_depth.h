// The number of results of each query to rank for measures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "eval/measure.h"

namespace tandem::eval {

// Returns trec_eval's usual depth, 1,000, or more if a measure needs more.
inline size_t RankedDepth(std::span<const Measure> measures) {
  size_t depth = 1000;
  for (const Measure& measure : measures) {
    if (measure.cut_off != kAllResults) depth = std::max(depth, measure.cut_off);
  }
  return depth;
}

}  // namespace tandem::eval

// The number of results of each query that commands rank for measures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "eval/measure.h"

namespace tandem::app {

// Returns trec_eval's usual depth, 1,000, or more if a measure needs more.
inline size_t RankedDepth(std::span<const eval::Measure> measures) {
  size_t depth = 1000;
  for (const eval::Measure& measure : measures) {
    if (measure.cut_off != eval::kAllResults) depth = std::max(depth, measure.cut_off);
  }
  return depth;
}

}  // namespace tandem::app

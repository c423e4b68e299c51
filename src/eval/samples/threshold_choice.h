// Chooses the level that meets a target, for several weightings of the queries at once.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "eval/samples/score_walk.h"
#include "eval/samples/thresholds.h"

namespace tandem::eval {

inline constexpr size_t kNoLevel = static_cast<size_t>(-1);

struct ChosenLevels {
  std::array<size_t, kLanes> met;      // kNoLevel where no level meets the target
  std::array<size_t, kLanes> nearest;  // level nearest to an unmet target; kNoLevel without levels
};

// Levels of the pool for recall and false-positive rate, of the corpus for precision and results. A
// lane whose weights leave nothing to count has kNoLevel.
ChosenLevels ChooseLevels(const ScoreLevels& levels, const Target& target,
                          std::span<const Lanes> weights);

}  // namespace tandem::eval

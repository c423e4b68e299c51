// Walks the levels of scores from the top for several weightings of the queries at once.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "eval/samples/score_levels.h"

namespace tandem::eval {

// Weightings that are walked together: as many doubles as a line of the cache holds.
inline constexpr size_t kLanes = 8;
using Lanes = std::array<double, kLanes>;
using LaneWeights = std::vector<Lanes>;  // [Q]: the weights of each query

// Weighted numbers of documents, before a level and on it.
struct LevelLanes {
  size_t level = 0;
  bool has_positives = false;  // of any query, whatever its weight is
  Lanes positives{};           // on the levels before
  Lanes others{};
  Lanes more_positives{};  // on this level
  Lanes more_others{};
};

// Calls `visit(const LevelLanes&)` for every level, from the highest score down, until it returns
// false. Sums of whole weights are exact: they are far below 2^53.
template <typename Visit>
void WalkLevels(const ScoreLevels& levels, std::span<const Lanes> weights, Visit&& visit) {
  LevelLanes at;
  for (at.level = 0; at.level < levels.size(); ++at.level) {
    Lanes positives{}, others{};
    at.has_positives = false;
    for (const LevelCount& count : levels.CountsOf(at.level)) {
      const Lanes& weight = weights[count.query];
      if (count.positives > 0) {
        at.has_positives = true;
        const auto times = static_cast<double>(count.positives);
        for (size_t l = 0; l < kLanes; ++l) positives[l] += times * weight[l];
      }
      if (count.others > 0) {
        const auto times = static_cast<double>(count.others);
        for (size_t l = 0; l < kLanes; ++l) others[l] += times * weight[l];
      }
    }
    at.more_positives = positives;
    at.more_others = others;
    if (!visit(static_cast<const LevelLanes&>(at))) return;
    for (size_t l = 0; l < kLanes; ++l) {
      at.positives[l] += positives[l];
      at.others[l] += others[l];
    }
  }
}

// Sum over queries of weight times number.
inline Lanes WeightedTotal(std::span<const uint64_t> numbers, std::span<const Lanes> weights) {
  Lanes total{};
  for (size_t q = 0; q < numbers.size(); ++q) {
    const auto times = static_cast<double>(numbers[q]);
    for (size_t l = 0; l < kLanes; ++l) total[l] += times * weights[q][l];
  }
  return total;
}

}  // namespace tandem::eval

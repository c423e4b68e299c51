// Leaving pairs out of a run before it begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

// Says which of two pairs is better: the one with the higher score, of equal ones that with the
// higher `second`, which may be empty (the cosines beside reciprocal ranks, most of which are 1),
// else the earlier one.
struct PairRanking {
  std::span<const float> scores;
  std::span<const float> second = {};

  bool operator()(uint32_t a, uint32_t b) const;
};

// Says how many of `pairs` a share of them is, rounded down; a product that rounding has made a
// little less than a whole number counts as that. 0 where the share is too small for a pair.
size_t KeptCount(size_t pairs, double share);

// Says which are the `count` best pairs.
std::vector<bool> BestPairs(const PairRanking& ranking, size_t count);

// Keeps floor(share * pairs) pairs, chosen from stream (seed, "random pruning"); all of them where
// `share` is 1. Throws OrderProblem (key "keep") where none would be left.
void KeepRandom(Pairs& pairs, double share, uint64_t seed);

// Keeps as many pairs, the best ones. Throws besides std::invalid_argument where there is not one
// finite number for each pair.
void KeepBest(Pairs& pairs, double share, const PairRanking& ranking);

// Throws std::invalid_argument where `scores` are not one finite number for each pair.
void CheckScores(const Pairs& pairs, std::span<const float> scores, const char* what);

}  // namespace tandem::sampling

// Leaving pairs out of a run before it begins.
#pragma once

#include <cstdint>

#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

// Keeps floor(share * pairs) pairs, chosen from stream (seed, "random pruning"); all of them where
// `share` is 1. Throws OrderProblem (key "keep") where none would be left.
void KeepRandom(Pairs& pairs, double share, uint64_t seed);

// Keeps as many pairs, those with the highest score. Ties go by `second` where it is not empty (the
// cosines beside consistencies, most of which are 1), then to the lower pair. Throws besides
// std::invalid_argument where there is not one finite number for each pair.
void KeepBest(Pairs& pairs, double share, std::span<const float> scores,
              std::span<const float> second = {});

// Throws std::invalid_argument where `scores` are not one finite number for each pair.
void CheckScores(const Pairs& pairs, std::span<const float> scores, const char* what);

}  // namespace tandem::sampling

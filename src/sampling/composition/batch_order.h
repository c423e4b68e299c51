// Decides in which order the batches of an epoch come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace tandem::sampling {

// The new number of each batch, so that batches come in random order. batch_of[i] < `batches` is
// the batch of query i, lengths[i] its length in tokens.
std::vector<uint32_t> ShuffledOrder(size_t batches, RandomStream& random);

// An order in which the place of a query in the epoch says nothing about its length: of up to 100
// random orders the first in which Spearman's rank correlation of the two, over all queries, is at
// most 0.02 in absolute value; where there is none, the one with the least. Queries of a batch
// count as having one place, the batch's middle. Fewer than 16 batches come in any order: the few
// orders without a trend would give some batches their places for good.
std::vector<uint32_t> BalancedOrder(std::span<const uint32_t> batch_of, size_t batches,
                                    std::span<const uint32_t> lengths, RandomStream& random);

// Spearman's rank correlation of place and length, as BalancedOrder bounds it, where batch b comes
// as number new_number[b]; 0 where all lengths are equal.
double LengthTrend(std::span<const uint32_t> batch_of, std::span<const uint32_t> new_number,
                   std::span<const uint32_t> lengths);

}  // namespace tandem::sampling

// Says how the queries of an epoch become batches of a limited number of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "sampling/composition/composition.h"

namespace tandem::sampling {

struct TokenOptions {
  size_t limit = 0;  // tokens of a batch
  Copies copies = Copies::kNever;
};

// Gives each query of an epoch the number of its batch: no batch has more than `limit` tokens or a
// key twice, none is empty, and they are numbered from 0. `tokens[i]` is what query i of the epoch
// brings, its documents included: from 1 to `limit`, or std::invalid_argument is thrown. Where the
// queries of a key have to meet, in as many batches as the tokens fill at least, they are spread as
// SplitFrequentKeys does it.
//
// Batches are as few as a first fit finds, and about as large as each other: in tokens they differ
// by little more than their longest query, as far as keys allow that. A query goes to the batch of
// its place in the epoch unless limit or keys forbid it; where they do, to one near that, and only
// then to one that `random` chooses.
//
// Queries that share a key are placed first, then the others fill up. Where some do not fit, all
// are placed anew in more batches. Time is about linear in the epoch, for each of these tries.
std::vector<uint32_t> ComposeByTokens(std::span<const BatchKeys> epoch,
                                      std::span<const uint32_t> tokens, const TokenOptions& options,
                                      RandomStream random);

}  // namespace tandem::sampling

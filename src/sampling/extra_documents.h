// Draws the extra labelled documents of a batch: what its queries bring besides their paired ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "base/random.h"
#include "sampling/batch.h"
#include "sampling/extra_pool.h"
#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

// Numbers that one query may draw in an epoch: far more than its documents need. Query q has
// stretch [q << kDrawBits, (q + 1) << kDrawBits) of stream (seed, "sampling documents", epoch), so
// that what is drawn for it does not depend on the queries before it. The paired document is drawn
// from the stretch's first half, extra ones from its second.
inline constexpr int kDrawBits = 24;

// The stream of an epoch, and of one of several draws of a query in it.
RandomStream DocumentStream(uint64_t seed, uint64_t epoch, uint32_t repeat = 0);

struct ExtraOptions {
  uint64_t seed = 1;
  size_t count = 0;           // of each query
  bool no_duplicates = true;  // no document text twice in a batch
  // Where false, extra documents are negatives of their own query alone, so that only those of one
  // query must not be copies.
  bool in_batch = true;
};

// Adds to a batch that has `draws` as its rows, of epoch batch.epoch, their extra documents: drawn
// without replacement, all alike, from each query's judged negatives, or where paired documents may
// have any grade from all its kept pairs but the paired one, and in either case from what `mined`
// has for it. Paired documents enter the batch first: of two equal texts, the paired document stays
// and the extra one is left out.
void AddExtra(const Pairs& pairs, const ExtraPool& mined, const ExtraOptions& options,
              const std::vector<Draw>& draws, Batch& batch);

}  // namespace tandem::sampling

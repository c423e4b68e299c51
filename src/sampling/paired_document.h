// Draws the paired document of a query that comes once an epoch: uniform among its kept pairs.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "sampling/extra_documents.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

// `random` is the DocumentStream of the epoch; the query has a kept pair.
inline uint32_t DrawPairedDocument(const Pairs& pairs, uint32_t query, RandomStream& random) {
  random.Seek(uint64_t{query} << kDrawBits);
  size_t chosen = random.Below(pairs.kept_count(query));
  const JudgedList pool = pairs.pool(query);
  for (size_t i = 0;; ++i) {
    if (pairs.kept(pairs.first(query) + i) && chosen-- == 0) return pool.document(i);
  }
}

}  // namespace tandem::sampling

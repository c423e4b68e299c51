// Limits how many queries with one text or one paired document a batch of a stepped epoch has: one,
// but for those that are so frequent that they have to meet (sampling/composition/composition.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "sampling/composition/composition.h"
#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

class CopyLimits {
 public:
  // Sets the limits for epochs of `order` over `pairs`, in batches of `batch` queries. An epoch may
  // draw all queries with a text, and each with any of its kept documents; a batch may have an even
  // share of as many as all of these are, where `copies` lets so many meet.
  CopyLimits(const Pairs& pairs, const SteppedOrder& order, size_t batch, Copies copies);

  size_t OfText(uint64_t hash) const { return Of(texts_, hash); }
  size_t OfDocument(uint64_t hash) const { return Of(documents_, hash); }
  // The largest.
  size_t most() const { return most_; }

 private:
  using Limits = std::unordered_map<uint64_t, uint32_t>;  // only limits above 1
  static size_t Of(const Limits& limits, uint64_t hash) {
    if (limits.empty()) return 1;
    const auto found = limits.find(hash);
    return found == limits.end() ? 1 : found->second;
  }

  Limits texts_, documents_;
  size_t most_ = 1;
};

}  // namespace tandem::sampling

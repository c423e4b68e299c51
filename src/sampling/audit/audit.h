// The reports of a sampler about its epochs, for those that keep records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sampling/order.h"

namespace tandem::sampling {

// Hears what a sampler does, in this order for each epoch: BeginPass before its first batch,
// AddBatch for each, EndPass after its last. A sampler whose state is restored goes on from there.
class PassAudit {
 public:
  virtual ~PassAudit() = default;
  // `probabilities` [pairs]: of each pair, by what the sampler knows before the epoch's first draw.
  virtual void BeginPass(uint64_t pass, const Pairs& pairs,
                         std::span<const float> probabilities) = 0;
  virtual void AddBatch(std::span<const Draw> draws) = 0;
  // The queries that the epoch did not draw, ascending.
  virtual void EndPass(std::span<const LeftOut> left_out) = 0;
};

}  // namespace tandem::sampling

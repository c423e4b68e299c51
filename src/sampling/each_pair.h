// The order of what pruning before the run has left: every kept pair once per pass.
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

// A query comes as often as it has kept pairs, each time with another of its documents, so that a
// query is drawn in proportion to its kept pairs and its document uniformly among them. The order of
// pass e is the shuffle of stream (seed, "sampling order", e).
class EachPair final : public PlannedOrder {
 public:
  // `pairs`, which must outlive the order, have been pruned.
  EachPair(const Pairs& pairs, uint64_t seed) : pairs_(pairs), seed_(seed) {}

  PassContent content() const override { return PassContent::kEachPair; }
  size_t draws() const override { return pairs_.kept_size(); }
  size_t DrawsIn(uint64_t /*pass*/) const override { return pairs_.kept_size(); }
  std::vector<Draw> Plan(uint64_t pass) const override;

 private:
  const Pairs& pairs_;
  uint64_t seed_;
};

}  // namespace tandem::sampling

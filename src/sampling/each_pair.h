// The order of what pruning before the run has left: every kept pair once per epoch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

// A query comes as often as it has kept pairs, each time with another of its documents, so that a
// query is drawn in proportion to its kept pairs and its document uniformly among them. The order
// of epoch e is the shuffle of stream (seed, "sampling order", e).
class EachPair final : public PlannedOrder {
 public:
  // `pairs`, which must outlive the order, have been pruned, by `scores` [pairs], which are not
  // kept, or without any.
  EachPair(const Pairs& pairs, uint64_t seed, std::span<const float> scores = {});

  EpochContent content() const override { return EpochContent::kEachPair; }
  size_t draws() const override { return pairs_.kept_size(); }
  size_t DrawsIn(uint64_t /*epoch*/) const override { return pairs_.kept_size(); }
  std::vector<Draw> Plan(uint64_t epoch) const override;
  // 1 or 0.
  std::vector<float> Probabilities() const override;
  // The queries without a kept pair, each with its best pair's score.
  std::vector<LeftOut> NotDrawn() const override { return left_out_; }

 private:
  const Pairs& pairs_;
  uint64_t seed_;
  std::vector<LeftOut> left_out_;
};

}  // namespace tandem::sampling

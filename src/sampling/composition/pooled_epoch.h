// An epoch whose draws an order gives one after the other, where batches are made of many draws at
// a time: by task, of similar lengths, or of a number of tokens
// (sampling/composition/batch_composer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sampling/composition/batch_composer.h"
#include "sampling/composition/epochs.h"

namespace tandem::sampling {

// Draws ahead, for kPoolBatches batches at a time, and makes batches of this pool. So what the
// order learns from a batch decides about the draws of the next pool, not of this one.
//
// A task whose draws are fewer than two batches (three, where tokens are counted) stays in the pool
// until it has more, and every other task keeps as many as one batch there. At the epoch's end,
// where everything is composed, no task has a rest for a tiny batch then.
class PooledEpoch final : public Epoch {
 public:
  // `order`, whose epoch number `epoch` has begun, and `composer` must outlive this.
  PooledEpoch(SteppedOrder& order, const BatchComposer& composer, uint64_t seed, uint64_t epoch);

  bool AtEnd() const override { return placed_ >= order_.draws(); }
  std::vector<Draw> Next(double progress, bool rank_anew) override;
  uint64_t batches() const override { return batches_; }
  size_t placed() const override { return placed_; }
  void Save(SamplerState& state) const override;
  void Restore(const SamplerState& state) override;

  static constexpr size_t kPoolBatches = 16;

 private:
  void Refill(double progress);
  // Draws for kPoolBatches batches. Returns whether these were the epoch's last draws.
  bool DrawAhead();
  // Takes from the pool what becomes batches now.
  std::vector<Draw> TakeReady(bool all);
  // Says how many of a task's draws, given by their sizes, become batches now: the first so many.
  size_t ReadyOf(const std::vector<uint32_t>& sizes) const;

  SteppedOrder& order_;
  const BatchComposer& composer_;
  uint64_t seed_;
  uint64_t epoch_;
  std::vector<Draw> pool_;  // in the order of draws
  DrawBatches ready_;
  size_t next_ = 0;         // batch of ready_
  bool rank_anew_ = false;  // an interval has ended since the order was last asked
  uint64_t pools_ = 0;
  uint64_t batches_ = 0;
  size_t placed_ = 0;
};

}  // namespace tandem::sampling

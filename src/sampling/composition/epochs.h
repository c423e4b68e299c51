// Says how the draws of an epoch become batches: at once, at its beginning (PlannedEpoch), or while
// it goes on, for an order that learns meanwhile (SteppedEpoch, and PooledEpoch of
// sampling/composition/pooled_epoch.h). In each no two equal query texts or paired documents meet
// in a batch, unless copies are allowed or there are so many that they have to
// (sampling/composition/composition.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "sampling/composition/copy_limits.h"
#include "sampling/examples.h"
#include "sampling/order.h"
#include "sampling/state.h"

namespace tandem::sampling {

// The batches of one epoch.
class Epoch {
 public:
  virtual ~Epoch() = default;
  virtual bool AtEnd() const = 0;
  // The draws of the next batch. `progress` is the run's, and `rank_anew` as in
  // SteppedOrder::BeginBatch; an epoch that was planned at its beginning ignores both.
  virtual std::vector<Draw> Next(double progress, bool rank_anew) = 0;
  virtual uint64_t batches() const = 0;  // that Next has given
  virtual size_t placed() const = 0;     // draws in them
  // Saves and restores the state on which Next depends, besides order, options and number of the
  // epoch.
  virtual void Save(SamplerState& state) const = 0;
  virtual void Restore(const SamplerState& state) = 0;
};

// Draws, batch after batch.
struct DrawBatches {
  std::vector<Draw> draws;
  std::vector<size_t> starts = {0};  // [batches + 1] into draws

  // `batch_of[i]` is the batch of draw i; each number up to the largest occurs. The draws of a
  // batch stay in their order.
  static DrawBatches Sorted(std::span<const Draw> draws, std::span<const uint32_t> batch_of);

  size_t size() const { return starts.size() - 1; }
  std::vector<Draw> Batch(size_t number) const {
    return {draws.begin() + static_cast<ptrdiff_t>(starts[number]),
            draws.begin() + static_cast<ptrdiff_t>(starts[number + 1])};
  }
};

// An epoch whose draws are known at its beginning, and its batches with them.
class PlannedEpoch final : public Epoch {
 public:
  // There is at least one batch.
  explicit PlannedEpoch(DrawBatches batches);

  bool AtEnd() const override { return next_ == batches_.size(); }
  std::vector<Draw> Next(double progress, bool rank_anew) override;
  uint64_t batches() const override { return next_; }
  size_t placed() const override { return batches_.starts[next_]; }
  size_t planned() const { return batches_.size(); }
  // The batches of the whole epoch.
  const DrawBatches& all() const { return batches_; }
  void Save(SamplerState& state) const override;
  void Restore(const SamplerState& state) override;

 private:
  DrawBatches batches_;
  size_t next_ = 0;  // batch
};

struct SteppedOptions {
  size_t batch = 64;          // draws, at most
  bool no_duplicates = true;  // no text and no document twice in a batch
  // Says how many copies may meet; null: none ever do. Must outlive the epoch.
  const CopyLimits* limits = nullptr;
};

// An epoch whose draws an order gives one after the other. It has ceil(draws / batch) batches whose
// sizes differ by at most one, unless duplicates forbid that:
//  - A sure draw that the batch under way cannot take waits, and is tried first for the batches
//    after it; those that wait for one text or document come one a batch, oldest first.
//  - In place of any other draw that does not fit the order proposes another one. Where many do not
//    fit in a row, the batch stays smaller.
//  - What is still missing when the planned batches are made comes in further ones.
//  - Where copies may meet, a batch takes as many of a text or document as the limits say, and the
//    last of the planned batches and further ones take any: alone in a batch a query would have
//    nothing to be compared with.
class SteppedEpoch final : public Epoch {
 public:
  // `order`, whose epoch has begun, and `examples` must outlive this.
  SteppedEpoch(SteppedOrder& order, const Examples& examples, const SteppedOptions& options);

  bool AtEnd() const override { return placed_ >= order_.draws(); }
  std::vector<Draw> Next(double progress, bool rank_anew) override;
  uint64_t batches() const override { return batches_; }
  size_t placed() const override { return placed_; }
  void Save(SamplerState& state) const override;
  void Restore(const SamplerState& state) override;

 private:
  // Draws that wait, each because a batch had their key already.
  struct Queue {
    bool by_document = false;  // the key is the document's hash, else the text's
    uint64_t key = 0;
    std::deque<Draw> draws;
  };

  size_t Planned() const;  // batches
  size_t Size() const;     // of the next batch
  // Says whether the batch under way may take any copies.
  bool TakesAll() const;
  bool Fits(const Draw& draw) const;
  void Put(const Draw& draw, std::vector<Draw>& batch);
  void TakeWaiting(size_t size, std::vector<Draw>& batch);
  void TakeNew(size_t size, std::vector<Draw>& batch);
  void Wait(const Draw& draw);

  SteppedOrder& order_;
  const Examples& examples_;
  SteppedOptions options_;
  uint64_t batches_ = 0;
  size_t placed_ = 0;
  std::vector<Queue> waiting_;  // by the time at which a key's first draw had to wait
  // Says how often the batch under way has each hash.
  std::unordered_map<uint64_t, uint32_t> texts_, documents_;
};

}  // namespace tandem::sampling

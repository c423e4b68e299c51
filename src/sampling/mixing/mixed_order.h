// Orders several data sets that are mixed by weights or in turns (Mixture).
//
// Each source has an order of its own, over its own pairs, and gives its draws pass after pass. An
// epoch has as many draws as the passes of all sources together; which of them come from which
// source, EpochQuotas and Turns say. A source that has a larger share than its pass goes on with
// its next pass in the same epoch; one that has a smaller share goes on in the next epoch where it
// stopped. So each source has whole passes one after the other, and over the run all its queries
// come equally often, as its order wants it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sampling/mixing/source_orders.h"
#include "sampling/order.h"

namespace tandem::sampling {

// Decides an epoch at its beginning. The orders are PlannedOrders. Where they are known ahead, each
// has passes of one length.
//
// Memory where they are not known ahead: 12 bytes a draw, and 16 a draw whose weight is not 1.
class MixedPlannedOrder final : public PlannedOrder {
 public:
  explicit MixedPlannedOrder(SourceOrders sources);

  void Begin(uint64_t epoch, double progress) override;
  size_t draws() const override { return sources_.draws(); }
  size_t DrawsIn(uint64_t epoch) const override;
  double weight(const Draw& draw) const override;
  std::vector<float> Probabilities() const override { return sources_.Probabilities(); }
  std::vector<LeftOut> NotDrawn() const override;
  bool prunes() const override { return sources_[0].order->prunes(); }
  void AddFeedback(const Feedback& feedback) override { sources_.AddFeedback(feedback); }
  bool has_state() const override { return !known_ahead(); }
  void Save(SamplerState& state) const override;
  void Restore(const SamplerState& state, uint64_t epoch) override;

  EpochContent content() const override { return Planned(0).content(); }
  std::vector<Draw> Plan(uint64_t epoch) const override;
  bool known_ahead() const override { return Planned(0).known_ahead(); }
  size_t most_passes(uint32_t query) const override;

 private:
  const PlannedOrder& Planned(size_t part) const {
    return static_cast<const PlannedOrder&>(*sources_[part].order);
  }
  // The draws from `begin` on of a pass of a part, at most `count`; `number` says which of the
  // epoch's passes of the part it is.
  void Append(size_t part, uint64_t pass, size_t begin, size_t count, uint32_t number,
              std::vector<Draw>& draws) const;
  std::vector<Draw> DrawAll(size_t part, size_t count, double progress);
  static std::vector<Draw> InTurns(const std::vector<uint64_t>& quotas,
                                   const std::vector<std::vector<Draw>>& draws);

  struct Weight {
    uint64_t draw = 0;  // query and repeat
    double weight = 1;
  };

  SourceOrders sources_;
  uint64_t epoch_ = 0;
  std::vector<Draw> plan_;       // of this epoch, where it is not known ahead
  std::vector<Weight> weights_;  // of its draws, where they are not 1; sorted
};

// Follows orders that decide draw after draw, which are SteppedOrders.
class MixedSteppedOrder final : public SteppedOrder {
 public:
  explicit MixedSteppedOrder(SourceOrders sources);

  void Begin(uint64_t epoch, double progress) override;
  size_t draws() const override { return sources_.draws(); }
  size_t DrawsIn(uint64_t epoch) const override;
  std::vector<float> Probabilities() const override { return sources_.Probabilities(); }
  std::vector<LeftOut> NotDrawn() const override { return sources_.NotDrawn(drawn_); }
  void AddFeedback(const Feedback& feedback) override { sources_.AddFeedback(feedback); }
  bool has_state() const override { return true; }
  void Save(SamplerState& state) const override;
  void Restore(const SamplerState& state, uint64_t epoch) override;

  void BeginBatch(double progress, bool rank_anew) override;
  int64_t update_interval() const override { return Stepped(0).update_interval(); }
  std::optional<Draw> Propose() override;
  bool is_sure() const override { return Stepped(*proposing_).is_sure(); }
  void Take() override;
  void Skip() override { Stepped(*proposing_).Skip(); }

 private:
  SteppedOrder& Stepped(size_t part) { return static_cast<SteppedOrder&>(*sources_[part].order); }
  const SteppedOrder& Stepped(size_t part) const {
    return static_cast<const SteppedOrder&>(*sources_[part].order);
  }

  SourceOrders sources_;
  Turns turns_;
  std::vector<uint64_t> first_passes_;  // [parts] of this epoch
  std::vector<bool> drawn_;             // [n] in this epoch
  std::vector<bool> skipped_;           // [parts] have nothing more for the batch under way
  double progress_ = 0;
  std::optional<size_t> proposing_;  // the part whose draw is proposed
};

}  // namespace tandem::sampling

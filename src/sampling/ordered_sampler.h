// The sampler of every order: its epochs, composed into batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "sampling/audit/audit.h"
#include "sampling/composition/batch_composer.h"
#include "sampling/composition/copy_limits.h"
#include "sampling/composition/epochs.h"
#include "sampling/composition/shared_keys.h"
#include "sampling/extra_pool.h"
#include "sampling/order.h"
#include "sampling/pairs.h"
#include "sampling/sampler.h"

namespace tandem::sampling {

class OrderedSampler final : public Sampler {
 public:
  // `make` makes the order. Throws what it throws, and std::invalid_argument where Pairs cannot be
  // made, a batch has no room, or tasks and lengths do not fit the examples; DrawTooLong.
  using MakeOrder = std::function<std::unique_ptr<Order>(Pairs& pairs)>;
  OrderedSampler(const Examples& examples, const SamplerOptions& options, const MakeOrder& make);

  Batch Next() override;
  uint64_t QueriesIn(uint64_t epoch) const override { return order_->DrawsIn(epoch); }
  double Passes() const override;
  uint64_t BatchesIn(double epochs) const override;
  bool KnowsBatches() const override;
  size_t MostCopies() const override;
  void AddFeedback(const Feedback& feedback) override { order_->AddFeedback(feedback); }
  bool Prunes() const override { return order_->prunes(); }
  void set_audit(PassAudit* audit) override { audit_ = Prunes() ? audit : nullptr; }
  void set_mined(ExtraPool mined) override { mined_ = std::move(mined); }
  SamplerState State() const override;
  void Restore(const SamplerState& state) override;

 private:
  // The composition of the epoch that the order has begun.
  std::unique_ptr<Epoch> Compose() const;
  DrawBatches ComposePlan(uint64_t epoch) const;
  uint64_t EstimateBatches() const;
  double Progress() const;
  bool RanksAnew() const;
  uint64_t BatchesOf(uint64_t epoch) const;
  uint64_t FullBatches(uint64_t epoch) const;
  void CheckPlan(int version) const;
  bool CopiesMeet() const;
  void ForbidCopies();
  void CheckKeptPairs(const SamplerState& state) const;
  bool FirstPlanIsTheSame() const;

  SamplerOptions options_;
  Pairs pairs_;
  std::unique_ptr<Order> order_;
  PlannedOrder* planned_;  // one of the two is order_, the other null
  SteppedOrder* stepped_;
  SharedKeys keys_;  // of a planned order's draws, where their number alone makes batches
  std::optional<CopyLimits> limits_;  // of a stepped order's, likewise; none: copies never meet
  BatchComposer composer_;
  bool copies_forbidden_ = false;  // by a state of version 2
  uint64_t kept_hash_;             // of pairs_
  uint64_t epoch_ = 0;             // the epoch under way
  uint64_t batches_ = 0;           // since the run's start; counted where the order has a state
  std::unique_ptr<Epoch> composed_;
  uint64_t estimate_ = 0;  // batches of an epoch; used where batches are limited by tokens
  ExtraPool mined_;
  PassAudit* audit_ = nullptr;
};

}  // namespace tandem::sampling

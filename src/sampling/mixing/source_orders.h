// One order for each data set of a run: what mixtures are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sampling/mixing/mixture.h"
#include "sampling/order.h"
#include "sampling/pairs.h"
#include "sampling/state.h"

namespace tandem::sampling {

// A source that has a share of the run, with its order, which knows its queries and pairs only,
// numbered from 0.
struct SourceOrder {
  size_t place = 0;  // among all sources
  size_t first_query = 0;
  size_t first_pair = 0;
  double share = 0;
  std::unique_ptr<Pairs> pairs;
  std::unique_ptr<Order> order;
  uint64_t pass = 0;   // of the order that is under way
  uint64_t given = 0;  // draws of it

  bool Has(uint32_t query) const {
    return query >= first_query && query - first_query < pairs->queries();
  }
  bool AtEnd() const { return given == order->draws(); }
  void BeginNext(double progress) {
    given = 0;
    order->Begin(++pass, progress);
  }
};

// The sources of a mixture with their shares, and what all mixtures do with them.
class SourceOrders {
 public:
  // Makes the order of source s from its pairs; `first_pair` is the number of its first one.
  using Make =
      std::function<std::unique_ptr<Order>(Pairs& pairs, size_t source, size_t first_pair)>;

  // `sources` [n] is the source of each query, ascending; `weights` [S] as SharesOf takes them. A
  // source of weight 0 may be without queries: std::invalid_argument where another one is, and
  // where `sources` are not [n] numbers below S that ascend. All orders begin their first pass.
  SourceOrders(const Pairs& pairs, std::span<const uint32_t> sources,
               std::span<const double> weights, const Make& make);

  size_t queries() const { return queries_; }  // of all sources
  size_t size() const { return parts_.size(); }
  SourceOrder& operator[](size_t part) { return parts_[part]; }
  const SourceOrder& operator[](size_t part) const { return parts_[part]; }
  // The part that has the query; size() for a query of a source of weight 0.
  size_t PartOf(uint32_t query) const;

  // Sets how long the next epoch is and how much of it each part has: as many draws as the passes
  // of all sources have.
  void BeginEpoch();
  const std::vector<uint64_t>& quotas() const { return quotas_; }  // [size()] of this epoch
  uint64_t draws() const { return draws_; }
  // For orders whose passes have one length, this holds the quotas of any epoch, and what the parts
  // have had in all epochs before.
  struct EpochPlan {
    std::vector<uint64_t> taken, quotas;
  };
  EpochPlan PlanOf(uint64_t epoch) const;
  // BeginEpoch of any epoch.
  void BeginEpochOf(uint64_t epoch);

  // Expected draws of each pair in the epoch that has begun, at most 1: the probability in a pass
  // of its source times as many passes as the epoch has of it.
  std::vector<float> Probabilities() const;
  // The queries that are not `drawn` [n], with the scores of their orders where these have any.
  std::vector<LeftOut> NotDrawn(const std::vector<bool>& drawn) const;
  void AddFeedback(const Feedback& feedback);

  // Quotas, places in passes, and what the orders keep.
  void Save(SamplerState& state) const;
  void Restore(const SamplerState& state);

 private:
  uint64_t PassesTogether() const;

  size_t queries_;  // n
  size_t pairs_;    // of all queries
  std::vector<SourceOrder> parts_;
  std::vector<double> shares_;    // [size()]
  std::vector<uint64_t> taken_;   // [size()] before this epoch
  std::vector<uint64_t> quotas_;  // [size()]
  uint64_t draws_ = 0;            // of this epoch
};

}  // namespace tandem::sampling

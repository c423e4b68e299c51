// An order says which queries come next, each with one of its documents, its paired one, and the
// weight of its loss. How they become batches is the composition's affair
// (sampling/composition/epochs.h).
//
// A run is a row of epochs, however many draws each has: one epoch of the order. (In a mixture an
// epoch is made of passes of several orders; see mixing/mixed_order.h.) An order of the first kind
// decides an epoch at its beginning (PlannedOrder), one of the second kind while the epoch goes on
// and batches come back with their scores (SteppedOrder). `epoch` numbers the order's own epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/params.h"
#include "sampling/batch.h"
#include "sampling/pairs.h"
#include "sampling/state.h"

namespace tandem::sampling {

// A query with its paired document.
struct Draw {
  uint32_t query = 0;
  uint32_t document = 0;
  // Tells draws of one query in one epoch apart: 0 where a query comes at most once. Extra
  // documents are drawn anew for each.
  uint32_t repeat = 0;

  bool operator==(const Draw&) const = default;
};

// The result of a training step for a batch.
struct Feedback {
  const Batch* batch = nullptr;
  std::span<const float> cosines;  // [Q] of each query and its paired document
  std::span<const float> losses;   // [Q] of each query, whatever it weighs (objective::Evaluation)
};

// The base model's scores of all pairs, in the order of Pairs; empty where the order does not ask
// for them (SamplerInfo::needs_scores).
struct InitialScores {
  std::span<const float> cosines;
  std::span<const float> consistencies;
};

struct ScoreNeeds {
  bool cosines = false;
  bool consistencies = false;
  bool any() const { return cosines || consistencies; }
};

struct OrderOptions {
  uint64_t seed = 1;
  config::Params params;  // values of SamplerInfo::params
  InitialScores scores;   // must outlive the call that makes the order, no longer
};

// A query that an epoch does not draw. The score is the one that decided, NaN where none did.
struct LeftOut {
  uint32_t query = 0;
  float score = 0;
};

// A recipe's key that does not fit the data: `sampling.KEY TEXT`.
class OrderProblem : public std::invalid_argument {
 public:
  OrderProblem(std::string key, const std::string& text)
      : std::invalid_argument(text), key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

class Order {
 public:
  virtual ~Order() = default;

  // Begins epoch `epoch`, from 0, where the run has got to `progress`, in [0, 1].
  virtual void Begin(uint64_t /*epoch*/, double /*progress*/) {}
  // Says how many draws the epoch has that has begun.
  virtual size_t draws() const = 0;
  // The number of draws of any epoch; an estimate where epochs follow from feedback.
  virtual size_t DrawsIn(uint64_t epoch) const = 0;

  // Returns the weight of the loss of a draw of the current epoch.
  virtual double weight(const Draw& /*draw*/) const { return 1; }

  // Gives for each pair [pairs], before the first draw of the epoch that has begun, the probability
  // with which the epoch draws it. Where draws exclude each other (equal texts in a batch) that is
  // left aside.
  virtual std::vector<float> Probabilities() const = 0;
  // The queries that the epoch has not drawn, ascending; after its last draw.
  virtual std::vector<LeftOut> NotDrawn() const { return {}; }
  // Says whether there is anything in these two that the options do not say.
  virtual bool prunes() const { return true; }

  // Comes after each batch; an order that does not learn from batches ignores it.
  virtual void AddFeedback(const Feedback& /*feedback*/) {}

  // Adds to `state` what Begin and feedback have left there; nothing where the options and the
  // number of the epoch decide everything. `values` gets members of its own.
  virtual void Save(SamplerState& /*state*/) const {}
  // Takes back what Save added; Begin is not called for the epoch that it belongs to.
  virtual void Restore(const SamplerState& /*state*/, uint64_t /*epoch*/) {}
  // Says whether Save adds anything.
  virtual bool has_state() const { return false; }
};

// The most that an epoch of a planned order contains.
enum class EpochContent {
  kEachQuery,  // every query once, with any of its kept pairs
  kEachPair,   // every kept pair once
};

class PlannedOrder : public Order {
 public:
  virtual EpochContent content() const { return EpochContent::kEachQuery; }
  // All draws of an epoch. Where epochs are not known ahead, it must be the one that has begun.
  virtual std::vector<Draw> Plan(uint64_t epoch) const = 0;
  // Says whether Plan gives any epoch, begun or not. Epochs have one length then.
  virtual bool known_ahead() const { return true; }
  // One epoch of this order may have draws of a query from this many passes of its source's order.
  virtual size_t most_passes(uint32_t /*query*/) const { return 1; }
};

class SteppedOrder : public Order {
 public:
  // Called before the draws of a batch. `rank_anew`: an update interval is over, so that the
  // feedback that has come since the last one counts from here on.
  virtual void BeginBatch(double progress, bool rank_anew) = 0;
  virtual int64_t update_interval() const = 0;  // steps

  // Proposes the next draw, which becomes one by Take. It is the same until Take or Skip is called.
  // None says that the epoch has all its draws, or that all others have been skipped for this
  // batch.
  virtual std::optional<Draw> Propose() = 0;
  // Says whether the proposed draw has to be in the epoch: it may wait for a later batch, and no
  // other one comes in its place.
  virtual bool is_sure() const = 0;
  virtual void Take() = 0;
  // Another one is proposed for this batch; the skipped query may come in the next.
  virtual void Skip() = 0;
};

}  // namespace tandem::sampling

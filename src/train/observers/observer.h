// The observers of a training loop: metrics, progress, validation, checkpoints, profile, signals.
//
// The loop itself samples, steps and updates. Everything else is done by observers, which the loop
// calls at fixed moments, in the order of its list. An observer does not change what the next step
// computes, but it can ask the loop to stop.
#pragma once

#include <cstdint>
#include <span>

#include "base/json/json.h"
#include "search/mining/mined.h"
#include "train/run/loop_state.h"
#include "train/run/state_visitor.h"
#include "train/validation/measured_value.h"

namespace tandem::train {

class Loop;

// The action of the loop after a call of an observer.
enum class Next {
  kGoOn,
  kStop,       // end the run here; it is complete
  kInterrupt,  // stop now; a later process resumes the run here
};

// The number of steps from one computation of the loss of equal scores to the next. It is small
// enough to see a model collapse, and large enough to cost little time.
inline constexpr int64_t kEqualScoresEvery = 5;

// The result of one step.
struct StepReport {
  // Mean over the step's batches. Batches are weighted by their queries if the objective is
  // separable by row.
  double loss = 0;
  // The same mean for a model that gives all pairs of a batch the same score. Computed in every
  // kEqualScoresEvery-th step, 0 in the others.
  double equal_scores_loss = 0;
  double gradient_norm = 0;  // before clipping; not finite if `skipped`
  double learning_rate = 0;
  bool skipped = false;  // no update: a gradient overflowed (train/step/loss_scale.h)
  int64_t queries = 0;
  int64_t tokens = 0;
  int64_t negatives = 0;          // pairs that the masks allow; counted only with a filter
  int64_t false_negatives = 0;    // pairs among these that the filter took out
  int64_t same_tower_masked = 0;  // same-tower cells that their filter took out
  // Batches that could teach nothing, because no query had an allowed negative.
  int64_t empty_batches = 0;
  int64_t batches = 0;
  double seconds = 0;
};

// The result of a validation.
struct ValidationReport {
  const char* measure = "";  // "ndcg@10" or "loss"
  double value = 0;
  bool best = false;  // the best of the run so far
  double seconds = 0;
  std::span<const MeasuredValue> further;  // of the measures in validation.report
  std::span<const QueryValue> queries;     // Validated::queries
  std::span<const SourceValue> sources;    // Validated::sources
};

// The progress of a mining round.
struct MiningStage {
  const char* work = "";  // "encoding documents"
  double share = 0;       // share of this work that is done
  double seconds = 0;     // that this work has taken so far
};

// The result of a mining round.
struct MiningReport {
  int64_t round = 0;  // from 0
  search::MiningSummary sums;
  double seconds = 0;
};

class LoopObserver {
 public:
  virtual ~LoopObserver() = default;

  // Called before the first step of this process, which may be any step of a resumed run.
  virtual Next Begin(const Loop& /*loop*/) { return Next::kGoOn; }
  virtual Next BeforeStep(const Loop& /*loop*/) { return Next::kGoOn; }
  // Called after each step, which the loop's state already counts.
  virtual Next AfterStep(const Loop& /*loop*/, const StepReport& /*report*/) { return Next::kGoOn; }
  // Called during a validation with the share of it that is done; returning false interrupts it.
  virtual bool DuringValidation(const Loop& /*loop*/, double /*share*/) { return true; }
  virtual void AfterValidation(const Loop& /*loop*/, const ValidationReport& /*report*/) {}
  // Called while negatives are mined; returning false interrupts the round, whose results are lost.
  virtual bool DuringMining(const Loop& /*loop*/, const MiningStage& /*stage*/) { return true; }
  virtual void AfterMining(const Loop& /*loop*/, const MiningReport& /*report*/) {}
  // Called when the run is complete.
  virtual void End(const Loop& /*loop*/) {}
  // Called when an observer has asked to interrupt the run.
  virtual void Interrupt(const Loop& /*loop*/) {}

  // Visits the state that a resumed run needs of this observer: members of the object "loop" in a
  // checkpoint's state.json.
  virtual void VisitState(StateVisitor /*visit*/) {}
};

}  // namespace tandem::train

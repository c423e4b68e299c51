// What watches a training loop: metrics, progress, validation, checkpoints, profile, signals.
//
// The loop samples, steps and updates. Everything else is an observer that the loop calls at fixed
// moments, in the order of its list. An observer does not change what the next step computes; it
// can ask the loop to stop.
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

// What the loop does after a call.
enum class Next {
  kGoOn,
  kStop,       // end the run here: it is complete
  kInterrupt,  // stop now; a later process goes on from here
};

// Often enough to see a model collapse, and too rare to cost time.
inline constexpr int64_t kEqualScoresEvery = 5;

// What one step did.
struct StepReport {
  // Mean over the step's batches: by queries where the objective is separable by row.
  double loss = 0;
  // The same of a model that gives all pairs of a batch the same score: in every
  // kEqualScoresEvery-th step, 0 in the others.
  double equal_scores_loss = 0;
  double gradient_norm = 0;  // before clipping; not finite where `skipped`
  double learning_rate = 0;
  bool skipped = false;  // without an update: a gradient overflowed (train/step/loss_scale.h)
  int64_t queries = 0;
  int64_t tokens = 0;
  int64_t negatives = 0;        // cells that the masks allow; counted with a filter only
  int64_t false_negatives = 0;  // of these, cells that the filter took out
  // Batches that could teach nothing: no query had a document that it may be compared with.
  int64_t empty_batches = 0;
  int64_t batches = 0;
  double seconds = 0;
};

// What a validation found.
struct ValidationReport {
  const char* measure = "";  // "ndcg@10" or "loss"
  double value = 0;
  bool best = false;  // of the run so far
  double seconds = 0;
  std::span<const MeasuredValue> further;  // of validation.report
};

// Where a round of mining stands.
struct MiningStage {
  const char* work = "";  // "encoding documents"
  double share = 0;       // of this work that is done
  double seconds = 0;     // that it has taken so far
};

// What a round of mining found.
struct MiningReport {
  int64_t round = 0;  // from 0
  search::MiningSummary sums;
  double seconds = 0;
};

class LoopObserver {
 public:
  virtual ~LoopObserver() = default;

  // Called before the first step of this process, which may be in the middle of a resumed run.
  virtual Next Begin(const Loop& /*loop*/) { return Next::kGoOn; }
  virtual Next BeforeStep(const Loop& /*loop*/) { return Next::kGoOn; }
  // After each step; the loop's state counts it already.
  virtual Next AfterStep(const Loop& /*loop*/, const StepReport& /*report*/) { return Next::kGoOn; }
  // While a validation runs, with the share that is done; false interrupts it.
  virtual bool DuringValidation(const Loop& /*loop*/, double /*share*/) { return true; }
  virtual void AfterValidation(const Loop& /*loop*/, const ValidationReport& /*report*/) {}
  // While negatives are mined; false interrupts the round, which leaves nothing behind.
  virtual bool DuringMining(const Loop& /*loop*/, const MiningStage& /*stage*/) { return true; }
  virtual void AfterMining(const Loop& /*loop*/, const MiningReport& /*report*/) {}
  // When the run is complete.
  virtual void End(const Loop& /*loop*/) {}
  // When an observer has asked to interrupt the run.
  virtual void Interrupt(const Loop& /*loop*/) {}

  // What a resumed run needs of this observer: members of the object "loop" in a checkpoint's
  // state.json.
  virtual void VisitState(StateVisitor /*visit*/) {}
};

}  // namespace tandem::train

// The training loop: sample, step, update. Everything else is done by observers
// (train/observers/observer.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "dist/gradient_reducer.h"
#include "dist/process_group.h"
#include "model/dual_encoder.h"
#include "optim/optimizer.h"
#include "sampling/sampler.h"
#include "tensor/core/device.h"
#include "tensor/machine/precision.h"
#include "train/mining/negative_miner.h"
#include "train/objective/objective_states.h"
#include "train/observers/observer.h"
#include "train/run/loop_state.h"
#include "train/run/state_visitor.h"
#include "train/setup/plan.h"
#include "train/step/batch.h"
#include "train/step/step.h"
#include "train/step/updater.h"

namespace tandem::train {

// The parts that a loop works with. All must outlive the loop, which changes the model's weights,
// the sampler, the updater and `states`.
struct LoopParts {
  model::DualEncoder& model;
  const TrainingObjective& objective;
  ObjectiveStates& states;
  const BatchMaker& batches;
  sampling::Sampler& sampler;
  Updater& updater;
  const train::Step& step;
  NegativeMiner* miner = nullptr;  // null: no mining
  // The processes that run the loop together (train/step/shared_step.h), and the reducer that adds
  // up their gradients. All processes make the same batches and compute the same weights. Null:
  // this process trains alone.
  dist::ProcessGroup* group = nullptr;
  dist::GradientReducer* reducer = nullptr;
};

struct LoopOptions {
  int64_t steps = 1;  // of the whole run; an estimate if `epochs` is given
  // The run ends after so many epochs of the sampler, however many steps they take.
  std::optional<double> epochs = std::nullopt;
  int64_t batch = 1;       // queries of a full batch, or of an average one if tokens limit it
  int64_t accumulate = 1;  // batches of a step; the last one of a run by epochs may have fewer
  std::optional<int64_t> batches = std::nullopt;  // RunPlan::batches
  int64_t chunk_tokens = 0;                       // of `LoopParts::step`, for advice in errors
  uint64_t seed = 1;
  tensor::Precision precision = tensor::Precision::kFp32;
  tensor::Device device = tensor::kCpuDevice;  // where the model is
  MiningPlan mining = {};
};

class Loop {
 public:
  // The loop calls the observers in this order; they must outlive it.
  Loop(const LoopParts& parts, const LoopOptions& options, std::vector<LoopObserver*> observers);

  // Makes steps until the end of the run, or until an observer asks to stop. Returns false if an
  // observer interrupted the run. Throws NumericError if a loss or a gradient is not finite; the
  // message names the step and says what to try.
  bool Run();

  const LoopState& state() const { return state_; }
  // Whether the run is complete.
  bool done() const { return state_.stopped_early || at_end(); }
  // Whether the run has made its last step.
  bool at_end() const {
    return by_progress() ? state_.progress >= 1 : state_.step >= options_.steps;
  }
  // Whether the number of steps is not known in advance.
  bool by_progress() const { return options_.epochs.has_value(); }
  int64_t steps() const { return options_.steps; }
  model::DualEncoder& model() const { return parts_.model; }
  const TrainingObjective& objective() const { return parts_.objective; }
  const ObjectiveStates& objective_states() const { return parts_.states; }

  const LossScale& loss_scale() const { return parts_.updater.loss_scale(); }

  // The processes that run the loop together; null if this process trains alone.
  dist::ProcessGroup* group() const { return parts_.group; }

  // Calls the observers during a validation and after it, on behalf of the observer that validates.
  // In a group, all processes must make the first call equally often, and all stop if one of them
  // is asked to.
  bool TellDuringValidation(double share) const;
  void TellAfterValidation(const ValidationReport& report) const;

  // The state of the loop for a checkpoint: the parameters that it saves, the tensors of the
  // optimizers' and the objective's state, the sampler's arrays, and everything else as JSON
  // (VisitState). RestoreState must be called before the tensors are overwritten, because it makes
  // room for them.
  std::vector<model::NamedParameter> SavedParameters() const;
  std::vector<optim::StateTensor> StateTensors() const;
  std::vector<sampling::StateArray> SamplerArrays() const;
  Json State() const;
  // Throws JsonError, and the errors of Sampler::Restore.
  void RestoreState(const Json& state, std::vector<sampling::StateArray> arrays = {});

 private:
  struct BatchSums;
  StepReport Step();
  // Mines if a round is due before the next step. No observer is asked to stop between a round and
  // the step after it, so that a checkpoint of this step never includes the round.
  Next MineIfDue();
  void CountProgress();  // from the sampler and the number of steps
  // Visits the members of state.json: "loop" with those of `state` and of the observers, "sampler"
  // (whose `arrays` are given when it reads), "optimizer_steps", "objective".
  void VisitState(StateVisitor visit, LoopState& state,
                  std::vector<sampling::StateArray> arrays) const;
  BatchSums RunBatches();
  void RunBatch(int64_t part, BatchSums& sums);
  // Whether batch `part` of the step is its last one.
  bool IsLastBatch(int64_t part) const;
  // Returns what all processes do if this one would do `next`.
  Next Agreed(Next next) const;
  // Calls the observers in turn. If one interrupts the run, those after it are not called.
  template <typename Call>
  Next TellAll(const Call& call);

  LoopParts parts_;
  LoopOptions options_;
  std::vector<LoopObserver*> observers_;
  LoopState state_;
};

// Makes the error of a run that cannot continue: "step 12: WHAT; try ...".
NumericError DivergedError(int64_t step, const std::string& what);

}  // namespace tandem::train

// The training loop: sample, step, update. Observers do the rest (train/observers/observer.h).
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

// What a loop works with. All of it outlives the loop, which changes the model's weights, the
// sampler, the updater and `states`.
struct LoopParts {
  model::DualEncoder& model;
  const TrainingObjective& objective;
  ObjectiveStates& states;
  const BatchMaker& batches;
  sampling::Sampler& sampler;
  Updater& updater;
  const train::Step& step;
  NegativeMiner* miner = nullptr;  // null: nothing is mined
  // The processes that run the loop together (train/step/shared_step.h), and what adds up their
  // gradients. All of them make the same batches and come to the same weights. Null: this one
  // alone.
  dist::ProcessGroup* group = nullptr;
  dist::GradientReducer* reducer = nullptr;
};

struct LoopOptions {
  int64_t steps = 1;  // of the whole run; an estimate where `epochs` is given
  // The run ends after so many passes of the sampler, however many steps they take.
  std::optional<double> epochs = std::nullopt;
  int64_t batch = 1;       // queries of a full batch, or of a usual one where tokens limit it
  int64_t accumulate = 1;  // batches of a step, but for the last one of a run by epochs
  std::optional<int64_t> batches = std::nullopt;  // RunPlan::batches
  int64_t chunk_tokens = 0;                       // of `LoopParts::step`, for its advice
  uint64_t seed = 1;
  tensor::Precision precision = tensor::Precision::kFp32;
  c10::Device device = c10::Device(c10::DeviceType::CPU);  // where the model is
  MiningPlan mining = {};
};

class Loop {
 public:
  // The loop calls the observers in this order; they outlive it.
  Loop(const LoopParts& parts, const LoopOptions& options, std::vector<LoopObserver*> observers);

  // Makes steps until the run's last step, or until an observer asks to stop. Returns false where
  // an observer interrupted the run. Throws NumericError where a loss or a gradient is not finite,
  // naming the step and what to try.
  bool Run();

  const LoopState& state() const { return state_; }
  // Whether the run is complete.
  bool done() const { return state_.stopped_early || at_end(); }
  // Whether the run has made its last step.
  bool at_end() const {
    return by_progress() ? state_.progress >= 1 : state_.step >= options_.steps;
  }
  // Whether the number of steps is not known ahead.
  bool by_progress() const { return options_.epochs.has_value(); }
  int64_t steps() const { return options_.steps; }
  model::DualEncoder& model() const { return parts_.model; }
  const TrainingObjective& objective() const { return parts_.objective; }
  const ObjectiveStates& objective_states() const { return parts_.states; }

  const LossScale& loss_scale() const { return parts_.updater.loss_scale(); }

  // Null, or the processes that run the loop together.
  dist::ProcessGroup* group() const { return parts_.group; }

  // Calls the observers during a validation and after it; the validating observer uses these. In a
  // group all processes call the first equally often, and stop where one of them is asked to.
  bool TellDuringValidation(double share) const;
  void TellAfterValidation(const ValidationReport& report) const;

  // A checkpoint of the loop: the parameters that it saves, the tensors that optimizers and
  // objective keep, the sampler's arrays, and everything else as JSON (VisitState). RestoreState
  // comes before the tensors are overwritten: it makes room for them.
  std::vector<model::NamedParameter> SavedParameters() const;
  std::vector<optim::StateTensor> StateTensors() const;
  std::vector<sampling::StateArray> SamplerArrays() const;
  Json State() const;
  // Throws JsonError, and what Sampler::Restore throws.
  void RestoreState(const Json& state, std::vector<sampling::StateArray> arrays = {});

 private:
  struct BatchSums;
  StepReport Step();
  // Mines where a round is due before the next step. Nothing asks whether to stop between a round
  // and its step, so that a checkpoint of this step never holds the round.
  Next MineIfDue();
  void CountProgress();  // from the sampler and the number of steps
  // The members of state.json: "loop" with those of `state` and of the observers, "sampler" (whose
  // arrays are given where it reads), "optimizer_steps", "objective".
  void VisitState(StateVisitor visit, LoopState& state,
                  std::vector<sampling::StateArray> arrays) const;
  BatchSums RunBatches();
  void RunBatch(int64_t part, BatchSums& sums);
  // Whether the step's batch `part` is its last one.
  bool IsLastBatch(int64_t part) const;
  // What all processes do where this one would do `next`.
  Next Agreed(Next next) const;
  // Calls all observers; the first that interrupts is the last that is called.
  template <typename Call>
  Next TellAll(const Call& call);

  LoopParts parts_;
  LoopOptions options_;
  std::vector<LoopObserver*> observers_;
  LoopState state_;
};

// "step 12: WHAT; try ...", for a run that cannot go on.
NumericError DivergedError(int64_t step, const std::string& what);

}  // namespace tandem::train

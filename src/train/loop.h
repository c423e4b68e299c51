// The training loop: sample, step, validate, save.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "config/recipe.h"
#include "model/dual_encoder.h"
#include "optim/optimizer.h"
#include "sampling/sampler.h"
#include "train/batch.h"
#include "train/interrupt.h"
#include "train/line_log.h"
#include "train/loop_state.h"
#include "train/plan.h"
#include "train/run_folder.h"
#include "train/step.h"
#include "train/step_profile.h"
#include "train/validator.h"

namespace tandem::train {

// What a loop works with; all of it outlives the loop.
struct LoopParts {
  const config::Recipe* recipe = nullptr;
  RunPlan plan;
  model::DualEncoder* model = nullptr;
  tensor::Precision precision = tensor::Precision::kFp32;
  const Goal* goal = nullptr;
  const BatchMaker* batches = nullptr;
  sampling::Sampler* sampler = nullptr;
  optim::Optimizer* optimizer = nullptr;
  const optim::ScheduleInfo* schedule = nullptr;
  Validator* validator = nullptr;     // null: none
  const RunFolder* folder = nullptr;  // null: Run is not called, and the two logs are not used
  LineLog* metrics = nullptr;
  LineLog* timing = nullptr;
  StepProfile* profile = nullptr;  // null: off
  StopRequest stop;                // asked between steps and while validating
  uint64_t data_fingerprint = 0;
  uint64_t base_fingerprint = 0;
};

class Loop {
 public:
  explicit Loop(const LoopParts& parts);
  ~Loop();

  // Continues from the checkpoint of `step`: weights, optimizer, sampler, counters. Throws
  // ModelError for a broken checkpoint.
  void Restore(int64_t step);

  // Steps until the plan's end or until patience has run out; the last checkpoint is saved. Throws
  // NumericError where loss or gradient is not finite, Interrupted after saving where the parts'
  // StopRequest asked for it.
  void Run();

  // Steps until the plan's end and nothing else, for measurements.
  void Measure();

  const LoopState& state() const { return state_; }

 private:
  struct StepFigures;
  StepFigures TrainStep();
  StepFigures ProfiledStep();
  void Accumulate(StepFigures& figures);
  void Report(const StepFigures& figures);
  void WriteMetrics(const StepFigures& figures);
  void AfterStep();
  void ValidateOnce();
  void Save();
  void StopForSignal();
  std::vector<optim::StateTensor> StateTensors();
  bool Done() const { return state_.stopped_early || state_.step >= parts_.plan.steps; }

  LoopParts parts_;
  std::vector<model::NamedParameter> parameters_;  // the model's
  std::vector<model::NamedParameter> saved_;       // and the objective's
  LoopState state_;
  std::unique_ptr<Progress> progress_;
  std::string last_validation_;
  int64_t checkpoint_best_ = 0;  // best step in the last checkpoint; 0: none
  bool warm_ = false;            // a step was made by this process
  std::chrono::steady_clock::time_point line_start_;
  int64_t line_tokens_ = 0;  // tokens when the last line was written
};

}  // namespace tandem::train

// Turns the gradients of a step into new weights: clipping, learning rate, optimizers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json/json.h"
#include "optim/catalogue.h"
#include "optim/optimizer.h"
#include "train/step/loss_scale.h"

namespace tandem::train {

struct UpdateOptions {
  double learning_rate = 2e-5;  // the schedule's peak
  double clip = 0;              // largest norm of the model's gradient; 0: no clipping
  int64_t warmup = 0;           // steps
  int64_t steps = 1;            // of the whole run; an estimate if `by_progress`
  // The schedule follows the share of the run that is done instead of the number of steps.
  bool by_progress = false;
  // The learning rate of the objective's parameters, as a multiple of the model's.
  double objective_factor = 1;
  LossScaleOptions loss_scale;
};

struct UpdateReport {
  double gradient_norm = 0;  // of the model, before clipping; not finite if `skipped`
  double learning_rate = 0;
  bool skipped = false;  // a gradient overflowed: only the loss scale was changed
};

class Updater {
 public:
  // `model` updates the model's parameters and `objective` the parameters that the objective
  // learns, which may be none. All three arguments must outlive the updater.
  Updater(optim::Optimizer& model, optim::Optimizer& objective, const optim::Schedule& schedule,
          const UpdateOptions& options)
      : model_(model),
        objective_(objective),
        schedule_(schedule),
        options_(options),
        loss_scale_(options.loss_scale) {}

  void ClearGradients();
  // Makes the update after `steps_done` steps or, if the schedule follows progress, after the share
  // `progress` of the run. The gradients are multiplied by `gradient_scale` and divided by the loss
  // scale. Only the model's gradient is clipped. If it is not finite, throws NumericError before
  // anything changes or, with a loss scale, skips the update.
  UpdateReport Step(int64_t steps_done, double gradient_scale, double progress = 0);

  // Returns the factor that the loss of the next backward pass must be multiplied by; 1 without
  // LossScaleOptions::on.
  LossScale& loss_scale() { return loss_scale_; }
  const LossScale& loss_scale() const { return loss_scale_; }

  // Returns the optimizers' states; the tensors share their memory.
  std::vector<optim::StateTensor> StateTensors() const;
  int64_t model_steps() const { return model_.steps(); }
  int64_t objective_steps() const { return objective_.steps(); }
  void SetSteps(int64_t model_steps, int64_t objective_steps);

 private:
  optim::SchedulePoint PointAfter(int64_t steps_done, double progress) const;

  optim::Optimizer& model_;
  optim::Optimizer& objective_;
  optim::Schedule schedule_;
  UpdateOptions options_;
  LossScale loss_scale_;
};

}  // namespace tandem::train

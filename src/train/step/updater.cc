#include "train/step/updater.h"

#include <cmath>
#include <span>
#include <utility>

#include "optim/gradients.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/tensor.h"
#include "tensor/profile/profile.h"

namespace tandem::train {
namespace {

using Parameters = std::span<const model::NamedParameter>;

// Returns an upper bound of the memory traffic of an optimizer that reads or writes all parameters
// `passes` times. A table whose rows have rarely had a gradient needs less.
tensor::Work ParameterWork(Parameters parameters, double passes) {
  double elements = 0;
  for (const model::NamedParameter& parameter : parameters) {
    elements += static_cast<double>(parameter.value.numel());
  }
  return {.bytes = passes * elements * sizeof(float)};
}

// Returns the memory traffic of reading all gradients once.
tensor::Work GradientWork(Parameters parameters) {
  double elements = 0;
  for (const model::NamedParameter& parameter : parameters) {
    if (const tensor::SparseRows* rows = parameter.value.row_grad()) {
      elements += static_cast<double>(rows->values.numel());
    } else if (const tensor::Tensor gradient = parameter.value.grad(); gradient.defined()) {
      elements += static_cast<double>(gradient.numel());
    }
  }
  return {.bytes = elements * sizeof(float)};
}

}  // namespace

void Updater::ClearGradients() {
  optim::ClearGradients(model_.parameters());
  optim::ClearGradients(objective_.parameters());
}

optim::SchedulePoint Updater::PointAfter(int64_t steps_done, double progress) const {
  const auto total = static_cast<double>(options_.steps);
  const double step = options_.by_progress ? progress * total : static_cast<double>(steps_done);
  return {.step = step, .warmup = static_cast<double>(options_.warmup), .total = total};
}

UpdateReport Updater::Step(int64_t steps_done, double gradient_scale, double progress) {
  const Parameters parameters = model_.parameters();
  const double scale = gradient_scale / loss_scale_.value();
  UpdateReport report;
  {
    const tensor::ProfileScope scope("gradient norm", GradientWork(parameters));
    report.gradient_norm = scale * optim::GradientNorm(parameters);
  }
  report.learning_rate =
      options_.learning_rate * optim::ScheduleFactor(schedule_, PointAfter(steps_done, progress));
  report.skipped = !std::isfinite(report.gradient_norm);
  loss_scale_.Count(!report.skipped);
  if (report.skipped) return report;
  const tensor::ProfileScope scope("optimizer", ParameterWork(parameters, model_.memory_passes()));
  model_.Step(report.learning_rate, scale * optim::ClipFactor(report.gradient_norm, options_.clip));
  if (!objective_.parameters().empty()) {
    objective_.Step(report.learning_rate * options_.objective_factor, scale);
  }
  return report;
}

std::vector<optim::StateTensor> Updater::StateTensors() const {
  std::vector<optim::StateTensor> tensors = model_.State();
  for (optim::StateTensor& tensor : objective_.State()) tensors.push_back(std::move(tensor));
  return tensors;
}

void Updater::SetSteps(int64_t model_steps, int64_t objective_steps) {
  model_.set_steps(model_steps);
  objective_.set_steps(objective_steps);
}

}  // namespace tandem::train

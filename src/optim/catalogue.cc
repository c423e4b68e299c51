#include "optim/catalogue.h"

namespace tandem::optim {
namespace {

const OptimizerInfo* const kOptimizers[] = {
    &kAdamW,
};

const ScheduleInfo* const kSchedules[] = {
    &kLinear,
    &kCosine,
    &kConstant,
};

}  // namespace

std::span<const OptimizerInfo* const> Optimizers() { return kOptimizers; }

std::span<const ScheduleInfo* const> Schedules() { return kSchedules; }

double ScheduleFactor(const ScheduleInfo& schedule, const SchedulePoint& point) {
  if (point.step < point.warmup) {
    return static_cast<double>(point.step + 1) / static_cast<double>(point.warmup + 1);
  }
  return schedule.after_warmup(point);
}

}  // namespace tandem::optim

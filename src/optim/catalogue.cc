#include "optim/catalogue.h"

namespace tandem::optim {

config::Catalogue OptimizerCatalogue() {
  return {.name = "optimizers",
          .entry = "optimizer",
          .table = "optimizer",
          .summary = "how weights follow gradients: optimizer.name",
          .entries = config::EntriesOf(Optimizers())};
}

config::Catalogue ScheduleCatalogue() {
  return {.name = "schedules",
          .entry = "schedule",
          .table = "schedule",
          .summary = "how the learning rate moves: schedule.name",
          .entries = config::EntriesOf(Schedules())};
}

double ScheduleFactor(const Schedule& schedule, const SchedulePoint& point) {
  if (point.step < point.warmup) {
    return (point.step + 1) / (point.warmup + 1);
  }
  return schedule.info->after_warmup(point, schedule.params);
}

}  // namespace tandem::optim

#include "optim/catalogue.h"

#include <array>

namespace tandem::optim {
namespace {

constexpr std::array kOptimizers = {
    &kAdamW,
    &kAdam,
    &kAdafactor,
};

constexpr std::array kSchedules = {
    &kLinear,
    &kCosine,
    &kConstant,
};

}  // namespace

std::span<const OptimizerInfo* const> Optimizers() { return kOptimizers; }

std::span<const config::EntryInfo* const> OptimizerEntries() {
  static const auto entries = [] {
    std::array<const config::EntryInfo*, kOptimizers.size()> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = kOptimizers[i];
    return all;
  }();
  return entries;
}

std::span<const ScheduleInfo* const> Schedules() { return kSchedules; }

double ScheduleFactor(const ScheduleInfo& schedule, const SchedulePoint& point) {
  if (point.step < point.warmup) {
    return static_cast<double>(point.step + 1) / static_cast<double>(point.warmup + 1);
  }
  return schedule.after_warmup(point);
}

}  // namespace tandem::optim

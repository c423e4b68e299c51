// All optimizers and schedules by their names in recipes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "config/catalogue.h"
#include "config/params.h"
#include "optim/rule.h"

namespace tandem::optim {

struct OptimizerInfo : config::EntryInfo {
  // What a step reads and writes of memory, in arrays as large as all parameters.
  double memory_passes;
  std::unique_ptr<UpdateRule> (*make)(std::vector<ParameterView> parameters,
                                      const config::Params& params);
};

std::span<const OptimizerInfo* const> Optimizers();
// The same as entries, for recipes and `tandem list`.
std::span<const config::EntryInfo* const> OptimizerEntries();

// Where a run stands when the learning rate of its next step is asked for.
struct SchedulePoint {
  int64_t step = 0;    // steps done, in [0, total)
  int64_t warmup = 0;  // steps of the linear rise; may exceed total
  int64_t total = 1;
};

struct ScheduleInfo : config::EntryInfo {
  // The share of the peak learning rate for steps behind the warm-up: `point.step >= warmup`.
  double (*after_warmup)(const SchedulePoint& point);
};

std::span<const ScheduleInfo* const> Schedules();

// The share of the peak learning rate that the next step takes, in (0, 1]. During warm-up step s
// (from 0) of w takes (s + 1) / (w + 1): unlike the common s / w, no step is spent on a rate of 0.
double ScheduleFactor(const ScheduleInfo& schedule, const SchedulePoint& point);

// Each is defined in its own file.
extern const OptimizerInfo kAdamW;
extern const OptimizerInfo kAdam;
extern const OptimizerInfo kAdafactor;
extern const ScheduleInfo kLinear;
extern const ScheduleInfo kCosine;
extern const ScheduleInfo kConstant;

}  // namespace tandem::optim

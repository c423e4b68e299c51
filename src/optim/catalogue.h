// All optimizers and schedules by their names in recipes. The tables are written from
// CMakeLists.txt.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "config/catalogue.h"
#include "config/params.h"
#include "optim/rule.h"

namespace tandem::optim {

struct OptimizerInfo : config::EntryInfo {
  // The memory that a step reads and writes, in arrays as large as all parameters.
  double memory_passes;
  std::unique_ptr<UpdateRule> (*make)(std::vector<ParameterView> parameters,
                                      const config::Params& params);
};

// Every optimizer, in the order of docs and `tandem list optimizers`.
std::span<const OptimizerInfo* const> Optimizers();
// The catalogue of optimizers for recipes, `tandem list` and `tandem explain`.
config::Catalogue OptimizerCatalogue();

// Says where a run stands when the learning rate of its next step is asked for. Where the number of
// steps is not known ahead, `total` is an estimate, and `step` is the share of the run that is done
// times that, no whole number then.
struct SchedulePoint {
  double step = 0;    // steps done, in [0, total)
  double warmup = 0;  // steps of the linear rise; may exceed total
  double total = 1;
};

struct ScheduleInfo : config::EntryInfo {
  // The share of the peak learning rate for steps after the warm-up: `point.step >= warmup`, in (0,
  // 1]. `params` are values of ScheduleInfo::params.
  double (*after_warmup)(const SchedulePoint& point, const config::Params& params);
};

// Every schedule, in the order of docs and `tandem list schedules`.
std::span<const ScheduleInfo* const> Schedules();
// The catalogue of schedules for recipes, `tandem list` and `tandem explain`.
config::Catalogue ScheduleCatalogue();

// A schedule with the values of its parameters.
struct Schedule {
  // Takes the default parameters. It is implicit, so that callers can pass an entry as a schedule.
  Schedule(const ScheduleInfo& which) : info(&which), params(which.params) {}
  // `values` are those of `which.params`.
  Schedule(const ScheduleInfo& which, config::Params values)
      : info(&which), params(std::move(values)) {}

  const ScheduleInfo* info;
  config::Params params;
};

// The share of the peak learning rate that the next step takes, in (0, 1]. During warm-up step s
// (from 0) of w takes (s + 1) / (w + 1): unlike the common s / w, no step is spent on a rate of 0.
double ScheduleFactor(const Schedule& schedule, const SchedulePoint& point);

// Each is defined in its own file. Code that asks for an entry by name, most of it tests, uses
// these.
extern const OptimizerInfo kAdamW;
extern const OptimizerInfo kAdam;
extern const OptimizerInfo kAdafactor;
extern const ScheduleInfo kLinear;
extern const ScheduleInfo kCosine;
extern const ScheduleInfo kConstant;

}  // namespace tandem::optim

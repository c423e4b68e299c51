#include <gtest/gtest.h>

#include <cmath>

#include "optim/catalogue.h"

namespace tandem::optim {
namespace {

// A schedule reads the values of its own parameters.
TEST(Schedule, TakesItsParameters) {
  static constexpr config::ParamInfo kParams[] = {config::Number("floor", "", "", 0.5, {0, 1})};
  static constexpr ScheduleInfo kFloor = {
      {.name = "floor", .params = kParams},
      [](const SchedulePoint&, const config::Params& params) { return params.Number("floor"); }};
  EXPECT_EQ(ScheduleFactor(Schedule(kFloor), {60, 20, 100}), 0.5);
  config::Params params(kParams);
  params.Set("floor", 0.125);
  EXPECT_EQ(ScheduleFactor(Schedule(kFloor, params), {60, 20, 100}), 0.125);
}

TEST(Schedule, EveryOneRisesOverTheWarmUpAndStaysInRange) {
  for (const ScheduleInfo* schedule : Schedules()) {
    for (const double warmup : {0, 1, 10, 100, 250}) {
      double before = 0;
      for (double step = 0; step < 100; ++step) {
        const double factor = ScheduleFactor(Schedule(*schedule), {step, warmup, 100});
        ASSERT_GT(factor, 0) << schedule->name << " " << step;
        ASSERT_LE(factor, 1) << schedule->name << " " << step;
        if (step <= warmup) {
          ASSERT_GT(factor, before);
          ASSERT_DOUBLE_EQ(factor, step < warmup ? (step + 1.0) / (warmup + 1.0) : 1);
        } else {
          ASSERT_LE(factor, before);
        }
        before = factor;
      }
    }
  }
}

TEST(Schedule, ShapesBehindTheWarmUp) {
  EXPECT_DOUBLE_EQ(ScheduleFactor(Schedule(kLinear), {60, 20, 100}), 0.5);
  EXPECT_DOUBLE_EQ(ScheduleFactor(Schedule(kLinear), {99, 20, 100}), 1.0 / 80);
  EXPECT_DOUBLE_EQ(ScheduleFactor(Schedule(kCosine), {60, 20, 100}), 0.5);
  EXPECT_DOUBLE_EQ(ScheduleFactor(Schedule(kCosine), {40, 20, 100}), 0.5 + 0.25 * std::sqrt(2));
  EXPECT_DOUBLE_EQ(ScheduleFactor(Schedule(kConstant), {99, 20, 100}), 1);
}

}  // namespace
}  // namespace tandem::optim

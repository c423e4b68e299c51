#include <gtest/gtest.h>

#include <cmath>

#include "config/recipe_fields.h"
#include "optim/catalogue.h"

namespace tandem::optim {
namespace {

TEST(ScheduleCatalogue, IsWhatRecipesOffer) {
  ASSERT_EQ(Schedules().size(), std::size(config::kSchedules));
  for (size_t i = 0; i < Schedules().size(); ++i) {
    EXPECT_EQ(Schedules()[i]->name, config::kSchedules[i].name);
  }
}

TEST(Schedule, EveryOneRisesOverTheWarmUpAndStaysInRange) {
  for (const ScheduleInfo* schedule : Schedules()) {
    for (const int64_t warmup : {0, 1, 10, 100, 250}) {
      double before = 0;
      for (int64_t step = 0; step < 100; ++step) {
        const double factor = ScheduleFactor(*schedule, {step, warmup, 100});
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
  EXPECT_DOUBLE_EQ(ScheduleFactor(kLinear, {60, 20, 100}), 0.5);
  EXPECT_DOUBLE_EQ(ScheduleFactor(kLinear, {99, 20, 100}), 1.0 / 80);
  EXPECT_DOUBLE_EQ(ScheduleFactor(kCosine, {60, 20, 100}), 0.5);
  EXPECT_DOUBLE_EQ(ScheduleFactor(kCosine, {40, 20, 100}), 0.5 + 0.25 * std::sqrt(2));
  EXPECT_DOUBLE_EQ(ScheduleFactor(kConstant, {99, 20, 100}), 1);
}

}  // namespace
}  // namespace tandem::optim

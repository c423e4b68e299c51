// softplus and its slope against the same in long double, far beyond where others take it as
// linear.
#include "objective/softplus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tandem::objective {
namespace {

TEST(Softplus, IsExactForEveryArgument) {
  for (double x = -745; x <= 745; x += 0.37) {
    const long double e = std::exp(-std::fabs(static_cast<long double>(x)));
    const long double value = std::fmax(static_cast<long double>(x), 0.0L) + std::log1p(e);
    const long double slope = (x >= 0 ? 1.0L : e) / (1.0L + e);
    const Softplus got = SoftplusOf(x);
    constexpr double kUlps = 4 * std::numeric_limits<double>::epsilon();
    constexpr double kTiny = std::numeric_limits<double>::denorm_min();  // where e^x underflows
    EXPECT_NEAR(got.value, static_cast<double>(value), kUlps * static_cast<double>(value) + kTiny)
        << x;
    EXPECT_NEAR(got.slope, static_cast<double>(slope), kUlps * static_cast<double>(slope) + kTiny)
        << x;
  }
}

// A pair that is 21 temperatures wrong still weighs less than one that is 30 wrong.
TEST(Softplus, IsNotLinearAboveTwenty) {
  EXPECT_GT(SoftplusOf(21).value, 21);
  EXPECT_LT(SoftplusOf(21).slope, 1);
  EXPECT_LT(SoftplusOf(21).slope, SoftplusOf(30).slope);
}

TEST(Softplus, GoesToItsLimitsWithoutOverflow) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(SoftplusOf(kInfinity).value, kInfinity);
  EXPECT_EQ(SoftplusOf(kInfinity).slope, 1);
  EXPECT_EQ(SoftplusOf(-kInfinity).value, 0);
  EXPECT_EQ(SoftplusOf(-kInfinity).slope, 0);
  EXPECT_EQ(SoftplusOf(1e308).value, 1e308);
  EXPECT_TRUE(std::isnan(SoftplusOf(std::nan("")).value));
}

}  // namespace
}  // namespace tandem::objective

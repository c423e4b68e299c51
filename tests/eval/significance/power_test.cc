#include "eval/significance/power.h"

#include <gtest/gtest.h>

namespace tandem::eval {
namespace {

// The sample sizes of the paired two-sided t-test at power 0.8, from its exact noncentral
// distribution: those of Cohen's small, medium and large effects, as tables of power give them.
TEST(QueriesNeeded, AreThoseOfTablesOfPower) {
  EXPECT_EQ(QueriesNeeded(0.2, 0.05), 199);
  EXPECT_EQ(QueriesNeeded(0.5, 0.05), 34);
  EXPECT_EQ(QueriesNeeded(0.8, 0.05), 15);
  EXPECT_EQ(QueriesNeeded(-0.5, 0.05), 34);  // a loss needs as many as a gain
  EXPECT_GT(*QueriesNeeded(0.5, 0.01), 34);
}

TEST(QueriesNeeded, AreNoneWithoutAnEffect) {
  EXPECT_EQ(QueriesNeeded(0, 0.05), std::nullopt);
  EXPECT_EQ(QueriesNeeded(1e-9, 0.05), std::nullopt);
}

}  // namespace
}  // namespace tandem::eval

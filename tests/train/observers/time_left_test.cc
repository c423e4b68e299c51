// The time that a run still takes: steps and validations by hand.
#include "train/observers/time_left.h"

#include <gtest/gtest.h>

namespace tandem::train {
namespace {

// Ten steps of 6 s, and validations of 20 s before the first step and after every fifth.
TEST(TimeLeft, CountsStepsAndTheValidationsThatFollow) {
  TimeLeft left;
  left.Start(0, 0);
  left.BeginValidation(0);
  left.EndValidation(20);
  left.Start(20, 0);
  EXPECT_FALSE(left.At(20, {.done = 0, .total = 10, .validations = 2}));
  EXPECT_DOUBLE_EQ(*left.At(26, {.done = 1, .total = 10, .validations = 2}), 9 * 6 + 2 * 20);
  // A quarter of the second one is done.
  left.BeginValidation(50);
  left.BeginValidation(52);
  EXPECT_DOUBLE_EQ(*left.At(55, {.done = 5, .total = 10, .validations = 1, .share = 0.25}),
                   5 * 6 + 15 + 20);
  // It took 30 s: the next one will.
  left.EndValidation(30);
  EXPECT_DOUBLE_EQ(*left.At(86, {.done = 6, .total = 10, .validations = 1}), 4 * 6 + 30);
}

TEST(TimeLeft, TheFirstValidationOfAProcessSaysHowLongItTakes) {
  TimeLeft left;
  left.Start(100, 4);  // a resumed run
  EXPECT_DOUBLE_EQ(*left.At(106, {.done = 5, .total = 10, .validations = 2}), 5 * 6);
  left.BeginValidation(106);
  EXPECT_DOUBLE_EQ(*left.At(108, {.done = 5, .total = 10, .validations = 1, .share = 0.1}),
                   5 * 6 + 18 + 20);
  TimeLeft known;
  known.Start(100, 4);
  known.KnowValidation(20);
  EXPECT_DOUBLE_EQ(*known.At(106, {.done = 5, .total = 10, .validations = 2}), 5 * 6 + 40);
}

}  // namespace
}  // namespace tandem::train

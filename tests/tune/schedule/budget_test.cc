#include "tune/schedule/budget.h"

#include <gtest/gtest.h>

#include "support/error_matching.h"

namespace tandem::tune {
namespace {

TEST(Budget, IsATimeOrSteps) {
  EXPECT_EQ(ParseBudget("90s"), (Budget{.seconds = 90}));
  EXPECT_EQ(ParseBudget("30m"), (Budget{.seconds = 1800}));
  EXPECT_EQ(ParseBudget("1.5h"), (Budget{.seconds = 5400}));
  EXPECT_EQ(ParseBudget("5000 steps"), (Budget{.steps = 5000}));
  EXPECT_EQ(ParseBudget("5000steps"), (Budget{.steps = 5000}));
  for (const char* text : {"", "30", "m", "-3m", "0s", "30 days", "1.5 steps", "inf s", "30mm"}) {
    ExpectError([&] { ParseBudget(text); }, ExitCode::kUsage, {"--budget is", "90s, 30m or 2h"});
  }
}

constexpr SearchCost kCost = {
    .steps = 900, .step_seconds = 0.1, .setup_seconds = 2, .validation_seconds = 3};

TEST(Budget, CostsAreThoseByHand) {
  const std::vector<Bracket> brackets = {MakeBracket(9, 3, 3)};  // 21 units of 100 steps
  EXPECT_EQ(StepsOf(brackets, 3, kCost), 2100);
  EXPECT_DOUBLE_EQ(SecondsOf(brackets, 3, kCost), 21 * (10 + 3) + (9 + 3 + 1) * 2 + 9 * 3);
  SearchCost longer = kCost;
  longer.length_factor = 2;
  EXPECT_EQ(StepsOf(brackets, 3, longer), 4200);
}

// The base is validated once by all trials that have the same texts and model.
TEST(Budget, ValidationsOfTheBaseAreCountedOnce) {
  const std::vector<Bracket> brackets = {MakeBracket(9, 3, 3)};
  const std::vector<int64_t> counts = {1, 1, 2, 2, 2, 2, 2, 2, 3, 4};
  SearchCost shared = kCost;
  shared.base_validations = counts;
  EXPECT_DOUBLE_EQ(SecondsOf(brackets, 3, kCost) - SecondsOf(brackets, 3, shared), (9 - 3) * 3);
}

TEST(Budget, AsManyConfigurationsAsItPaysFor) {
  EXPECT_EQ(TrialsOf(BracketsWithin({.steps = 2100}, 3, kCost, 100)), 9);
  EXPECT_EQ(TrialsOf(BracketsWithin({.steps = 2099}, 3, kCost, 100)), 8);
  EXPECT_EQ(TrialsOf(BracketsWithin({.steps = 900}, 3, kCost, 100)), 1);
  const auto all = BracketsWithin({.steps = 1'000'000}, 3, kCost, 12);
  EXPECT_EQ(FullTrialsOf(all), 12);
  EXPECT_EQ(all.front(), MakeBracket(12, 3, 3));
  for (double seconds = 140; seconds < 3000; seconds += 131) {
    const auto brackets = BracketsWithin({.seconds = seconds}, 3, kCost, 1000);
    EXPECT_LE(SecondsOf(brackets, 3, kCost), seconds);
  }
}

TEST(Budget, BelowOneTrialIsRefusedWithWhatItTakes) {
  ExpectError([] { BracketsWithin({.steps = 899}, 3, kCost, 100); }, ExitCode::kUsage,
              {"less than one trial takes, 900 steps"});
  ExpectError([] { BracketsWithin({.seconds = 5}, 3, kCost, 100); }, ExitCode::kUsage,
              {"less than one trial takes, about "});
}

}  // namespace
}  // namespace tandem::tune

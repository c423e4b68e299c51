#include "tune/choice/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "eval/significance/significance.h"

namespace tandem::tune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

QueryValues Values(const std::vector<double>& values) {
  QueryValues all;
  for (size_t i = 0; i < values.size(); ++i) {
    all.push_back({"q" + std::to_string(100 + i), values[i]});
  }
  return all;
}

// `count` values around `mean`, whose differences have a standard deviation of about 0.3.
QueryValues Noisy(double mean, size_t count, uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = "test"});
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(mean + random.Uniform() - 0.5);
  return Values(values);
}

TEST(Select, TheNumbersAreThoseByHand) {
  const Selection found =
      Select(Values({0, 0, 0, 0}), {{.name = "a", .values = Values({0.1, 0.3, 0.2, 0.2})}}, {});
  ASSERT_EQ(found.arms.size(), 1U);
  EXPECT_DOUBLE_EQ(found.arms[0].gain, 0.2);
  const double sd = std::sqrt(0.02 / 3);
  EXPECT_NEAR(found.arms[0].half_width, 1.96 * sd / 2, 1e-5);
  EXPECT_NEAR(found.detectable, (1.959964 + 0.841621) * sd / 2, 1e-6);
  // Of 16 sign patterns two are as far from 0: p = 1/8.
  EXPECT_DOUBLE_EQ(found.arms[0].p, 0.125);
  EXPECT_FALSE(found.chosen);
}

TEST(Select, ARealGainIsTakenAndTheLargestOfThem) {
  const QueryValues base = Noisy(0.4, 200, 1);
  const Selection found = Select(base,
                                 {{.name = "small", .values = Noisy(0.55, 200, 2)},
                                  {.name = "large", .values = Noisy(0.7, 200, 3)},
                                  {.name = "worse", .values = Noisy(0.2, 200, 4)}},
                                 {});
  ASSERT_TRUE(found.chosen);
  EXPECT_EQ(found.arms[*found.chosen].name, "large");
  EXPECT_THAT(VerdictText(found), StartsWith("train: large gains +0.2"));
  EXPECT_THAT(VerdictText(found), HasSubstr("over 3 models, 200 dev queries"));
  const Selection one = Select(base, {{.name = "large", .values = Noisy(0.7, 200, 3)}}, {});
  EXPECT_THAT(VerdictText(one), HasSubstr("over 1 model, 200 dev queries"));
}

TEST(Select, WhatIsSignificantlyWorseIsNotTaken) {
  const Selection found =
      Select(Noisy(0.4, 200, 1), {{.name = "worse", .values = Noisy(0.1, 200, 2)}}, {});
  EXPECT_LT(found.arms[0].holm_p, 0.001);
  EXPECT_FALSE(found.chosen);
  EXPECT_THAT(VerdictText(found), StartsWith("do not train: no configuration beats the base"));
}

// Twenty arms that are the base but for noise: without the correction one of them is taken in most
// cases, with it in one of twenty.
TEST(Select, NoiseIsNotTakenMoreOftenThanTheLevelSays) {
  int taken = 0, taken_uncorrected = 0;
  constexpr int kSearches = 60;
  for (int search = 0; search < kSearches; ++search) {
    const QueryValues base = Noisy(0.4, 60, 1000 + static_cast<uint64_t>(search));
    std::vector<double> p_values;
    std::vector<Arm> arms;
    for (int arm = 0; arm < 20; ++arm) {
      arms.push_back({"a", Noisy(0.4, 60, static_cast<uint64_t>(search * 100 + arm) + 7000), {}});
    }
    const Selection found = Select(base, arms, {});
    taken += found.chosen ? 1 : 0;
    for (const ArmTest& arm : found.arms) {
      taken_uncorrected += arm.p < kLevel && arm.gain > 0 ? 1 : 0;
    }
  }
  EXPECT_LE(taken, 8);  // of 60 at a chance of 1/20: above 8 once in 1,000 times
  EXPECT_GT(taken_uncorrected, 8);
}

TEST(Select, HolmsCorrectionIsThatOfAllArms) {
  const QueryValues base = Values(std::vector<double>(8, 0.5));
  const auto arm = [](const char* name, std::vector<double> values) {
    return Arm{name, Values(values), {}};
  };
  const std::vector<double> up(8, 0.6);  // p = 2/256
  const Selection one = Select(base, {arm("a", up)}, {});
  EXPECT_TRUE(one.chosen);
  std::vector<Arm> many = {arm("a", up)};
  for (int i = 0; i < 9; ++i) many.push_back(arm("same", std::vector<double>(8, 0.5)));
  const Selection of_ten = Select(base, many, {});
  EXPECT_DOUBLE_EQ(of_ten.arms[0].holm_p, 10 * 2.0 / 256);
  EXPECT_FALSE(of_ten.chosen);
}

// The best of many means of models that are no better than the base looks better by chance: without
// a best trial that is seen to gain it is not taken, whatever its own p is.
TEST(Select, ASoupIsTakenOnlyAfterItsBestTrial) {
  const QueryValues base = Noisy(0.4, 200, 1);
  const auto choice = [&base](double of_trial) {
    const Arm trial{.name = "trial", .values = Noisy(of_trial, 200, 2)};
    const Arm soup{.name = "soup", .values = Noisy(0.7, 200, 3), .after = 0};
    return Select(base, {trial, soup}, {});
  };
  const Selection before = choice(0.401);
  EXPECT_LT(before.arms[1].holm_p, 0.001);
  EXPECT_FALSE(before.arms[1].allowed);
  EXPECT_FALSE(before.chosen);
  EXPECT_EQ(before.arms[*before.best].name, "trial");
  EXPECT_THAT(VerdictText(before), StartsWith("do not train: no configuration beats the base"));
  const Selection after = choice(0.6);
  ASSERT_TRUE(after.chosen);
  EXPECT_EQ(after.arms[*after.chosen].name, "soup");
  EXPECT_FALSE(choice(0.1).chosen);  // significantly worse
}

TEST(Select, SaysHowManyQueriesASmallGainNeeds) {
  const Selection found =
      Select(Noisy(0.4, 412, 1), {{.name = "a", .values = Noisy(0.403, 412, 2)}}, {});
  ASSERT_FALSE(found.chosen);
  EXPECT_THAT(VerdictText(found), HasSubstr("412 dev queries; about "));
  EXPECT_THAT(VerdictText(found), HasSubstr(",000 would be needed to see a gain of 0.005)"));
  // Differences that hardly vary would have shown it.
  std::vector<double> values(400, 0.5);
  values[0] = 0.5001;
  const Selection sharp =
      Select(Values(std::vector<double>(400, 0.5)), {{.name = "a", .values = Values(values)}}, {});
  EXPECT_THAT(VerdictText(sharp), HasSubstr("would have been seen)"));
}

TEST(Select, TheBorderIsOfGainAndLoss) {
  const QueryValues base = Values(std::vector<double>(10, 0.5));
  const auto arm = [](double value, double loss) {
    return Arm{"a", Values(std::vector<double>(10, value)), loss};
  };
  const std::vector<Arm> arms = {arm(0.9, 0.2), arm(0.8, 0.05), arm(0.7, 0.1), arm(0.6, 0)};
  const Selection found = Select(base, arms, {});
  const std::vector<bool> border = {found.arms[0].on_border, found.arms[1].on_border,
                                    found.arms[2].on_border, found.arms[3].on_border};
  EXPECT_EQ(border, (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(found.chosen, 0U);
  const Selection careful = Select(base, arms, {.most_loss = 0.06});
  EXPECT_EQ(careful.chosen, 1U);
  EXPECT_THAT(VerdictText(careful), HasSubstr("loses at most 0.0500 elsewhere"));
  const Selection none = Select(base, {arms[0]}, {.most_loss = 0.06});
  EXPECT_FALSE(none.chosen);
  EXPECT_THAT(VerdictText(none), HasSubstr("loses more elsewhere than tune.most_loss"));
}

TEST(Select, OtherQueriesAreRefused) {
  EXPECT_THROW(Select(Values({1, 2}), {{"a", Values({1}), {}}}, {}), DataError);
  QueryValues other = Values({1, 2});
  other[1].query = "x";
  EXPECT_THROW(Select(Values({1, 2}), {{"a", other, {}}}, {}), DataError);
  EXPECT_THAT(VerdictText(Select(Values({1, 2}), {}, {})), HasSubstr("could be trained"));
}

}  // namespace
}  // namespace tandem::tune

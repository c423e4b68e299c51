// What validations cost, and the keys that make it less.
#include "train/validation/validation_cost.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem::train {
namespace {

// 5 of 30 s each beside 250 s of steps.
constexpr ValidationCost kCost{.each_seconds = 30, .count = 5, .step_seconds = 250};

TEST(ValidationCost, IsLargeFromAQuarterOfTheTimeOn) {
  EXPECT_DOUBLE_EQ(kCost.share(), 150.0 / 400);
  EXPECT_TRUE(kCost.large());
  EXPECT_FALSE((ValidationCost{.each_seconds = 30, .count = 5, .step_seconds = 450}.large()));
  EXPECT_FALSE((ValidationCost{.each_seconds = 0.1, .count = 5, .step_seconds = 0.1}.large()));
  EXPECT_EQ(ValidationCost{}.share(), 0);
}

TEST(ValidationCost, NamesKeysWithValuesThatHelp) {
  config::ValidationRecipe recipe{.data = "d", .every = config::Quantity::Percent(25)};
  const std::string start = "validation takes about 38 % of the time";
  EXPECT_EQ(ValidationCostText(kCost, recipe, {.documents = 1000, .corpus = 1000, .judged = 300}),
            start + "; less with --set validation.every=50% or --set validation.pool=500");
  recipe.every = config::Quantity::Count(40);
  // All that are ranked are judged, so that a smaller pool would be the same one.
  EXPECT_EQ(ValidationCostText(kCost, recipe, {.documents = 400, .corpus = 1000, .judged = 400}),
            start + "; less with --set \"validation.every=80 steps\"");
  // Several data sets have a pool each, none of which is validation.pool.
  recipe.data.reset();
  recipe.sources.resize(2);
  EXPECT_EQ(ValidationCostText(kCost, recipe, {.documents = 1000, .corpus = 1000, .judged = 300}),
            start + "; less with --set \"validation.every=80 steps\"");
  recipe.sources.clear();
  recipe.holdout = config::Quantity::Percent(10);
  EXPECT_EQ(ValidationCostText(kCost, recipe, {}),
            start +
                "; less with --set \"validation.every=80 steps\" or --set "
                "validation.holdout=5%");
  // The base and the end alone are validated, of one query.
  recipe.holdout = config::Quantity::Count(1);
  EXPECT_EQ(ValidationCostText({.each_seconds = 30, .count = 2, .step_seconds = 100}, recipe, {}),
            start);
}

}  // namespace
}  // namespace tandem::train

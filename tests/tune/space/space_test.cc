#include "tune/space/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "config/test_catalogue.h"

namespace tandem::tune {
namespace {

using config::SearchKey;

config::LoadedTune Parse(const std::string& tune) {
  return config::ParseTune(config::kLeast + tune, "r.toml", {}, config::kTestCatalogues);
}

TEST(Space, DrawsAreThoseOfTheSeedAndTheNumberAlone) {
  const std::vector<SearchKey> keys = {{.path = "a", .values = {"1", "2", "3"}},
                                       {.path = "b", .range = {1e-6, 1e-4}, .logarithmic = true}};
  EXPECT_EQ(DrawValues(keys, 1, 5), DrawValues(keys, 1, 5));
  EXPECT_NE(DrawValues(keys, 1, 5), DrawValues(keys, 2, 5));
  EXPECT_NE(DrawValues(keys, 1, 5), DrawValues(keys, 1, 6));
}

// A logarithmic range has as many draws in each decade, an even one in each tenth; all are inside.
TEST(Space, RangesAreUniform) {
  const std::vector<SearchKey> keys = {{.path = "even", .range = {0, 1}},
                                       {.path = "log", .range = {1e-6, 1e-4}, .logarithmic = true},
                                       {.path = "whole", .range = {1, 4}, .whole = true}};
  constexpr int kDraws = 2000;
  int below_half = 0, first_decade = 0;
  std::map<std::string, int> whole;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    const Assignment values = DrawValues(keys, 7, draw);
    const double even = std::stod(values[0].second), log = std::stod(values[1].second);
    EXPECT_TRUE(even >= 0 && even <= 1 && log >= 1e-6 && log <= 1e-4);
    below_half += even < 0.5 ? 1 : 0;
    first_decade += log < 1e-5 ? 1 : 0;
    ++whole[values[2].second];
  }
  // Five standard deviations of a share of one half.
  EXPECT_NEAR(below_half, kDraws / 2, 112);
  EXPECT_NEAR(first_decade, kDraws / 2, 112);
  ASSERT_EQ(whole.size(), 4U);
  for (const auto& [value, count] : whole) EXPECT_NEAR(count, kDraws / 4, 97) << value;
}

TEST(Space, TheFirstConfigurationIsTheRecipeAndAllDiffer) {
  const config::LoadedTune tune =
      Parse("[tune]\ntrain.batch = [8, 16, 64]\noptimizer.clip = [0, 1]\n");
  const std::vector<Assignment> all = DrawConfigurations(tune, 1, 100);
  EXPECT_TRUE(all.front().empty());
  // The default batch is 64 and the default clip 1, so that one of the six is the recipe.
  EXPECT_EQ(all.size(), 6U);
  EXPECT_EQ(std::set<Assignment>(all.begin(), all.end()).size(), all.size());
  const std::vector<Assignment> few = DrawConfigurations(tune, 1, 3);
  EXPECT_EQ(few, std::vector<Assignment>(all.begin(), all.begin() + 3));
}

TEST(Space, ConfigurationsThatDifferInIdleKeysAloneAreOne) {
  const config::LoadedTune tune =
      Parse("[tune]\nmodel.train = [\"all\"]\nlora.rank = [2, 4, 8, 16, 32]\n");
  EXPECT_EQ(DrawConfigurations(tune, 1, 100).size(), 1U);
}

TEST(Space, AKeyThatDoesNothingInAnyTrialIsRefused) {
  const config::LoadedTune idle =
      Parse("[tune]\ntrain.batch = [8, 16]\nlora.rank = [2, 4, 8, 16, 32]\n");
  try {
    CheckKeysDoSomething(idle);
    FAIL();
  } catch (const RecipeError& error) {
    EXPECT_THAT(error.what(),
                testing::MatchesRegex("r.toml:[0-9]+:[0-9]+: tune.lora.rank does "
                                      "nothing in any trial: it needs model.train.*"));
  }
  try {  // a key in quotes is the same one
    CheckKeysDoSomething(Parse("[tune]\n\"lora.rank\" = [2, 4]\n"));
    FAIL();
  } catch (const RecipeError& error) {
    EXPECT_THAT(error.what(), testing::MatchesRegex("r.toml:[0-9]+:[0-9]+: tune.lora.rank .*"));
  }
  CheckKeysDoSomething(
      Parse("[tune]\nmodel.train = [\"all\", \"lora\"]\nlora.rank = [2, 4, 8, 16, 32]\n"));
}

}  // namespace
}  // namespace tandem::tune

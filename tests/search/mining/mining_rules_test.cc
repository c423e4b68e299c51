#include "search/mining/mining_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "search/mining/documents_of.h"

namespace tandem::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<Hit> Ranked(uint32_t count) {
  std::vector<Hit> hits;
  for (uint32_t i = 0; i < count; ++i) hits.push_back({100 + i, -static_cast<float>(i)});
  return hits;
}

TEST(Choose, TakesTheBestOfTheRange) {
  const MiningRules rules{.ranks = {2, 6}, .negatives = 3};
  EXPECT_THAT(Documents(Choose(rules, 0, Ranked(6))), ElementsAre(102, 103, 104));
  EXPECT_THAT(Documents(Choose(rules, 0, Ranked(4))), ElementsAre(102, 103));
  EXPECT_TRUE(Choose(rules, 0, Ranked(2)).empty());
  EXPECT_TRUE(Choose(rules, 0, {}).empty());
}

TEST(Choose, DrawsFromTheRangeWithEqualChances) {
  MiningRules rules{.ranks = {2, 12}, .negatives = 3, .random = true, .seed = 7};
  std::vector<int> drawn(12);
  constexpr uint32_t kQueries = 6000;
  for (uint32_t query = 0; query < kQueries; ++query) {
    const std::vector<Hit> hits = Choose(rules, query, Ranked(12));
    ASSERT_EQ(hits.size(), 3U);
    ASSERT_TRUE(std::is_sorted(hits.begin(), hits.end(),
                               [](const Hit& a, const Hit& b) { return a.score > b.score; }));
    for (const Hit& hit : hits) ++drawn[hit.document - 100];
  }
  EXPECT_EQ(drawn[0] + drawn[1], 0);
  double chi_square = 0;  // 9 degrees of freedom: above 27.9 in one of a thousand
  for (int i = 2; i < 12; ++i) {
    const double expected = kQueries * 3 / 10.0;
    chi_square += (drawn[i] - expected) * (drawn[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 27.9);
}

TEST(Choose, ADrawDependsOnSeedAndRoundAndNotOnTheOrder) {
  const MiningRules rules{.ranks = {0, 50}, .negatives = 5, .random = true, .seed = 7};
  const std::vector<uint32_t> drawn = Documents(Choose(rules, 3, Ranked(50)));
  MiningRules other = rules;
  other.seed = 8;
  EXPECT_NE(Documents(Choose(other, 3, Ranked(50))), drawn);
  other = rules;
  other.round = 1;
  EXPECT_NE(Documents(Choose(other, 3, Ranked(50))), drawn);
  EXPECT_NE(Documents(Choose(rules, 4, Ranked(50))), drawn);
  std::vector<Hit> reversed = Ranked(50);
  std::reverse(reversed.begin(), reversed.end());
  std::vector<uint32_t> same = Documents(Choose(rules, 3, reversed));
  std::reverse(same.begin(), same.end());
  EXPECT_EQ(same, drawn);
}

// sentence-transformers: score + margin > positive, score > positive - margin |positive|.
TEST(Margins, AreBelowTheLowestPositive) {
  MiningRules rules{.absolute_margin = 0.25};
  EXPECT_TRUE(KeepsMargins(rules, 0.25F, 0.5F));
  EXPECT_FALSE(KeepsMargins(rules, 0.26F, 0.5F));
  EXPECT_EQ(MarginCeiling(rules, 0.5F), 0.25F);
  rules = {.relative_margin = 0.5};
  EXPECT_TRUE(KeepsMargins(rules, 0.5F, 1.0F));
  EXPECT_FALSE(KeepsMargins(rules, 0.51F, 1.0F));
  EXPECT_TRUE(KeepsMargins(rules, -1.5F, -1.0F));
  EXPECT_FALSE(KeepsMargins(rules, -1.4F, -1.0F));
  EXPECT_EQ(MarginCeiling(rules, -1.0F), -1.5F);
  rules.absolute_margin = 1;
  EXPECT_FALSE(KeepsMargins(rules, -1.5F, -1.0F));
  EXPECT_EQ(MarginCeiling(rules, -1.0F), -2);
  EXPECT_FALSE(KeepsMargins(rules, -1e30F, -kInfinity));
  EXPECT_EQ(MarginCeiling(rules, -kInfinity), -kInfinity);
  EXPECT_TRUE(KeepsMargins({}, 1e30F, -kInfinity));
  EXPECT_EQ(MarginCeiling({}, -kInfinity), kInfinity);
}

std::string Problem(const MiningRules& rules) {
  try {
    CheckRules(rules);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(CheckRules, NamesTheFlagThatIsWrong) {
  EXPECT_EQ(Problem({}), "");
  EXPECT_EQ(Problem({.absolute_margin = 0, .relative_margin = 1}), "");
  EXPECT_THAT(Problem({.ranks = {10, 10}}), HasSubstr("--range 10:10 is empty"));
  EXPECT_THAT(Problem({.negatives = 0}), HasSubstr("--negatives is 0"));
  EXPECT_THAT(Problem({.ranks = {0, 4}, .negatives = 5}),
              HasSubstr("--negatives 5 are more than the 4 ranks of --range 0:4"));
  EXPECT_THAT(Problem({.absolute_margin = -0.1}), HasSubstr("--absolute-margin is -0.1"));
  EXPECT_THAT(Problem({.absolute_margin = kInfinity}), HasSubstr("--absolute-margin is inf"));
  EXPECT_THAT(Problem({.relative_margin = 1.5}), HasSubstr("--relative-margin is 1.5"));
  EXPECT_THAT(Problem({.relative_margin = std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("--relative-margin is nan"));
}

}  // namespace
}  // namespace tandem::search

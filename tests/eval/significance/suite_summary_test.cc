#include "eval/significance/suite_summary.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace tandem::eval {
namespace {

using MaybeValues = std::vector<std::optional<double>>;

TEST(RanksOf, GiveTheHighestValueRankOneAndEqualOnesTheirMean) {
  EXPECT_EQ(RanksOf(MaybeValues{0.2, 0.5, 0.1}), (MaybeValues{2, 1, 3}));
  EXPECT_EQ(RanksOf(MaybeValues{0.5, 0.2, 0.5}), (MaybeValues{1.5, 3, 1.5}));
  EXPECT_EQ(RanksOf(MaybeValues{0.9, 0.3, 0.3, 0.3, 0.1}), (MaybeValues{1, 3, 3, 3, 5}));
  EXPECT_EQ(RanksOf(MaybeValues{0.4, 0.4}), (MaybeValues{1.5, 1.5}));
  EXPECT_EQ(RanksOf(MaybeValues{0.7}), (MaybeValues{1}));
  EXPECT_TRUE(RanksOf(MaybeValues{}).empty());
}

TEST(RanksOf, LeaveMissingValuesOut) {
  EXPECT_EQ(RanksOf(MaybeValues{std::nullopt, 0.2, 0.3}), (MaybeValues{std::nullopt, 2, 1}));
}

// Worked by hand: set 1 ranks 1, 2, 3; set 2 ranks 2.5, 1, 2.5; set 3 ranks 2, 2, 2.
TEST(SummarizeSuite, TakesMeansOfValuesAndOfRanks) {
  const std::vector<MaybeValues> by_set = {{0.9, 0.6, 0.3}, {0.2, 0.5, 0.2}, {0.4, 0.4, 0.4}};
  const SuiteSummary summary = SummarizeSuite(by_set);
  ASSERT_EQ(summary.means.size(), 3U);
  EXPECT_DOUBLE_EQ(*summary.means[0], 0.5);
  EXPECT_DOUBLE_EQ(*summary.means[1], 0.5);
  EXPECT_DOUBLE_EQ(*summary.means[2], 0.3);
  EXPECT_DOUBLE_EQ(*summary.average_ranks[0], 5.5 / 3);
  EXPECT_DOUBLE_EQ(*summary.average_ranks[1], 5.0 / 3);
  EXPECT_DOUBLE_EQ(*summary.average_ranks[2], 7.5 / 3);
}

TEST(SummarizeSuite, AModelThatLacksASetHasNeitherMeanNorRank) {
  const std::vector<MaybeValues> by_set = {{0.9, 0.6}, {std::nullopt, 0.5}};
  const SuiteSummary summary = SummarizeSuite(by_set);
  EXPECT_EQ(summary.means, (MaybeValues{std::nullopt, 0.55}));
  EXPECT_EQ(summary.average_ranks, (MaybeValues{std::nullopt, 1.5}));
}

}  // namespace
}  // namespace tandem::eval

#include "report/records/draws_by_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sampling/audit/audit_file.h"

namespace tandem::report {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// Three queries: the second has two pairs, and with (0.2 + 0.4) / 2 the second lowest score.
const std::vector<float> kScores = {0.5F, 0.2F, 0.4F, 0.1F};

sampling::PassRecord Record(uint64_t pass, std::vector<float> probabilities) {
  return {.pass = pass, .pair_counts = {1, 2, 1}, .probabilities = std::move(probabilities)};
}

TEST(DrawsByScore, SumsTheProbabilitiesOfEachQuerysPairs) {
  DrawsByScoreReader reader(kScores);
  reader.Add(Record(0, {1, 0.25F, 0.5F, 0.125F}));
  reader.Add(Record(2, {1, 1, 0, 0}));
  const std::optional<DrawsByScore> draws = reader.Take();
  ASSERT_TRUE(draws);
  EXPECT_THAT(draws->passes, ElementsAre(0, 2));
  ASSERT_EQ(draws->bins.size(), 3u);
  EXPECT_NEAR(draws->bins[1].low, 0.3, 1e-6);
  EXPECT_THAT(draws->expected[0], ElementsAre(0.125, 0.75, 1));
  EXPECT_THAT(draws->expected[1], ElementsAre(0, 1, 1));
}

TEST(DrawsByScore, HasTenBinsOfAboutAsManyQueriesAndPartsNoEqualScores) {
  std::vector<float> scores;
  sampling::PassRecord record{.pass = 0};
  for (int i = 0; i < 100; ++i) {
    scores.push_back(i < 15 ? 0.0F : static_cast<float>(i));
    record.pair_counts.push_back(1);
    record.probabilities.push_back(i < 50 ? 0.0F : 1.0F);
  }
  DrawsByScoreReader reader(scores);
  reader.Add(record);
  const DrawsByScore draws = *reader.Take();
  ASSERT_EQ(draws.bins.size(), 10u);
  EXPECT_EQ(draws.bins[0].queries, 15u);  // all zeros are in one bin
  EXPECT_EQ(draws.bins[1].queries, 5u);
  EXPECT_EQ(draws.bins[9].queries, 10u);
  EXPECT_EQ(draws.bins[9].low, 90);
  EXPECT_EQ(draws.bins[9].high, 99);
  EXPECT_EQ(draws.expected[0][4], 0);
  EXPECT_EQ(draws.expected[0][5], 1);
}

TEST(DrawsByScore, ARecordOfOtherPairsIsLeftOut) {
  DrawsByScoreReader reader(kScores);
  reader.Add(Record(0, {1, 1}));
  EXPECT_FALSE(reader.Take());
  EXPECT_FALSE(DrawsByScoreReader({}).Take());
}

}  // namespace
}  // namespace tandem::report

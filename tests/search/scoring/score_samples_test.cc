#include "search/scoring/score_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PositivesOf, AreTheDocumentsFromTheLevelOnInAscendingOrder) {
  const data::JudgedQuery query{0, {{7, 1.0}, {5, 0.0}, {3, 2.0}, {9, 0.5}}};
  EXPECT_THAT(PositivesOf(query, 0.5), ElementsAre(3, 7, 9));
  EXPECT_THAT(PositivesOf(query, 1), ElementsAre(3, 7));
  EXPECT_THAT(PositivesOf(query, 3), IsEmpty());
}

TEST(SamplesOf, PositivesAreTheWatchedScoresNegativesTheOtherHits) {
  const QueryHits found{.hits = {{4, 0.75F}, {3, 0.5F}, {8, 0.25F}}, .watched = {0.5F, -1.0F}};
  const eval::QuerySamples samples = SamplesOf("q", found, std::vector<uint32_t>{3, 7});
  EXPECT_EQ(samples.query, "q");
  EXPECT_THAT(samples.positives, ElementsAre(0.5, -1.0));
  EXPECT_THAT(samples.negatives, ElementsAre(0.75, 0.25));
  EXPECT_EQ(samples.missing_positives, 0U);
}

TEST(SamplesOf, NegativesAreTheBestOnly) {
  QueryHits found;
  for (uint32_t d = 0; d < eval::kNegativesPerQuery + 3; ++d) {
    found.hits.push_back({d, -static_cast<float>(d)});
  }
  const eval::QuerySamples samples = SamplesOf("q", found, std::vector<uint32_t>{1});
  ASSERT_EQ(samples.negatives.size(), eval::kNegativesPerQuery);
  EXPECT_EQ(samples.negatives.back(), -static_cast<double>(eval::kNegativesPerQuery));
}

}  // namespace
}  // namespace tandem::search

#include "commands/prune/prune_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Four queries, each with one document; the second query has two.
class PruneReport : public testing::Test {
 protected:
  PruneReport() {
    for (int i = 0; i < 5; ++i) {
      const std::string number = std::to_string(i);
      dataset_.documents.Add("d" + number, "text of document " + number);
      dataset_.queries.Add("q" + number, "text of query\n" + number);
    }
    dataset_.judged = {{0, {{0, 1}}}, {1, {{3, 0}, {1, 1}, {2, 1}}}, {2, {{3, 1}}}, {3, {{4, 1}}}};
    pairs_ = data::PairsOf(dataset_, 1);
  }
  PrunedPairs ByCosine() const { return {dataset_, pairs_, cosines_, {}, kept_}; }
  PrunedPairs ByRank() const { return {dataset_, pairs_, cosines_, ranks_, kept_}; }

  data::Dataset dataset_;
  std::vector<data::DatasetPair> pairs_;
  std::vector<float> cosines_ = {0.51F, 0.5F, -0.21F, 0.99F, 1};
  std::vector<bool> kept_ = {false, false, false, true, true};
  std::vector<float> ranks_ = {1.0F / 10'001, 0.5F, 0.25F, 1, 0.2F};
};

TEST_F(PruneReport, CosinesAreCountedInSteps) {
  const auto histograms = HistogramsOf(ByCosine());
  ASSERT_EQ(histograms.size(), 1U);
  EXPECT_EQ(histograms[0].name, "cosine");
  const auto& bins = histograms[0].bins;
  ASSERT_EQ(bins.size(), 25U);  // from -0.25 to 1
  EXPECT_DOUBLE_EQ(bins.front().from, -0.25);
  EXPECT_EQ(bins.front().pairs, 1U);
  EXPECT_DOUBLE_EQ(bins[15].from, 0.5);
  EXPECT_EQ(bins[15].pairs, 2U);
  EXPECT_EQ(bins[15].kept, 0U);
  EXPECT_DOUBLE_EQ(bins.back().to, 1);
  EXPECT_EQ(bins.back().pairs, 2U);  // a cosine of 1 too
  EXPECT_EQ(bins.back().kept, 2U);
}

TEST_F(PruneReport, RanksAreCountedInGrowingSteps) {
  const auto histograms = HistogramsOf(ByRank());
  ASSERT_EQ(histograms.size(), 2U);
  EXPECT_EQ(histograms[0].name, "rank");
  const std::string tsv = HistogramTsv(histograms);
  EXPECT_THAT(tsv, testing::StartsWith("score\tfrom\tto\tpairs\tkept\n"
                                       "rank\t1\t1\t1\t1\n"
                                       "rank\t2\t2\t1\t0\n"
                                       "rank\t3\t5\t2\t1\n"
                                       "rank\t6\t10\t0\t0\n"));
  EXPECT_THAT(tsv, HasSubstr("rank\t10001\t20000\t1\t0\ncosine\t-0.25\t-0.2\t1\t0\n"));
}

TEST_F(PruneReport, TheReviewHasTheLowestAndBothSidesOfTheBorder) {
  const Review one = ReviewOf(ByCosine(), 1);
  EXPECT_THAT(one.lowest, ElementsAre(2));
  EXPECT_THAT(one.border_kept, ElementsAre(3));
  EXPECT_THAT(one.border_left_out, ElementsAre(0));
  const Review all = ReviewOf(ByCosine(), 9);
  EXPECT_THAT(all.lowest, ElementsAre(2, 1, 0, 3, 4));
  EXPECT_THAT(all.border_kept, ElementsAre(3, 4));
  EXPECT_THAT(all.border_left_out, ElementsAre(0, 1, 2));
  EXPECT_THAT(ReviewOf(ByRank(), 2).lowest, ElementsAre(0, 4));
}

TEST_F(PruneReport, OfEqualPairsTheLaterIsTheLower) {
  cosines_ = {0.5F, 0.5F, 0.5F, 0.5F, 0.5F};
  kept_ = {true, true, true, false, false};
  const Review review = ReviewOf(ByCosine(), 1);
  EXPECT_THAT(review.lowest, ElementsAre(4));
  EXPECT_THAT(review.border_kept, ElementsAre(2));
  EXPECT_THAT(review.border_left_out, ElementsAre(3));
}

TEST_F(PruneReport, TextShowsCountsBarsAndTexts) {
  const auto loss = data::CountLoss(pairs_, kept_);
  const std::string text = PruneText(ByRank(), loss, 1, {});
  EXPECT_THAT(text, testing::StartsWith("pairs     5\n  kept    2\n  left out 3\nqueries   4\n"
                                        "  that lost some pairs 0\n  that lost all pairs  2\n"));
  EXPECT_THAT(text, HasSubstr("3 to 5                    2          1  #"));
  EXPECT_THAT(text, HasSubstr(" 0.50 to  0.55            2          0  --"));
  EXPECT_THAT(text, HasSubstr("\nThe lowest pairs\n  rank 10001, cosine 0.5100\n"
                              "    query    q0  text of query 0\n"
                              "    document d0  text of document 0\n"));
  EXPECT_THAT(text, HasSubstr("\nJust kept\n  rank 5, cosine 1.0000\n    query    q3"));
  EXPECT_THAT(text, HasSubstr("\nJust left out\n  rank 2, cosine 0.5000\n    query    q1  text of "
                              "query 1\n    document d1"));
  EXPECT_THAT(PruneText(ByCosine(), loss, 0, {}), Not(HasSubstr("lowest")));
}

TEST_F(PruneReport, JsonHasTheSame) {
  const auto json = nlohmann::json::parse(PruneJson(ByRank(), data::CountLoss(pairs_, kept_), 1));
  EXPECT_EQ(json["pairs"], 5);
  EXPECT_EQ(json["kept_pairs"], 2);
  EXPECT_EQ(json["queries_that_lost_all"], 2);
  EXPECT_EQ(json["histograms"]["rank"][0]["kept"], 1);
  EXPECT_EQ(json["lowest"][0]["query"], "q0");
  EXPECT_EQ(json["lowest"][0]["rank"], 10001);
  EXPECT_EQ(json["just_left_out"][0]["document_text"], "text of document 1");
}

}  // namespace
}  // namespace tandem::app

#include "data/studies/without_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "data/training_set.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;

class WithoutPairsTest : public testing::Test {
 protected:
  WithoutPairsTest() {
    for (int i = 0; i < 6; ++i) dataset_.documents.Add("d" + std::to_string(i), "text");
    for (int i = 0; i < 5; ++i) dataset_.queries.Add("q" + std::to_string(i), "text");
    dataset_.judged = {{3, {{0, 2}, {1, 0}, {2, 1}, {3, 3}}},
                       {1, {{4, 1}, {5, 0}}},  // no pair
                       {0, {{2, 2}}},
                       {4, {{1, 2}, {5, 0}, {0, -1}}}};
    dataset_.has_grades = true;
    dataset_.query_prompt = "query: ";
    dataset_.scores = ScoreKind::kLists;
    dataset_.file = "train.tsv";
  }
  static std::vector<uint32_t> Documents(const JudgedQuery& query) {
    std::vector<uint32_t> documents;
    for (const Judgement& one : query.judgements) documents.push_back(one.document);
    return documents;
  }
  Dataset dataset_;
};

TEST_F(WithoutPairsTest, PairsAreInTheOrderOfATrainingSet) {
  const auto pairs = PairsOf(dataset_, 2);
  const TrainingSet set = BuildTrainingSet(dataset_, 2);
  size_t p = 0;
  for (const TrainingQuery& query : set.examples) {
    for (const Judgement& positive : query.positives) {
      ASSERT_LT(p, pairs.size());
      const JudgedQuery& judged = dataset_.judged[pairs[p].judged];
      EXPECT_EQ(judged.query, query.query);
      EXPECT_EQ(judged.judgements[pairs[p].judgement].document, positive.document);
      ++p;
    }
  }
  EXPECT_EQ(p, pairs.size());
  EXPECT_EQ(p, 4U);
}

TEST_F(WithoutPairsTest, OnlyJudgementsOfPairsGo) {
  const auto pairs = PairsOf(dataset_, 2);  // q3: d0, d3; q0: d2; q4: d1
  const Dataset pruned = WithoutPairs(dataset_, pairs, {false, true, false, true});
  ASSERT_EQ(pruned.judged.size(), 2U);
  EXPECT_EQ(pruned.judged[0].query, 3U);
  EXPECT_THAT(Documents(pruned.judged[0]), ElementsAre(1, 2, 3));
  EXPECT_EQ(pruned.judged[1].query, 4U);
  EXPECT_THAT(Documents(pruned.judged[1]), ElementsAre(1, 5, 0));
  EXPECT_EQ(pruned.documents.size(), 6U);
  EXPECT_EQ(pruned.queries.size(), 5U);
  EXPECT_TRUE(pruned.has_grades);
  EXPECT_EQ(pruned.query_prompt, "query: ");
  EXPECT_EQ(pruned.scores, ScoreKind::kLists);
  EXPECT_EQ(pruned.file, "train.tsv");
}

TEST_F(WithoutPairsTest, CountsWhatIsLost) {
  const auto pairs = PairsOf(dataset_, 2);
  const PairLoss loss = CountLoss(pairs, {false, true, false, true});
  EXPECT_EQ(loss.pairs, 4U);
  EXPECT_EQ(loss.kept_pairs, 2U);
  EXPECT_EQ(loss.queries, 3U);
  EXPECT_EQ(loss.shrunk_queries, 1U);
  EXPECT_EQ(loss.lost_queries, 1U);
  EXPECT_THROW(CountLoss(pairs, {true}), std::logic_error);
}

}  // namespace
}  // namespace tandem::data

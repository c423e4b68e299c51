#include "search/mining/mined.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/mining/documents_of.h"
#include "search/mining_data.h"

namespace tandem::search {
namespace {

using testing::ElementsAre;

// Ten documents; query a: d2 and d5 are positives, d3 is related, d4 and d6 were judged 0.
data::TrainingSet Judged() {
  std::vector<std::pair<std::string, std::string>> documents;
  for (int d = 0; d < 10; ++d) documents.emplace_back("d" + std::to_string(d), std::to_string(d));
  return TinySet({{"a", "one"}, {"b", "two"}}, documents,
                 {{"a", "d2", 2},
                  {"a", "d5", 3},
                  {"a", "d3", 1},
                  {"a", "d4", 0},
                  {"a", "d6", 0},
                  {"b", "d0", 2}});
}

// d0 to d9, best first.
std::vector<Hit> Ranking() {
  std::vector<Hit> hits;
  for (uint32_t d = 0; d < 10; ++d) hits.push_back({d, 1 - 0.1F * static_cast<float>(d)});
  return hits;
}

Mined MineFirst(const MiningTask& task, const MiningRules& rules) {
  Mined mined = NothingMined(task);
  mined.positive_scores = {0.8F, 0.5F, 1.0F};
  MineQuery(task, rules, 0, Ranking(), &mined);
  return mined;
}

TEST(MineQuery, RanksCountWithoutRelevantDocuments) {
  const MiningTask task = MakeMiningTask(Judged());
  const Mined mined = MineFirst(task, {.ranks = {1, 5}, .negatives = 3});
  // d0 d1 d4 d6 d7 have ranks 0 to 4.
  EXPECT_THAT(Documents(mined.queries[0].negatives), ElementsAre(1, 4, 6));
  EXPECT_EQ(mined.queries[0].left_out, 0U);
}

// The range has positives d2 and d5, d4 and d6 judged 0. The related d3 is neither.
TEST(MineQuery, CountsJudgedDocumentsOfTheRange) {
  const MiningTask task = MakeMiningTask(Judged());
  EXPECT_EQ(HitsNeeded(task, {.ranks = {1, 5}, .negatives = 1}, 0), 5U + 3U);
  EXPECT_EQ(HitsNeeded(task, {.ranks = {1, 5}, .negatives = 1}, 1), 2U + 1U);
  EXPECT_EQ(HitsNeeded(task, {.ranks = {1, 5}, .random = true}, 1), 5U + 1U);
  EXPECT_EQ(HitsNeeded(task, {.ranks = {1, 500}}, 0), 10U);
  Mined mined = MineFirst(task, {.ranks = {1, 5}, .negatives = 3});
  EXPECT_EQ(mined.queries[0].positives_in_range, 2U);
  EXPECT_EQ(mined.queries[0].irrelevant_in_range, 2U);
  EXPECT_EQ(Summarize({.negatives = 3}, mined).FalseNegativeRate(), 0.5);
  mined = MineFirst(task, {.ranks = {3, 4}, .negatives = 1});
  EXPECT_EQ(mined.queries[0].positives_in_range, 1U);  // d5 follows d0 d1 d4
  EXPECT_EQ(mined.queries[0].irrelevant_in_range, 1U);
  mined = MineFirst(task, {.ranks = {4, 5}, .negatives = 1});
  EXPECT_EQ(mined.queries[0].positives_in_range, 0U);
  EXPECT_EQ(Summarize({.negatives = 1}, mined).FalseNegativeRate(), std::nullopt);
}

// The first ranks are skipped after the margins took theirs out, and candidates end at the range's
// end before, as in sentence-transformers.
TEST(MineQuery, MarginsTakeOutBeforeTheRangeBegins) {
  const MiningTask task = MakeMiningTask(Judged());
  const Mined mined = MineFirst(task, {.ranks = {1, 6}, .negatives = 5, .absolute_margin = 0.05});
  // The lowest positive has 0.5: d0, d1 and d4 are out; d6 d7 d8 are left of the six.
  EXPECT_THAT(Documents(mined.queries[0].negatives), ElementsAre(7, 8));
  EXPECT_EQ(mined.queries[0].left_out, 3U);
}

// The example of docs/sampling.md, "Mining".
TEST(MineQuery, MinesTheExampleOfTheDocs) {
  const data::TrainingSet set = TinySet({{"q", "question"}},
                                        {{"A", "a"},
                                         {"P", "p"},
                                         {"copy", "p"},
                                         {"B", "b"},
                                         {"R", "r"},
                                         {"C", "c"},
                                         {"D", "d"},
                                         {"E", "e"},
                                         {"F", "f"}},
                                        {{"q", "P", 2}, {"q", "R", 1}});
  const MiningTask task = MakeMiningTask(set);
  const std::vector<Hit> hits = {{0, .92F}, {1, .90F}, {2, .88F}, {3, .87F},
                                 {4, .79F}, {5, .75F}, {6, .70F}, {7, .60F}};
  const auto mined = [&](const MiningRules& rules) {
    Mined found = NothingMined(task);
    found.positive_scores = {.90F};
    MineQuery(task, rules, 0, hits, &found);
    std::string ids;
    for (const Hit& hit : found.queries[0].negatives) {
      ids += set.documents.id(task.document_of[hit.document]);
    }
    return ids;
  };
  MiningRules rules{.ranks = {1, 5}, .negatives = 2};
  EXPECT_EQ(mined(rules), "BC");
  rules.absolute_margin = 0.1;
  EXPECT_EQ(mined(rules), "DE");
  rules.absolute_margin.reset();
  rules.relative_margin = 0.1;
  EXPECT_EQ(mined(rules), "DE");
}

TEST(Summarize, CountsAndMeans) {
  Mined mined{.queries = {{.negatives = {{0, 0.5F}, {1, 0.25F}}},
                          {.negatives = {{2, 0}}, .left_out = 4},
                          {}},
              .positive_scores = {1, 0.5F, -INFINITY}};
  const MiningSummary sums = Summarize({.negatives = 2}, mined);
  EXPECT_EQ(sums.queries, 3U);
  EXPECT_EQ(sums.full, 1U);
  EXPECT_EQ(sums.without, 1U);
  EXPECT_EQ(sums.negatives, 3U);
  EXPECT_EQ(sums.negative_score, 0.25);
  EXPECT_EQ(sums.positives, 2U);
  EXPECT_EQ(sums.positive_score, 0.75);
  EXPECT_EQ(sums.unscored_positives, 1U);
  EXPECT_EQ(sums.left_out, 4U);
}

TEST(WithMined, KeepsRelevantDocumentsAndTheirGrades) {
  const data::TrainingSet set = Judged();
  const MiningTask task = MakeMiningTask(set);
  const Mined mined = MineFirst(task, {.ranks = {1, 5}, .negatives = 2});
  const data::Dataset dataset = WithMined(set, task, mined, "ask: ", true);
  EXPECT_EQ(dataset.query_prompt, "ask: ");
  EXPECT_TRUE(dataset.has_grades);
  ASSERT_EQ(dataset.judged.size(), 2U);
  std::vector<std::pair<uint32_t, double>> judged;
  for (const data::Judgement& judgement : dataset.judged[0].judgements) {
    judged.emplace_back(judgement.document, judgement.grade);
  }
  using Pair = std::pair<uint32_t, double>;
  EXPECT_THAT(judged, ElementsAre(Pair(2, 2), Pair(5, 3), Pair(3, 1), Pair(1, 0), Pair(4, 0)));
  EXPECT_EQ(dataset.judged[1].judgements.size(), 1U);
}

}  // namespace
}  // namespace tandem::search

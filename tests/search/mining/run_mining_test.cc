#include "search/mining/run_mining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "search/mining/documents_of.h"
#include "search/mining_data.h"
#include "support/captured_messages.h"

namespace tandem::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// a and c have one text, and d1 and d3 have one; a's positive is d0.
data::TrainingSet Small() {
  return TinySet({{"a", "one"}, {"b", "two"}, {"c", "one"}},
                 {{"d0", "p"}, {"d1", "q"}, {"d2", "r"}, {"d3", "q"}, {"d4", "s"}},
                 {{"a", "d0", 2}, {"b", "d1", 2}, {"c", "d0", 2}});
}

void Add(data::Run& run, const char* query,
         std::initializer_list<std::pair<const char*, double>> results) {
  for (const auto& [document, score] : results) {
    run.AddQuery(query).results.push_back({document, score});
  }
}

TEST(MineFromRun, RanksByScoreThenIdAndCountsCopiesOnce) {
  const data::TrainingSet set = Small();
  const MiningTask task = MakeMiningTask(set);
  data::Run run;
  Add(run, "c", {{"d4", 1}, {"d1", 5}, {"d0", 4}, {"d3", 3}, {"d2", 1}});
  Add(run, "b", {{"d3", 7}, {"d0", 2}, {"d1", 1}});
  const CapturedMessages messages;
  const Mined mined = MineFromRun(set, task, {.ranks = {0, 3}, .negatives = 3}, run, "r.trec");
  EXPECT_THAT(Documents(mined.queries[0].negatives), ElementsAre(1, 3, 2));  // d1 d4 d2
  EXPECT_THAT(Documents(mined.queries[1].negatives), ElementsAre(0));        // d3 is d1's copy
  EXPECT_THAT(mined.positive_scores, ElementsAre(4, 7));
  EXPECT_EQ(messages.text(),
            "warning: r.trec: 1 of 2 queries have results for a part of --range 0:3 only\n");
}

TEST(MineFromRun, APositiveThatTheRunLacksIsBelowEverything) {
  const data::TrainingSet set = Small();
  const MiningTask task = MakeMiningTask(set);
  data::Run run;
  Add(run, "a", {{"d1", 5}, {"d2", 4}});
  const CapturedMessages messages;
  const MiningRules rules{.ranks = {0, 2}, .negatives = 2};
  EXPECT_EQ(MineFromRun(set, task, rules, run, "r").queries[0].negatives.size(), 2U);
  MiningRules margin = rules;
  margin.absolute_margin = 0;
  const Mined mined = MineFromRun(set, task, margin, run, "r");
  EXPECT_TRUE(mined.queries[0].negatives.empty());
  EXPECT_EQ(Summarize(margin, mined).unscored_positives, 2U);
  EXPECT_THAT(messages.text(),
              HasSubstr("warning: r: 1 of 2 queries have no results and get no negatives\n"));
}

TEST(MineFromRun, RunsOfOtherDataAndShallowRuns) {
  const data::TrainingSet set = Small();
  const MiningTask task = MakeMiningTask(set);
  const auto problem = [&](const data::Run& run, RankRange ranks) -> std::string {
    try {
      MineFromRun(set, task, {.ranks = ranks, .negatives = 1}, run, "r.trec");
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  data::Run unknown_document, unknown_query, shallow;
  Add(unknown_document, "a", {{"x9", 1}});
  Add(unknown_query, "z", {{"d1", 1}});
  Add(shallow, "a", {{"d0", 3}, {"d1", 2}, {"d2", 1}});
  EXPECT_EQ(problem(unknown_document, {0, 2}),
            "r.trec: has a document for query a that the corpus lacks; expected a run over the "
            "documents of qrels.tsv (id x9)");
  EXPECT_EQ(problem(unknown_query, {0, 2}),
            "r.trec: has results for none of the queries of the data set; expected their ids");
  EXPECT_THAT(problem(shallow, {2, 5}), HasSubstr("--range 2:5 begins after all results: r.trec "
                                                  "has at most 2 a query"));
}

}  // namespace
}  // namespace tandem::search

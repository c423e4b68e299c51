#include "eval/identical_ids.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "eval/evaluate.h"

namespace tandem::eval {
namespace {

// Each of eight queries finds the document with its id first and its answer second.
struct Duplicates {
  Duplicates() {
    for (int q = 0; q < 8; ++q) {
      const std::string query = "q" + std::to_string(q), answer = "a" + std::to_string(q);
      std::vector<data::ScoredDocument>& results = run.AddQuery(query).results;
      results.push_back({run.Keep(query), 0.9});
      results.push_back({run.Keep(answer), 0.5});
      qrels.Add(query, answer, 1);
    }
  }
  double Ndcg() const {
    return *EvaluateRun(run, qrels, ParseMeasures("ndcg@10"), {}).measures[0].mean;
  }

  data::Run run;
  data::Qrels qrels;
};

TEST(IdenticalIds, BeirsRuleOnQueriesThatAreDocuments) {
  Duplicates world;
  EXPECT_NEAR(world.Ndcg(), 0.6309, 5e-5);
  EXPECT_EQ(CountIdenticalIds(world.run, &world.qrels).queries, 8U);
  const IdenticalIds found = LeaveOutIdenticalIds(&world.qrels, world.run);
  EXPECT_EQ(found.queries, 8U);
  EXPECT_EQ(found.relevant, 0U);
  EXPECT_DOUBLE_EQ(world.Ndcg(), 1);
  EXPECT_EQ(CountIdenticalIds(world.run, &world.qrels).queries, 0U);
}

TEST(IdenticalIds, WhatIsJudgedRelevantStays) {
  Duplicates world;
  world.qrels.Add("q0", "q0", 1);
  world.qrels.Add("q1", "q1", 0);
  const IdenticalIds found = LeaveOutIdenticalIds(&world.qrels, world.run);
  EXPECT_EQ(found.queries, 7U);
  EXPECT_EQ(found.relevant, 1U);
  EXPECT_EQ(world.run.Find("q0")->results.size(), 2U);
  EXPECT_EQ(world.run.Find("q1")->results.size(), 1U);
  Duplicates unjudged;
  EXPECT_EQ(LeaveOutIdenticalIds(nullptr, unjudged.run).queries, 8U);
}

}  // namespace
}  // namespace tandem::eval

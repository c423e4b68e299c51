#include "commands/evaluate/group_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/captured_messages.h"

namespace tandem::app {
namespace {

using testing::HasSubstr;

// Queries a to e; a and b are of group x, c of y\t, d and e have no group.
eval::Evaluation SomeEvaluation() {
  eval::Evaluation evaluation;
  evaluation.queries = {"a", "b", "c", "d", "e"};
  evaluation.measures = {{.measure = eval::ParseMeasure("ndcg@10"),
                          .mean = 0.5,
                          .per_query = {0.25, 0.75, 1.0, 0.5, std::nullopt}},
                         {.measure = eval::ParseMeasure("auc"), .mean = 0.5, .per_query = {}}};
  return evaluation;
}

const std::map<std::string, std::string> kGroups = {{"a", "x"}, {"b", "x"}, {"c", "y\t"}};

GroupReport SomeReport() {
  const CapturedMessages said;
  GroupReport report = MakeGroupReport(SomeEvaluation(), "kind", kGroups, {.resamples = 400});
  EXPECT_EQ(said.text(), "auc pools all queries and has no values of groups\n");
  return report;
}

TEST(GroupOutput, AGroupHasItsQueriesTheirMeanAndItsInterval) {
  const GroupReport report = SomeReport();
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].group, "x");
  EXPECT_EQ(report.rows[0].queries, 2U);
  EXPECT_EQ(report.rows[0].mean, 0.5);
  // Of two queries a resample has one twice with probability 1/4 each: the quantiles are its ends.
  ASSERT_TRUE(report.rows[0].interval);
  EXPECT_EQ(report.rows[0].interval->low, 0.25);
  EXPECT_EQ(report.rows[0].interval->high, 0.75);
  EXPECT_EQ(report.rows[1].group, "y\t");
  EXPECT_EQ(report.rows[1].mean, 1.0);
  EXPECT_FALSE(report.rows[1].interval);  // of one query
  EXPECT_FALSE(report.rows[2].group);
  EXPECT_EQ(report.rows[2].queries, 1U);  // e has no value
  EXPECT_EQ(report.rows[2].mean, 0.5);
}

TEST(GroupOutput, TextHasGroupsBesideEachOther) {
  EXPECT_EQ(GroupFigures(SomeReport(), {}).text,
            "\ngroups of queries by kind; 95 % intervals of the mean\n"
            "kind     x                           y\\t  (without)\n"
            "queries  2                        1          1\n"
            "ndcg@10  0.5000 [0.2500, 0.7500]  1.0000     0.5000\n");
}

// Queries without a value of a measure make its groups smaller than those of the one before.
TEST(GroupOutput, TextSaysWhereMeasuresAreOfOtherQueries) {
  eval::Evaluation evaluation = SomeEvaluation();
  evaluation.measures.push_back({.measure = eval::ParseMeasure("mrr"),
                                 .mean = 0.5,
                                 .per_query = {0.25, std::nullopt, 1.0, 0.5, std::nullopt}});
  evaluation.measures.erase(evaluation.measures.begin() + 1);  // auc
  const GroupReport report = MakeGroupReport(evaluation, "kind", kGroups, {.resamples = 400});
  EXPECT_EQ(GroupFigures(report, {}).text,
            "\ngroups of queries by kind; 95 % intervals of the mean\n"
            "kind     x                           y\\t  (without)\n"
            "queries  2                        1          1\n"
            "ndcg@10  0.5000 [0.2500, 0.7500]  1.0000     0.5000\n"
            "queries  1                        1          1\n"
            "mrr      0.2500                   1.0000     0.5000\n");
}

// Of many groups each has a line.
TEST(GroupOutput, TextOfManyGroups) {
  std::map<std::string, std::string> groups;
  for (const char* query : {"a", "b", "c", "d"}) groups[query] = std::string("group ") + query;
  const CapturedMessages said;
  const GroupReport report = MakeGroupReport(SomeEvaluation(), "kind", groups, {.resamples = 400});
  EXPECT_EQ(GroupFigures(report, {.columns = 40}).text,
            "\ngroups of queries by kind; 95 % intervals of the mean\n"
            "kind     queries  ndcg@10\n"
            "group a  1        0.2500\n"
            "group b  1        0.7500\n"
            "group c  1        1.0000\n"
            "group d  1        0.5000\n");
}

TEST(GroupOutput, Tsv) {
  EXPECT_EQ(GroupFigures(SomeReport(), {}).tsv,
            "group:kind=x:ndcg@10\tall\t0.5\n"
            "group:kind=x:ndcg@10:low\tall\t0.25\n"
            "group:kind=x:ndcg@10:high\tall\t0.75\n"
            "group:kind=x:ndcg@10:queries\tall\t2\n"
            "group:kind=y :ndcg@10\tall\t1\n"
            "group:kind=y :ndcg@10:low\tall\t-\n"
            "group:kind=y :ndcg@10:high\tall\t-\n"
            "group:kind=y :ndcg@10:queries\tall\t1\n"
            "group:without kind:ndcg@10\tall\t0.5\n"
            "group:without kind:ndcg@10:low\tall\t-\n"
            "group:without kind:ndcg@10:high\tall\t-\n"
            "group:without kind:ndcg@10:queries\tall\t1\n");
}

TEST(GroupOutput, Json) {
  const Json groups = GroupFigures(SomeReport(), {}).json["groups"];
  EXPECT_EQ(groups["field"].text(), "kind");
  ASSERT_EQ(groups["values"].size(), 3U);
  EXPECT_EQ(groups["values"].Dump(),
            R"([{"measure":"ndcg@10","group":"x","queries":2,"mean":0.5,"low":0.25,"high":0.75},)"
            R"({"measure":"ndcg@10","group":"y\t","queries":1,"mean":1.0,"low":null,"high":null},)"
            R"({"measure":"ndcg@10","group":null,"queries":1,"mean":0.5,"low":null,"high":null}])");
}

}  // namespace
}  // namespace tandem::app

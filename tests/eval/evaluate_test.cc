#include "eval/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace tandem::eval {
namespace {

using testing::ElementsAre;
using testing::Optional;

struct Result {
  std::string_view query;
  std::string_view document;
  double score;
};

data::Run MakeRun(std::initializer_list<Result> results) {
  data::Run run;
  for (const Result& result : results) {
    run.AddQuery(result.query).results.push_back({result.document, result.score});
  }
  return run;
}

data::Qrels MakeQrels(std::initializer_list<Result> judgements) {
  data::Qrels qrels;
  for (const Result& judgement : judgements) {
    qrels.Add(judgement.query, judgement.document, judgement.score);
  }
  return qrels;
}

double ValueOf(std::string_view measure, const data::Run& run, const data::Qrels& qrels,
               const EvaluationOptions& options = {}) {
  const std::vector<Measure> measures = ParseMeasures(measure);
  return *EvaluateRun(run, qrels, measures, options).measures[0].mean;
}

TEST(EvaluateRun, TiesFallByDocumentIdDescendingInBytes) {
  const data::Qrels qrels = MakeQrels({{"q", "b", 1}});
  EXPECT_EQ(ValueOf("mrr", MakeRun({{"q", "a", 1}, {"q", "b", 1}}), qrels), 1);
  EXPECT_EQ(ValueOf("mrr", MakeRun({{"q", "b", 1}, {"q", "c", 1}}), qrels), 0.5);
  EXPECT_EQ(ValueOf("mrr", MakeRun({{"q", "b", 1}, {"q", "B", 1}}), qrels), 1);
  EXPECT_EQ(ValueOf("mrr", MakeRun({{"q", "b", 1}, {"q", "\xC3\xA9", 1}}), qrels), 0.5);
}

TEST(EvaluateRun, ScoresTieInSinglePrecisionWhereAsked) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 1}});
  const data::Run run = MakeRun({{"q", "a", 1 + 1e-9}, {"q", "b", 1}});
  EXPECT_EQ(ValueOf("mrr", run, qrels), 1);
  EvaluationOptions options;
  options.ranking.score_precision = ScorePrecision::kSingle;
  EXPECT_EQ(ValueOf("mrr", run, qrels, options), 0.5);
}

TEST(EvaluateRun, ScoresThatAreNotFiniteAreErrors) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 1}});
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double score : {std::nan(""), infinity, -infinity}) {
    EXPECT_THROW(ValueOf("mrr", MakeRun({{"q", "a", 1}, {"q", "b", score}}), qrels), NumericError);
  }
  // Finite as a double and infinite as a float, a score still ranks.
  EvaluationOptions single;
  single.ranking.score_precision = ScorePrecision::kSingle;
  EXPECT_EQ(ValueOf("mrr", MakeRun({{"q", "a", 1e99}, {"q", "b", 1}}), qrels, single), 1);
}

// `rel` beats the relevance level, for its own measure only.
TEST(EvaluateRun, MeasuresWithALevelOfTheirOwnStandBesideOthers) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 1}, {"q", "b", 2}, {"q", "c", 3}});
  const data::Run run = MakeRun({{"q", "a", 3}, {"q", "b", 2}, {"q", "c", 1}});
  const std::vector<Measure> measures = ParseMeasures("mrr(rel=3),mrr,RR(rel=1),mrr(rel=2),auc");
  EvaluationOptions options;
  options.ranking.relevance_level = 2;
  const Evaluation evaluation = EvaluateRun(run, qrels, measures, options);
  EXPECT_DOUBLE_EQ(*evaluation.measures[0].mean, 1.0 / 3);
  EXPECT_DOUBLE_EQ(*evaluation.measures[1].mean, 1.0 / 2);
  EXPECT_DOUBLE_EQ(*evaluation.measures[2].mean, 1.0);
  EXPECT_DOUBLE_EQ(*evaluation.measures[3].mean, 1.0 / 2);
  EXPECT_EQ(*evaluation.measures[4].mean, 0);  // a, no positive at level 2, is above b and c
}

TEST(EvaluateRun, EachMeasureNeedsADocumentThatCounts) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 2}, {"q", "b", 0}});
  const data::Run run = MakeRun({{"q", "a", 3}});
  EXPECT_EQ(ValueOf("map(rel=2)", run, qrels), 1);
  EXPECT_THROW(ValueOf("map,map(rel=3)", run, qrels), DataError);
  const data::Qrels zeros = MakeQrels({{"q", "a", 0}});
  EXPECT_EQ(ValueOf("judged@1", run, zeros), 1);
  EXPECT_THROW(ValueOf("judged@1", run, MakeQrels({{"q", "a", -1}})), DataError);
}

// No grade is so high that a sum of gains is not finite.
TEST(EvaluateRun, GainsOfHighGradesStayFinite) {
  const data::Run run = MakeRun({{"q", "c", 3}, {"q", "b", 2}, {"q", "a", 1}});
  const data::Qrels high = MakeQrels({{"q", "a", 1.7e308}, {"q", "b", 1.7e308}, {"q", "c", 0}});
  const data::Qrels ones = MakeQrels({{"q", "a", 1}, {"q", "b", 1}, {"q", "c", 0}});
  EXPECT_DOUBLE_EQ(ValueOf("ndcg", run, high), ValueOf("ndcg", run, ones));
  EXPECT_DOUBLE_EQ(ValueOf("ndcg_exp", run, high), ValueOf("ndcg_exp", run, ones));
  const data::Qrels above = MakeQrels({{"q", "a", 2001}, {"q", "b", 2000}});
  EXPECT_DOUBLE_EQ(ValueOf("ndcg_exp", run, above),
                   (0.5 / std::log2(3) + 1 / std::log2(4)) / (1 + 0.5 / std::log2(3)));
}

TEST(EvaluateRun, F1ComparesScoresAsFloats) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 1}});
  const data::Run run = MakeRun({{"q", "a", static_cast<double>(0.41F)}, {"q", "b", 0.4}});
  EXPECT_EQ(ValueOf("f1@0.41", run, qrels), 1);
  EXPECT_EQ(ValueOf("f1@0.4", run, qrels), 2.0 / 3);
  EXPECT_EQ(ValueOf("f1@0.42", run, qrels), 0);
}

// Where a measure could only be 0, the judgements or the level are wrong, so it is an error.
TEST(EvaluateRun, NoPositiveAnywhereIsAnError) {
  const data::Run run = MakeRun({{"q", "a", 2}, {"q", "b", 1}, {"r", "a", 1}});
  const data::Qrels zeros = MakeQrels({{"q", "a", 0}, {"r", "b", 0}});
  EXPECT_THROW(ValueOf("map", run, zeros), DataError);
  EXPECT_THROW(ValueOf("ndcg", run, zeros), DataError);
  const data::Qrels ones = MakeQrels({{"q", "a", 1}, {"r", "b", 0}});
  EvaluationOptions strict;
  strict.ranking.relevance_level = 2;
  EXPECT_THROW(ValueOf("map", run, ones, strict), DataError);
  EXPECT_EQ(ValueOf("ndcg", run, ones, strict), 0.5);  // grades are its gains, at any level
  EXPECT_EQ(ValueOf("map", run, ones), 0.5);
  const std::vector<Measure> measures = ParseMeasures("map");
  const Evaluation evaluation = EvaluateRun(run, ones, measures, {});
  EXPECT_EQ(evaluation.queries_without_positive, 1U);
  EXPECT_EQ(RemarksOn(evaluation, {}).front().text,
            "judged queries without a positive, counted as 0: 1");
}

// A corpus of fewer documents than an AUC compares with is no fault of a model's evaluation.
TEST(EvaluateRun, ASmallCorpusIsSaidOnlyWhereAnAucWasAskedFor) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 1}});
  const data::Run run = MakeRun({{"q", "a", 2}, {"q", "b", 1}});
  const std::vector<Measure> auc = ParseMeasures("auc");
  const std::vector<QuerySamples> samples = {{.query = "q", .positives = {2}, .negatives = {1}}};
  const auto remarks = [&](const EvaluationOptions& options) {
    return RemarksOn(EvaluateRun(run, qrels, auc, options), options);
  };
  EXPECT_TRUE(remarks({.samples = samples, .samples_asked_for = false}).empty());
  const std::vector<Remark> asked = remarks({.samples = samples});
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_FALSE(asked[0].is_warning);
  EXPECT_EQ(asked[0].text,
            "auc: queries with fewer than 500 other documents to compare with, since the corpus "
            "has no more: 1");
  // A deeper run may have them.
  EXPECT_TRUE(remarks({}).front().is_warning);
}

TEST(EvaluateRun, NegativeGradesAreNoJudgements) {
  const data::Qrels qrels =
      MakeQrels({{"q", "a", 1}, {"q", "b", -1}, {"q", "c", 0}, {"q", "d", 1}});
  const data::Run run = MakeRun({{"q", "b", 4}, {"q", "a", 3}, {"q", "c", 2}, {"q", "d", 1}});
  EXPECT_EQ(ValueOf("bpref", run, qrels), 0.5);  // b is skipped; c is before d
  EXPECT_DOUBLE_EQ(ValueOf("ndcg", run, qrels),
                   (1 / std::log2(3) + 1 / std::log2(5)) / (1 + 1 / std::log2(3)));
}

TEST(EvaluateRun, GradesMayBeFractions) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 0.5}, {"q", "b", 0.25}});
  const data::Run run = MakeRun({{"q", "b", 2}, {"q", "a", 1}});
  EXPECT_DOUBLE_EQ(ValueOf("ndcg", run, qrels),
                   (0.25 + 0.5 / std::log2(3)) / (0.5 + 0.25 / std::log2(3)));
  EvaluationOptions options;
  options.ranking.relevance_level = 0.5;
  EXPECT_EQ(ValueOf("mrr", run, qrels, options), 0.5);
}

TEST(EvaluateRun, QueriesWithoutPositiveCountZero) {
  const data::Qrels qrels = MakeQrels({{"q", "a", 0}, {"r", "a", 1}});
  const data::Run run = MakeRun({{"q", "a", 1}, {"r", "a", 1}});
  for (const char* measure : {"ndcg", "map", "mrr", "recall@5", "success@5", "rprec", "bpref"}) {
    EXPECT_EQ(ValueOf(measure, run, qrels), 0.5) << measure;
  }
}

TEST(EvaluateRun, QueriesAreSortedAndCounted) {
  const data::Qrels qrels = MakeQrels({{"z", "a", 1}, {"b", "a", 1}, {"a", "a", 1}});
  const data::Run run = MakeRun({{"z", "a", 1}, {"x", "a", 1}, {"b", "a", 1}});
  const std::vector<Measure> measures = ParseMeasures("map,auc");
  const Evaluation evaluation = EvaluateRun(run, qrels, measures, {});
  EXPECT_THAT(evaluation.queries, ElementsAre("b", "z"));
  EXPECT_EQ(evaluation.unjudged_queries, 1U);
  EXPECT_EQ(evaluation.missing_queries, 1U);
  EXPECT_EQ(evaluation.measures[1].mean, std::nullopt);  // no negatives at all
  EXPECT_TRUE(evaluation.measures[1].per_query.empty());
  const Evaluation complete = EvaluateRun(run, qrels, measures, {.complete = true});
  EXPECT_THAT(complete.queries, ElementsAre("a", "b", "z"));
  EXPECT_THAT(complete.measures[0].per_query, ElementsAre(Optional(0), Optional(1), Optional(1)));
  EXPECT_EQ(complete.measures[0].mean, 2.0 / 3);
}

// As pytrec_eval has it: such a query was asked and found nothing.
TEST(EvaluateRun, AQueryOfTheRunWithoutResultsCounts) {
  const data::Qrels qrels = MakeQrels({{"a", "x", 1}, {"b", "x", 1}, {"c", "x", 1}});
  data::Run run = MakeRun({{"a", "x", 1}});
  run.AddQuery("b");
  const std::vector<Measure> measures = ParseMeasures("mrr");
  const Evaluation evaluation = EvaluateRun(run, qrels, measures, {});
  EXPECT_THAT(evaluation.queries, ElementsAre("a", "b"));
  EXPECT_THAT(evaluation.measures[0].per_query, ElementsAre(Optional(1), Optional(0)));
  EXPECT_EQ(evaluation.missing_queries, 1U);
}

TEST(EvaluateRun, CompleteCountsMissingQueriesInAuc) {
  const data::Qrels qrels = MakeQrels({{"a", "x", 1}, {"b", "x", 1}});
  const data::Run run = MakeRun({{"a", "x", 2}, {"a", "y", 1}});
  EXPECT_EQ(ValueOf("auc", run, qrels), 1);
  EXPECT_EQ(ValueOf("auc", run, qrels, {.complete = true}), 0.5);
  EXPECT_EQ(ValueOf("auc_per_query", run, qrels, {.complete = true}), 0.5);
}

TEST(EvaluateRun, GivenSamplesReplaceTheRuns) {
  const data::Qrels qrels = MakeQrels({{"a", "x", 1}, {"b", "x", 1}});
  const data::Run run = MakeRun({{"a", "y", 1}, {"b", "x", 1}});
  const std::vector<QuerySamples> samples = {{"b", {2}, 0, {1, 3}}, {"a", {5}, 0, {4}}};
  const std::vector<Measure> measures = ParseMeasures("auc,auc_per_query,map");
  const Evaluation evaluation = EvaluateRun(run, qrels, measures, {.samples = samples});
  EXPECT_EQ(evaluation.measures[0].mean, 4.0 / 6);
  EXPECT_THAT(evaluation.measures[1].per_query, ElementsAre(Optional(1), Optional(0.5)));
  EXPECT_EQ(evaluation.measures[2].mean, 0.5);
}

TEST(EvaluateRun, NothingToEvaluateIsAnError) {
  const std::vector<Measure> measures = ParseMeasures("map");
  const data::Qrels qrels = MakeQrels({{"q", "a", 1}});
  EXPECT_THROW(EvaluateRun(MakeRun({{"r", "a", 1}}), qrels, measures, {}), DataError);
  EXPECT_THROW(EvaluateRun(MakeRun({{"r", "a", 1}}), qrels, measures, {.complete = true}),
               DataError);
  EvaluationOptions options;
  for (const double level : {0.0, -1.0, std::nan("")}) {
    options.ranking.relevance_level = level;
    EXPECT_THROW(EvaluateRun(MakeRun({{"q", "a", 1}}), qrels, measures, options), UsageError);
  }
}

// Random runs with many ties, half of the documents judged.
struct RandomCase {
  data::Run run;
  data::Qrels qrels;
};

RandomCase MakeRandomCase(uint64_t seed, bool reversed) {
  RandomStream random({.seed = seed, .purpose = "run"});
  std::vector<Result> results;
  RandomCase made;
  std::vector<std::string> ids;
  for (int i = 0; i < 60; ++i) ids.push_back(std::to_string(i));
  for (int q = 0; q < 40; ++q) {
    for (const std::string& id : ids) {
      if (random.Below(2) == 0) {
        results.push_back({made.run.Keep(std::to_string(q)), made.run.Keep(id),
                           static_cast<double>(random.Below(8))});
      }
      if (random.Below(2) == 0) {
        made.qrels.Add(std::to_string(q), id, static_cast<double>(random.Below(4)));
      }
    }
  }
  if (reversed) std::reverse(results.begin(), results.end());
  for (const Result& result : results) {
    made.run.AddQuery(result.query).results.push_back({result.document, result.score});
  }
  return made;
}

// Contract of every entry of the catalogue: the order of lines and the number of threads change no
// bit, values lie in [0, 1], a mean is the mean of its values.
TEST(EvaluateRun, EveryMeasureKeepsTheContract) {
  std::vector<Measure> measures;
  for (const MeasureInfo* info : Measures()) {
    const std::string name(info->name);
    for (const std::string& spelling : {name, name + "@4", name + "(rel=2)", name + "(rel=3)@4"}) {
      if (MeasureProblem(spelling).empty()) measures.push_back(ParseMeasure(spelling));
    }
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RandomCase forward = MakeRandomCase(seed, false);
    const RandomCase reversed = MakeRandomCase(seed, true);
    const Evaluation one = EvaluateRun(forward.run, forward.qrels, measures, {});
    const Evaluation other = EvaluateRun(reversed.run, reversed.qrels, measures, {.threads = 4});
    EXPECT_EQ(one.queries, other.queries);
    for (size_t m = 0; m < measures.size(); ++m) {
      EXPECT_EQ(one.measures[m].per_query, other.measures[m].per_query) << measures[m].name();
      EXPECT_EQ(one.measures[m].mean, other.measures[m].mean) << measures[m].name();
      double sum = 0;
      for (const std::optional<double>& value : one.measures[m].per_query) {
        ASSERT_TRUE(value.has_value());
        EXPECT_GE(*value, 0);
        EXPECT_LE(*value, 1);
        sum += *value;
      }
      if (!one.measures[m].per_query.empty()) {
        EXPECT_EQ(one.measures[m].mean, sum / static_cast<double>(one.queries.size()));
      }
    }
  }
}

}  // namespace
}  // namespace tandem::eval

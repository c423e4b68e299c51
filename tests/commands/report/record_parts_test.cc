#include "commands/report/record_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "report/records/evaluation_file.h"

namespace tandem::app {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Optional;

constexpr double kScores[] = {0.9, 0.8, 0.6, 0.5, 0.3};

// Two queries: a finds its positive first, b second; both know one document that nobody judged.
class RecordParts : public testing::Test {
 protected:
  RecordParts() {
    for (const char* id : {"d1", "d2", "d3"}) {
      dataset_.documents.Add(id, std::string("text of\n") + id);
    }
    for (const char* id : {"a", "b"}) dataset_.queries.Add(id, std::string("query ") + id);
    qrels_.Add("a", "d1", 1);
    qrels_.Add("b", "d2", 1);
    qrels_.Add("b", "d3", 0);
    run_.AddQuery("a").results = {{"d1", 0.9}, {"d2", 0.5}};
    run_.AddQuery("b").results = {{"d3", 0.8}, {"d2", 0.6}, {"d1", 0.3}};
    samples_ = {{.query = "a", .positives = {0.9}, .negatives = {0.5}},
                {.query = "b", .positives = {0.6}, .negatives = {0.8, 0.3}}};
    evaluation_ = eval::EvaluateRun(run_, qrels_, eval::ParseMeasures("auc,mrr"),
                                    {.complete = true, .samples = samples_});
  }

  CaseSources Sources() const {
    return {.run = run_, .qrels = qrels_, .dataset = dataset_, .ranking = {}};
  }

  data::Dataset dataset_;
  data::Qrels qrels_;
  data::Run run_;
  std::vector<eval::QuerySamples> samples_;
  eval::Evaluation evaluation_;
};

TEST_F(RecordParts, MeasuresHaveIntervalsOfTheirQueries) {
  const auto results =
      MeasureResultsOf(evaluation_, eval::PoolLevels(samples_), {.seed = 1, .resamples = 500});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].name, "auc");
  EXPECT_THAT(results[0].mean, Optional(DoubleEq(5.0 / 6)));
  EXPECT_TRUE(results[0].per_query.empty());
  // Resamples of two queries hold a twice, b twice, or both.
  EXPECT_THAT(results[0].low, Optional(DoubleEq(0.5)));
  EXPECT_THAT(results[0].high, Optional(DoubleEq(1.0)));
  EXPECT_THAT(results[1].mean, Optional(DoubleEq(0.75)));
  EXPECT_THAT(results[1].low, Optional(DoubleEq(0.5)));
  EXPECT_THAT(results[1].high, Optional(DoubleEq(1.0)));
  EXPECT_THAT(results[1].per_query, ElementsAre(Optional(1.0), Optional(0.5)));
}

TEST_F(RecordParts, CurvesAndThresholdsOfThePool) {
  const std::vector<double> floors(2, eval::kNoFloor);
  const eval::ScoreLevels pool = eval::PoolLevels(samples_);
  const auto chosen = eval::ChooseThresholds(pool, eval::LevelsOfCorpus(samples_, floors, nullptr),
                                             eval::ParseTargets("recall=1,results=0.1"),
                                             {.seed = 1, .resamples = 10});
  const report::RocFacts facts = RocFactsOf(pool, chosen);
  EXPECT_EQ(facts.positives, 2);
  EXPECT_EQ(facts.negatives, 3);
  EXPECT_DOUBLE_EQ(facts.auc, 5.0 / 6);
  EXPECT_THAT(facts.points.front(), ElementsAre(0, 0));
  EXPECT_THAT(facts.points.back(), ElementsAre(1, 1));
  EXPECT_THAT(facts.precision_recall.back()[0], DoubleEq(1));
  ASSERT_EQ(facts.thresholds.size(), 2U);
  EXPECT_EQ(facts.thresholds[0].target, "recall=1");
  EXPECT_THAT(facts.thresholds[0].score, Optional(0.6));
  EXPECT_THAT(facts.thresholds[0].precision, Optional(DoubleEq(2.0 / 3)));
  EXPECT_EQ(facts.thresholds[1].target, "results=0.1");  // one document is half a one a query
  EXPECT_EQ(facts.thresholds[1].score, std::nullopt);
}

TEST_F(RecordParts, HistogramsShareTheirBinsAndCountEachScoreOnce) {
  const report::ScoreHistograms histograms = ScoreHistogramsOf(samples_);
  EXPECT_EQ(histograms.positives.from, kScores[4]);
  EXPECT_EQ(histograms.positives.to, kScores[0]);
  EXPECT_EQ(histograms.positives.counts.back(), 1);        // 0.9
  EXPECT_EQ(histograms.hard_negatives.counts.front(), 1);  // 0.3
  const auto sum = [](const report::Histogram& histogram) {
    int64_t all = 0;
    for (const int64_t count : histogram.counts) all += count;
    return all;
  };
  EXPECT_EQ(sum(histograms.positives), 2);
  EXPECT_EQ(sum(histograms.hard_negatives), 3);
  const std::vector<eval::QuerySamples> one = {{.query = "a", .positives = {0.4}}};
  EXPECT_EQ(sum(ScoreHistogramsOf(one).positives), 1);
}

TEST_F(RecordParts, TheChosenCalibrationComesFirst) {
  CalibrationStudy study{.measured = std::vector<MeasuredCalibration>(3), .chosen = 1};
  study.measured[0].calibration.method = weights::CalibrationMethod::kObjective;
  study.measured[1].calibration.method = weights::CalibrationMethod::kPlatt;
  study.measured[2].calibration.method = weights::CalibrationMethod::kIsotonic;
  study.measured[1].report.figures.error = 0.25;
  study.measured[1].report.errors_at = {0.1, 0.2, 0.3};
  study.measured[1].report.figures.bins[14] = {7, 0.95, 0.5};
  const auto facts = CalibrationFactsOf(study);
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].method, "platt");
  EXPECT_EQ(facts[1].method, "objective");
  EXPECT_EQ(facts[2].method, "isotonic");
  study.measured[1].was_there = true;
  EXPECT_EQ(CalibrationFactsOf(study)[0].method, "platt (kept)");
  EXPECT_EQ(facts[0].expected_calibration_error, 0.25);
  EXPECT_EQ(facts[0].at_depths[2].depth, 100);
  EXPECT_EQ(facts[0].at_depths[2].expected_calibration_error, 0.3);
  EXPECT_EQ(facts[0].reliability[0].mean_probability, std::nullopt);
  EXPECT_EQ(facts[0].reliability[14].count, 7);
  EXPECT_THAT(facts[0].reliability[14].share_positive, Optional(0.5));
  EXPECT_EQ(facts[0].reliability[14].to, 1);
}

TEST_F(RecordParts, CasesAreInOneListEachWithTextsAndGrades) {
  const report::QueryCases cases = CasesOf(evaluation_, Sources());
  EXPECT_EQ(cases.measure, "mrr");  // auc has no values of queries
  ASSERT_EQ(cases.best.size(), 1U);
  ASSERT_EQ(cases.worst.size(), 1U);
  EXPECT_EQ(cases.best[0].id, "a");
  EXPECT_EQ(cases.best[0].text, "query a");
  EXPECT_THAT(cases.best[0].value, Optional(1.0));
  EXPECT_EQ(cases.worst[0].id, "b");
  ASSERT_EQ(cases.worst[0].results.size(), 3U);
  EXPECT_EQ(cases.worst[0].results[0].id, "d3");
  EXPECT_EQ(cases.worst[0].results[0].text, "text of d3");
  EXPECT_THAT(cases.worst[0].results[0].grade, Optional(0.0));
  EXPECT_EQ(cases.worst[0].results[2].grade, std::nullopt);  // nobody judged it
}

TEST_F(RecordParts, ViewsKeepQueriesAndPositivesApart) {
  eval::EmbeddingViews views{.queries = 2, .pairs = 2};
  views.ratio.median = 0.7;
  views.uniformity_queries = -2;
  views.uniformity_positives = -3;
  views.nearest.histogram = {.first = -1, .width = 0.5, .counts = {0, 0, 0, 2}};
  views.pictures.queries = {0, 1};
  views.pictures.principal.points = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const report::ViewFacts facts = ViewFactsOf(views);
  EXPECT_THAT(facts.projected_queries, ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(facts.projected_documents, ElementsAre(ElementsAre(5, 6), ElementsAre(7, 8)));
  ASSERT_TRUE(facts.nearest_cosine);
  EXPECT_EQ(facts.nearest_cosine->to, 1);
  EXPECT_THAT(facts.nearest_cosine->counts, ElementsAre(0, 0, 0, 2));
  EXPECT_THAT(facts.uniformity, Optional(-2.0));
}

}  // namespace
}  // namespace tandem::app

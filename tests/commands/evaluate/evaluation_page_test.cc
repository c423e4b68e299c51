// The pencil examples and the demonstration of docs/evaluation.md.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"
#include "eval/random_samples.h"
#include "eval/samples/roc.h"
#include "eval/samples/thresholds.h"
#include "eval/significance/significance.h"
#include "objective/catalogue.h"
#include "objective/formula.h"

namespace tandem::eval {
namespace {

using testing::DoubleEq;
using testing::HasSubstr;
using testing::Optional;

std::string Page() {
  return ReadFile(std::filesystem::path(TANDEM_SOURCE_DIR) / "docs" / "evaluation.md");
}

// "ROC, AUC and how it is pooled, and why".
TEST(Documentation, TwoQueriesThatRankWellAndShareNoThreshold) {
  const std::vector<QuerySamples> samples = {
      {.query = "a", .positives = {0.9}, .negatives = {0.8, 0.3}},
      {.query = "b", .positives = {0.5}, .negatives = {0.4, 0.2}}};
  EXPECT_THAT(QueryAuc(samples[0]), Optional(1.0));
  EXPECT_THAT(QueryAuc(samples[1]), Optional(1.0));
  EXPECT_THAT(PooledAuc(samples), Optional(7 / 8.0));
  EXPECT_THAT(PartialAuc(samples), Optional(0.5));
  EXPECT_THAT(PoolAveragePrecision(samples), Optional(DoubleEq(5 / 6.0)));
}

// "Choosing a threshold".
TEST(Documentation, ThresholdsOfTenDocuments) {
  const std::vector<QuerySamples> samples = {
      {.query = "a", .positives = {1.0, 0.5}, .negatives = {0.9, 0.4, 0.2}},
      {.query = "b", .positives = {0.8}, .negatives = {0.7, 0.6, 0.3, 0.1}}};
  const std::vector<double> floors(2, kNoFloor);
  const auto chosen =
      ChooseThresholds(PoolLevels(samples), LevelsOfCorpus(samples, floors, nullptr),
                       ParseTargets("precision=0.6,recall=1,fpr=0.3,results=4"), {.resamples = 10});
  std::string rows;
  for (const ChosenThreshold& each : chosen) {
    rows += fmt::format("| `{}` | {} | {:.2f} | {:.2f} | {:.2f} | {:.1f} |\n", each.target.name(),
                        *each.threshold, *each.values.precision, each.values.recall,
                        each.values.false_positive_rate, *each.values.results);
  }
  EXPECT_THAT(Page(), HasSubstr(rows)) << rows;
}

// "Comparing".
TEST(Documentation, FiveDifferencesByHand) {
  const std::vector<double> differences = {0.5, 0.25, 0.25, 0.125, -0.125};
  // Sums of at least 1: no sign turned, or that of one of the two smallest; and all of these
  // turned.
  const TestResult test = SignFlipTest(differences, {});
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.permutations, 32);
  EXPECT_DOUBLE_EQ(test.p_value, 6 / 32.0);
  EXPECT_NEAR(*CohensDz(differences), 0.881, 5e-4);
}

// --- MW paper, Lemma 1 ---------------------------------------------------------------------------

constexpr size_t kQueries = 300;
constexpr size_t kOthers = 20;

// Adds `spread` times a normal number to all scores of each query.
std::vector<QuerySamples> Shifted(double spread) {
  return NormalSamples(1, {.queries = kQueries, .others = kOthers, .shift = 2, .spread = spread});
}

double MeanNdcg(const std::vector<QuerySamples>& samples) {
  data::Run run;
  data::Qrels qrels;
  for (size_t q = 0; q < samples.size(); ++q) {
    const std::string query = fmt::format("q{}", q);
    const auto add = [&](std::string_view document, double score) {
      const std::string_view kept = run.Keep(document);
      run.AddQuery(query).results.push_back({kept, score});
    };
    add("positive", samples[q].positives[0]);
    qrels.Add(query, "positive", 1);
    for (size_t i = 0; i < kOthers; ++i) add(fmt::format("d{}", i), samples[q].negatives[i]);
  }
  return *EvaluateRun(run, qrels, ParseMeasures("ndcg@10"), {}).measures[0].mean;
}

// The objective, with each query's own positive and others as its allowed documents.
double InfoNceOf(const std::vector<QuerySamples>& samples) {
  const size_t documents = kQueries * (1 + kOthers);
  std::vector<double> scores(kQueries * documents);
  const auto negative = std::make_unique<bool[]>(kQueries * documents);
  std::vector<int64_t> positive(kQueries);
  for (size_t q = 0; q < kQueries; ++q) {
    const size_t first = q * documents + q * (1 + kOthers);
    positive[q] = static_cast<int64_t>(q * (1 + kOthers));
    scores[first] = samples[q].positives[0];
    for (size_t i = 0; i < kOthers; ++i) {
      scores[first + 1 + i] = samples[q].negatives[i];
      negative[first + 1 + i] = true;
    }
  }
  const objective::Batch batch{.queries = kQueries,
                               .documents = static_cast<int64_t>(documents),
                               .query_document = scores.data(),
                               .positive = positive.data(),
                               .negative = negative.get()};
  const objective::ObjectiveInfo& info =
      *config::FindEntry(objective::Objectives(), std::string_view("infonce"));
  config::Params params(info.params);
  params.Set("temperature", 1.0);
  return info.make(params)->Evaluate(batch, nullptr).loss;
}

TEST(Documentation, ShiftingTheScoresOfAQueryChangesPooledAucAlone) {
  const std::vector<QuerySamples> plain = Shifted(0);
  std::string rows;
  double last_auc = 1;
  for (const double spread : {0.0, 1.0, 3.0, 10.0, 100.0}) {
    const std::vector<QuerySamples> samples = Shifted(spread);
    const double auc = *PooledAuc(samples);
    rows += fmt::format("| {} | {:.4f} | {:.4f} | {:.4f} |\n", spread, MeanNdcg(samples),
                        InfoNceOf(samples), auc);
    EXPECT_DOUBLE_EQ(MeanNdcg(samples), MeanNdcg(plain));
    EXPECT_NEAR(InfoNceOf(samples), InfoNceOf(plain), 1e-9);
    EXPECT_LT(auc, last_auc);
    last_auc = auc;
  }
  EXPECT_NEAR(last_auc, 0.5, 0.02);
  EXPECT_THAT(Page(), HasSubstr(rows)) << rows;
}

}  // namespace
}  // namespace tandem::eval

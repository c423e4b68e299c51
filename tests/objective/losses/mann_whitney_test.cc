// The lemmas of the MW paper, and the score bank.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/random.h"
#include "objective/random_batch.h"

namespace tandem::objective {
namespace {

std::unique_ptr<const Formula> Make(std::string_view name, double temperature,
                                    const char* normalization = nullptr) {
  const ObjectiveInfo& info = FindObjective(name);
  config::Params params(info.params);
  EXPECT_EQ(params.Set("temperature", temperature), "");
  if (normalization != nullptr) {
    EXPECT_EQ(params.Set("normalization", std::string(normalization)), "");
  }
  return info.make(params);
}

// P(s+ > s-) over the pooled samples; ties count as lost, which only makes Lemma 2 harder.
double PooledAuc(const RandomBatch& batch) {
  double won = 0;
  double pairs = 0;
  for (size_t cell = 0; cell < batch.q * batch.d; ++cell) {
    if (!batch.negative[cell]) continue;
    for (size_t i = 0; i < batch.q; ++i) {
      won += batch.query_document[batch.Own(i)] > batch.query_document[cell] ? 1 : 0;
      pairs += 1;
    }
  }
  return won / pairs;
}

// Lemma 1: a shift of all scores of a query does not move InfoNCE, but the pooled AUC goes to 1/2.
TEST(MannWhitney, SeesTheShiftsThatInfoNceDoesNot) {
  RandomBatch batch(1, {.queries = 200, .documents = 400});
  for (size_t cell = 0; cell < batch.q * batch.d; ++cell) batch.query_document[cell] *= 0.1;
  for (size_t i = 0; i < batch.q; ++i) batch.query_document[batch.Own(i)] = 0.5;
  const auto infonce = Make("infonce", 0.1);
  const auto mann_whitney = Make("mann_whitney", 0.1);
  const double infonce_before = LossOf(*infonce, batch);
  const double mann_whitney_before = LossOf(*mann_whitney, batch);
  EXPECT_EQ(PooledAuc(batch), 1);

  RandomStream random({.seed = 2, .purpose = "shift"});
  for (size_t i = 0; i < batch.q; ++i) {
    const double shift = 1000 * random.Uniform();
    for (size_t j = 0; j < batch.d; ++j) batch.query_document[i * batch.d + j] += shift;
  }
  EXPECT_NEAR(LossOf(*infonce, batch), infonce_before, 1e-9);
  EXPECT_NEAR(PooledAuc(batch), 0.5, 0.01);
  EXPECT_GT(LossOf(*mann_whitney, batch), 1000 * mann_whitney_before);
}

// Lemma 2: 1 - AUC <= MW(mean) / ln 2 on every batch.
RC_GTEST_PROP(MannWhitney, BoundsTheAuc, ()) {
  const auto seed = *rc::gen::inRange<uint64_t>(0, 1000000);
  const auto queries = *rc::gen::inRange<int64_t>(1, 9);
  RandomBatch batch(seed, {.queries = queries, .documents = queries + 6});
  const double grid = *rc::gen::element(0.0, 0.25, 1.0);  // ties: everything, some, few
  for (double& score : batch.query_document) {
    score = grid == 1 ? score : std::round(score / (grid + 1e-3)) * grid;
  }
  const double temperature = *rc::gen::element(0.001, 0.01, 0.1, 1.0);
  const double loss = LossOf(*Make("mann_whitney", temperature), batch);
  bool any = false;
  for (size_t cell = 0; cell < batch.q * batch.d; ++cell) any = any || batch.negative[cell];
  RC_PRE(any);
  RC_ASSERT(1 - PooledAuc(batch) <= loss / std::log(2.0) * (1 + 1e-12));
}

// The whole sum written out, as the tiled form must give it.
double DirectSum(const RandomBatch& batch, double temperature) {
  std::vector<double> negatives = batch.bank_negatives;
  std::vector<double> positives = batch.bank_positives;
  for (size_t cell = 0; cell < batch.q * batch.d; ++cell) {
    if (batch.negative[cell]) negatives.push_back(batch.query_document[cell]);
  }
  for (size_t i = 0; i < batch.q; ++i) positives.push_back(batch.query_document[batch.Own(i)]);
  double sum = 0;
  for (const double positive : positives) {
    for (const double negative : negatives) {
      sum += std::log1p(std::exp((negative - positive) / temperature));
    }
  }
  return sum / static_cast<double>(positives.size());
}

TEST(MannWhitney, CoversEveryPairAcrossTilesAndBanks) {
  RandomBatch batch(6, {.queries = 70, .documents = 310});
  RandomStream random({.seed = 3, .purpose = "bank"});
  for (int i = 0; i < 37; ++i) batch.bank_positives.push_back(random.Uniform());
  for (int i = 0; i < 2100; ++i) batch.bank_negatives.push_back(random.Uniform() - 1);
  const double expected = DirectSum(batch, 0.5);
  EXPECT_NEAR(LossOf(*Make("mann_whitney", 0.5, "sum"), batch), expected, 1e-11 * expected);
  const Evaluation mean = Make("mann_whitney", 0.5)->Evaluate(batch.View(), nullptr);
  const double negatives = mean.count / (70 + 37);
  EXPECT_NEAR(mean.loss, expected / negatives, 1e-11);
}

TEST(MannWhitney, BankedScoresShareInTheGradientOfTheBatch) {
  RandomBatch batch(8, {});
  batch.bank_positives = {0.3, -0.2};
  batch.bank_negatives = {0.9, 0.1, -0.4};
  const auto formula = Make("mann_whitney", 0.1);
  const Graded graded = EvaluateWithGradient(*formula, batch);
  constexpr double kStep = 1e-6;
  for (size_t cell = 0; cell < batch.q * batch.d; ++cell) {
    RandomBatch moved = batch;
    moved.query_document[cell] += kStep;
    const double above = LossOf(*formula, moved);
    moved.query_document[cell] -= 2 * kStep;
    const double difference = (above - LossOf(*formula, moved)) / (2 * kStep);
    EXPECT_NEAR(difference, graded.query_document[cell], 1e-7);
  }
}

}  // namespace
}  // namespace tandem::objective

// What an objective learns, on given embeddings: its gradients, its start, and the scores beside
// it.
#include "objective/embedding_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tensor/core/dtype.h"

namespace tandem::objective {
namespace {

constexpr int64_t kQueries = 4, kDocuments = 6, kWidth = 5;

Matrix<double> RandomMatrix(int64_t rows, int64_t columns, uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = "embedding loss test"});
  Matrix<double> matrix{.rows = rows, .columns = columns};
  for (int64_t i = 0; i < rows * columns; ++i) matrix.values.push_back(2 * random.Uniform() - 1);
  return matrix;
}

// The paired documents are labelled with grades 1, 1/2, 1/3, ...; all others are negatives.
EmbeddingBatch GradedBatch(std::string_view objective) {
  EmbeddingBatch batch{.objective = &FindObjective(objective)};
  batch.params = config::Params(batch.objective->params);
  batch.queries = RandomMatrix(kQueries, kWidth, 1);
  batch.documents = RandomMatrix(kDocuments, kWidth, 2);
  const auto cells = static_cast<size_t>(kQueries * kDocuments);
  batch.relevance = {kQueries, kDocuments, std::vector<double>(cells)};
  batch.labelled = {kQueries, kDocuments, std::vector<uint8_t>(cells)};
  batch.negative = {kQueries, kDocuments, std::vector<uint8_t>(cells, 1)};
  for (int64_t row = 0; row < kQueries; ++row) {
    const auto own = static_cast<size_t>(row * kDocuments + row);
    batch.positive.push_back(row);
    batch.relevance.values[own] = 1 / static_cast<double>(1 + row);
    batch.labelled.values[own] = 1;
    batch.negative.values[own] = 0;
  }
  return batch;
}

EmbeddingLoss LossWith(EmbeddingBatch batch, double scale, double bias) {
  batch.scale = scale;
  batch.bias = bias;
  return EvaluateEmbeddings(batch, tensor::kDouble);
}

TEST(EmbeddingLoss, GradientsOfScaleAndBiasAreThoseOfCentralDifferences) {
  constexpr double kScale = 7, kBias = -1.5, kStep = 1e-5;
  const EmbeddingBatch batch = GradedBatch("bixse");
  const EmbeddingLoss loss = LossWith(batch, kScale, kBias);
  const auto slope = [&](double scale_step, double bias_step) {
    return (LossWith(batch, kScale + scale_step, kBias + bias_step).loss -
            LossWith(batch, kScale - scale_step, kBias - bias_step).loss) /
           (2 * kStep);
  };
  EXPECT_NEAR(loss.grad_scale, slope(kStep, 0), 1e-8);
  EXPECT_NEAR(loss.grad_bias, slope(0, kStep), 1e-8);
  EXPECT_EQ(loss.bias, kBias);
}

TEST(EmbeddingLoss, ScoreBanksHoldFiniteNumbersOfAnObjectiveThatHasOne) {
  EmbeddingBatch batch = GradedBatch("mann_whitney");
  batch.bank_negatives = {0.5, -0.25};
  EXPECT_EQ(ValuesProblem(batch).text, "");
  batch.bank_negatives.push_back(NAN);
  EXPECT_EQ(ValuesProblem(batch).field, "parameters.bank_negatives");
  EXPECT_EQ(ValuesProblem(batch).text, "must be finite, found nan");
  EmbeddingBatch other = GradedBatch("bixse");
  EXPECT_EQ(ValuesProblem(other).text, "");
  other.bank_positives = {0.5};
  EXPECT_EQ(ValuesProblem(other).field, "parameters.bank_positives");
}

TEST(EmbeddingLoss, WithoutABiasThatOfTheBatchIsTaken) {
  EmbeddingBatch batch = GradedBatch("bixse");
  batch.scale = 7;
  const EmbeddingLoss loss = EvaluateEmbeddings(batch, tensor::kDouble);
  const auto* scores = loss.query_document.data_ptr<double>();
  double score = 0, grade = 0;
  for (size_t i = 0; i < batch.relevance.values.size(); ++i) {
    score += scores[i] / (kQueries * kDocuments);
    grade += batch.relevance.values[i] / (kQueries * kDocuments);
  }
  EXPECT_NEAR(loss.bias, std::log(grade / (1 - grade)) - 7 * score, 1e-12);
  batch.bias = loss.bias;
  EXPECT_EQ(EvaluateEmbeddings(batch, tensor::kDouble).loss, loss.loss);
}

TEST(EmbeddingLoss, WhatIsLearnedGoesBeforeTheParameters) {
  EmbeddingBatch batch = GradedBatch("bixse");
  ASSERT_EQ(SetParameter(batch, "bias", 0.25).text, "");
  EXPECT_EQ(EvaluateEmbeddings(batch, tensor::kDouble).bias, 0.25);
  batch.bias = -3;
  EXPECT_EQ(EvaluateEmbeddings(batch, tensor::kDouble).bias, -3);
}

TEST(EmbeddingLoss, AnObjectiveWithoutThemHasNoGradientsOfThem) {
  const EmbeddingLoss loss = LossWith(GradedBatch("infonce"), 3, 4);
  EXPECT_EQ(loss.grad_scale, 0);
  EXPECT_EQ(loss.grad_bias, 0);
  EXPECT_EQ(loss.bias, 0);
}

}  // namespace
}  // namespace tandem::objective

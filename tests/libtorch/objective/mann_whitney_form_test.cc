// The device form of the Mann-Whitney loss against every pair by itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "libtorch/objective/asked_forms.h"

namespace tandem::objective {
namespace {

Variant MannWhitney(double temperature, const char* form) {
  config::Params params(kMannWhitney.params);
  EXPECT_EQ(params.Set("temperature", temperature) + params.Set("form", std::string(form)), "");
  return {&kMannWhitney, params, fmt::format("temperature {}", temperature)};
}

// Scores like cosines; with ties; with outliers; far from 0.
double ScoreOf(double score, int kind, size_t cell) {
  if (kind == 1) return std::round(score * 8) / 8;
  if (kind == 2 && cell % 10 == 0) return score * 1e4;
  return kind == 3 ? score + 1e4 : score;
}

// The bound that mann_whitney_pairs.h states. `share`: the pairs of a sum over its divisor.
void ExpectWithinBound(double got, double want, double share) {
  EXPECT_NEAR(got, want, 2e-12 * std::fabs(want) + std::exp(-40.0) * share);
}

TEST(DeviceMannWhitney, IsWithinTheBoundOfTheFastFormOfEveryPairByItself) {
  for (const double temperature : {0.001, 0.01, 0.1, 1.0}) {
    for (const int kind : {0, 1, 2, 3}) {
      SCOPED_TRACE(fmt::format("temperature {}, kind {}", temperature, kind));
      RandomBatch batch(6, {.queries = 40, .documents = 310});
      for (size_t cell = 0; cell < batch.query_document.size(); ++cell) {
        batch.query_document[cell] = ScoreOf(batch.query_document[cell], kind, cell);
      }
      for (size_t i = 0; i < 2100; ++i) {
        batch.bank_negatives.push_back(batch.query_document[i * 5] - 0.1);
      }
      for (size_t i = 0; i < batch.q; ++i) {
        batch.bank_positives.push_back(batch.query_document[i * 7]);
        batch.weights.push_back(0.1 * static_cast<double>(i));
      }
      const Said want = Ask(MannWhitney(temperature, "tiled"), Forms::kHost, batch);
      const Said got = Ask(MannWhitney(temperature, "fast"), Forms::kDevice, batch);
      EXPECT_EQ(got.count, want.count);
      ExpectWithinBound(got.loss, want.loss, 4);
      for (size_t i = 0; i < batch.q; ++i) ExpectWithinBound(got.losses[i], want.losses[i], 1);
      for (size_t cell = 0; cell < batch.query_document.size(); ++cell) {
        ExpectWithinBound(got.gradients[0][cell], want.gradients[0][cell], 12 / temperature);
      }
    }
  }
}

TEST(DeviceMannWhitney, RefusesScoresThatAreTooFarOutForCells) {
  for (const double far : {1e15, -1e15}) {
    RandomBatch batch(18, {});
    batch.bank_negatives = {0.1, far};
    const std::string message = ErrorOf(MannWhitney(0.01, "fast"), Forms::kDevice, batch);
    EXPECT_EQ(message, ErrorOf(MannWhitney(0.01, "fast"), Forms::kHost, batch));
    EXPECT_NE(message.find("more than 2^50 times the temperature"), std::string::npos) << message;
    EXPECT_EQ(ErrorOf(MannWhitney(0.01, "tiled"), Forms::kDevice, batch), "");
  }
}

}  // namespace
}  // namespace tandem::objective

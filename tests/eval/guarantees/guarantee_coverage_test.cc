// Whether promises are kept, over many calibrations of queries that are drawn at random.
//
// No tolerance here was looked for: each test asks whether the outcome would be rarer than 1e-9 if
// the promise were kept, by the exact binomial or by the bound for means of [0, 1].
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "eval/guarantees/guarantee_rows.h"
#include "eval/guarantees/hoeffding_bentkus.h"
#include "eval/guarantees/no_answer_guarantee.h"
#include "eval/guarantees/precision_guarantee.h"
#include "eval/guarantees/query_drift.h"
#include "eval/guarantees/recall_guarantee.h"

namespace tandem::eval {
namespace {

constexpr double kRare = 1e-9;

// P(X >= hits) of a binomial X.
double UpperTailOf(size_t hits, size_t trials, double p) {
  return hits == 0 ? 1 : 1 - BinomialCdf(hits - 1, trials, p);
}

// One to three positives with uniform scores, higher on average for a query with a `lift`.
GuaranteeRow DrawRow(RandomStream& random, size_t most_positives) {
  GuaranteeRow row;
  row.positives = 1 + random.Below(most_positives);
  const double lift = random.Uniform();
  for (size_t i = 0; i < row.positives; ++i) {
    row.documents.push_back({lift + random.Uniform(), true});
  }
  return row;
}

struct RecallOutcome {
  double missed = 0;  // sum over repetitions of the loss of one new query
  size_t repetitions = 0;
};

RecallOutcome MissedOf(size_t most_positives, size_t queries, double risk) {
  RandomStream random({.seed = 7, .purpose = "recall coverage"});
  RecallOutcome outcome{.repetitions = 20000};
  for (size_t r = 0; r < outcome.repetitions; ++r) {
    std::vector<GuaranteeRow> rows;
    for (size_t q = 0; q < queries; ++q) rows.push_back(DrawRow(random, most_positives));
    const RecallThreshold chosen = ChooseRecallThreshold(rows, risk);
    outcome.missed += MissedShare(DrawRow(random, most_positives), chosen.threshold.value());
  }
  return outcome;
}

TEST(GuaranteeCoverage, RecallIsKept) {
  for (const size_t most_positives : {1U, 3U}) {
    const RecallOutcome outcome = MissedOf(most_positives, 20, 0.1);
    const Interval mean = BoundedMeanInterval(outcome.missed, outcome.repetitions, 1 - 2 * kRare);
    EXPECT_LE(mean.low, 0.1) << most_positives;
  }
}

// With one positive a query, two of 20 + 1 exchangeable scores are below the second lowest.
TEST(GuaranteeCoverage, RecallPromisesNoMoreThanItMust) {
  const RecallOutcome outcome = MissedOf(1, 20, 0.1);
  const Interval mean = BoundedMeanInterval(outcome.missed, outcome.repetitions, 1 - 2 * kRare);
  EXPECT_LE(mean.low, 2.0 / 21);
  EXPECT_GE(mean.high, 2.0 / 21);
}

// One document a query, with a uniform score s and right with probability s: what a threshold L
// shows is wrong with probability (1 - L)^2 / 2.
TEST(GuaranteeCoverage, PrecisionIsBrokenNoMoreOftenThanPromised) {
  constexpr size_t kRepetitions = 2000, kQueries = 100;
  constexpr double kRisk = 0.1, kConfidence = 0.8;
  RandomStream random({.seed = 7, .purpose = "precision coverage"});
  std::vector<double> grid;
  for (int i = 64; i >= 0; --i) grid.push_back(static_cast<double>(i) / 64);
  size_t broken = 0;
  double risks = 0;
  for (size_t r = 0; r < kRepetitions; ++r) {
    std::vector<GuaranteeRow> rows(kQueries);
    for (GuaranteeRow& row : rows) {
      const double score = random.Uniform();
      row.documents.push_back({score, random.Uniform() < score});
    }
    const double threshold =
        ChoosePrecisionThreshold(rows, {kRisk, kConfidence}, grid).threshold.value();
    const double risk = (1 - threshold) * (1 - threshold) / 2;
    broken += risk > kRisk ? 1 : 0;
    risks += risk;
  }
  EXPECT_GE(UpperTailOf(broken, kRepetitions, 1 - kConfidence), kRare) << broken;
  // It is no empty promise: half of the risk and more is used.
  EXPECT_GT(risks / kRepetitions, kRisk / 2);
}

TEST(GuaranteeCoverage, NoAnswerIsKept) {
  constexpr size_t kRepetitions = 20000, kQueries = 30;
  RandomStream random({.seed = 7, .purpose = "no-answer coverage"});
  size_t answered = 0;
  for (size_t r = 0; r < kRepetitions; ++r) {
    std::vector<double> best(kQueries);
    for (double& score : best) score = static_cast<float>(random.Uniform());
    const double threshold = ChooseNoAnswerThreshold(best, 0.1).value();
    answered += static_cast<float>(random.Uniform()) >= threshold ? 1 : 0;
  }
  // The chance is 3/31: three of 30 + 1 exchangeable scores are above the fourth highest.
  EXPECT_GE(UpperTailOf(answered, kRepetitions, 3.0 / 31), kRare) << answered;
  EXPECT_GE(BinomialCdf(answered, kRepetitions, 3.0 / 31), kRare) << answered;
}

TEST(GuaranteeCoverage, TheAlarmIsSeldomFalse) {
  constexpr size_t kRepetitions = 1500, kCalibration = 40, kServed = 250;
  RandomStream random({.seed = 7, .purpose = "drift coverage"});
  size_t alarms = 0;
  for (size_t r = 0; r < kRepetitions; ++r) {
    std::vector<float> best(kCalibration);
    // Every third score is the same, so that ties count.
    const auto draw = [&random] {
      return random.Below(3) == 0 ? 0.5F : static_cast<float>(random.Uniform());
    };
    for (float& score : best) score = draw();
    QueryDrift drift(best, r);
    for (size_t q = 0; q < kServed; ++q) drift.Add(draw());
    alarms += drift.alarm() ? 1 : 0;
  }
  EXPECT_GE(UpperTailOf(alarms, kRepetitions, 1 / QueryDrift::kAlarm), kRare) << alarms;
}

}  // namespace
}  // namespace tandem::eval

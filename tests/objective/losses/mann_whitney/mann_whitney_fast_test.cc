// The fast form of the Mann-Whitney sums against every pair written out.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "objective/losses/mann_whitney/mann_whitney_pairs.h"
#include "objective/losses/mann_whitney/pair_expansion.h"
#include "objective/losses/mann_whitney/score_cells.h"
#include "objective/pair_sums.h"
#include "objective/random_batch.h"

namespace tandem::objective {
namespace {

struct Direct {
  double loss = 0;
  std::vector<double> positive_losses, positive_slopes, negative_slopes;
};

// log(1 + e^x) and its slope, written out for every pair. Positives weigh as `weights` say, those
// after its end 1.
Direct SumDirectly(const std::vector<double>& positives, const std::vector<double>& negatives,
                   const std::vector<double>& weights, double temperature) {
  Direct sums{0, std::vector<double>(positives.size()), std::vector<double>(positives.size()),
              std::vector<double>(negatives.size())};
  for (size_t i = 0; i < positives.size(); ++i) {
    const double weight = i < weights.size() ? weights[i] : 1;
    for (size_t n = 0; n < negatives.size(); ++n) {
      const double x = (negatives[n] - positives[i]) / temperature;
      const double e = std::exp(-std::fabs(x));
      const double loss = std::max(x, 0.0) + std::log1p(e);
      sums.positive_losses[i] += loss;
      const double slope = (x >= 0 ? 1 : e) / (1 + e);
      sums.positive_slopes[i] += slope;
      sums.negative_slopes[n] += weight * slope;
    }
    // One running sum over all pairs would be off by more than the bound where they are equal.
    sums.loss += weight * sums.positive_losses[i];
  }
  return sums;
}

// The bound that mann_whitney_pairs.h states.
bool Within(double got, double want, double weight_of_pairs) {
  return std::fabs(got - want) <= 2e-12 * want + std::exp(-40.0) * weight_of_pairs;
}

void ExpectWithinBound(const std::vector<double>& positives, const std::vector<double>& negatives,
                       const std::vector<double>& weights, double temperature) {
  PairBatch batch(positives, negatives);
  batch.weights = weights;
  const PairSums fast = SumPairsFast(batch.Task(temperature));
  const Direct direct = SumDirectly(positives, negatives, weights, temperature);
  const auto count = static_cast<double>(negatives.size());
  const double weight = std::accumulate(weights.begin(), weights.end(), 0.0) +
                        static_cast<double>(positives.size() - weights.size());
  RC_ASSERT(Within(fast.loss, direct.loss, weight * count));
  for (size_t i = 0; i < positives.size(); ++i) {
    RC_ASSERT(Within(fast.positive_losses[i], direct.positive_losses[i], count));
    RC_ASSERT(Within(fast.positive_slopes[i], direct.positive_slopes[i], count));
  }
  for (size_t n = 0; n < negatives.size(); ++n) {
    RC_ASSERT(Within(batch.negative_slopes()[n], direct.negative_slopes[n], weight));
  }
}

// Weighs the first positives, or none; some weights are 0.
std::vector<double> Weights(size_t positives, RandomStream& random) {
  std::vector<double> weights(random.Below(2) == 0 ? 0 : random.Below(positives + 1));
  for (double& weight : weights) {
    weight = random.Below(4) == 0 ? 0 : std::pow(10, 3 * random.Uniform());
  }
  return weights;
}

// Draws scores like cosines; some kinds have ties, outliers, or one value only.
std::vector<double> Scores(size_t count, int kind, RandomStream& random) {
  std::vector<double> scores(count);
  for (double& score : scores) {
    score = 2 * random.Uniform() - 1;
    if (kind == 1) score = std::round(score * 8) / 8;
    if (kind == 2 && random.Uniform() < 0.1) score *= 1e4;
    if (kind == 3) score = 0.25;
    if (kind == 4) score += 1e4;
  }
  return scores;
}

RC_GTEST_PROP(MannWhitneyFast, IsWithinItsBoundOfEveryPairWrittenOut, ()) {
  const auto seed = *rc::gen::inRange<uint64_t>(0, 1000000);
  const auto kind = *rc::gen::inRange(0, 5);
  const auto few = [] {
    return rc::gen::oneOf(rc::gen::just<size_t>(1), rc::gen::inRange<size_t>(2, 400));
  };
  const size_t positives = *few();
  const size_t negatives = *few();
  const double temperature = std::pow(10.0, *rc::gen::inRange(-30, 1) / 10.0);  // 1e-3 ... 1
  RandomStream random({.seed = seed, .purpose = "pairs"});
  const std::vector<double> p = Scores(positives, kind, random);
  const std::vector<double> n = Scores(negatives, kind, random);
  ExpectWithinBound(p, n, Weights(positives, random), temperature);
}

TEST(MannWhitneyFast, AgreesWithTheTiledFormOnABatchWithBanks) {
  for (const double temperature : {0.001, 0.01, 0.1, 1.0}) {
    RandomBatch batch(6, {.queries = 40, .documents = 310});
    RandomStream random({.seed = 3, .purpose = "bank"});
    for (int i = 0; i < 37; ++i) batch.bank_positives.push_back(random.Uniform());
    for (int i = 0; i < 2100; ++i) batch.bank_negatives.push_back(random.Uniform() - 1);
    for (size_t i = 0; i < batch.q; ++i) batch.weights.push_back(2 * random.Uniform());
    const auto make = [&](const char* form) {
      config::Params params(kMannWhitney.params);
      EXPECT_EQ(params.Set("temperature", temperature) + params.Set("form", std::string(form)), "");
      return EvaluateWithGradient(*kMannWhitney.make(params), batch);
    };
    const Graded tiled = make("tiled");
    const Graded fast = make("fast");
    EXPECT_NEAR(fast.evaluation.loss, tiled.evaluation.loss, 1e-12 * tiled.evaluation.loss);
    EXPECT_EQ(fast.evaluation.count, tiled.evaluation.count);
    ASSERT_EQ(fast.evaluation.losses.size(), batch.q);
    for (size_t i = 0; i < batch.q; ++i) {
      EXPECT_NEAR(fast.evaluation.losses[i], tiled.evaluation.losses[i],
                  1e-12 * tiled.evaluation.losses[i]);
    }
    for (size_t cell = 0; cell < batch.q * batch.d; ++cell) {
      EXPECT_NEAR(fast.query_document[cell], tiled.query_document[cell],
                  1e-12 * std::fabs(tiled.query_document[cell]) + 1e-17);
    }
  }
}

TEST(MannWhitneyFast, GivesTheSameBitsForAnyNumberOfThreads) {
  RandomStream random({.seed = 5, .purpose = "pairs"});
  // Few cells, and more than moments are summed in parallel for.
  for (const double temperature : {0.05, 1e-6}) {
    PairBatch batch(Scores(20000, 0, random), Scores(30000, 0, random));
    const PairSums one = SumPairsFast(batch.Task(temperature, 1));
    const std::vector<double> slopes = batch.negative_slopes();
    const PairSums three = SumPairsFast(batch.Task(temperature, 3));
    EXPECT_EQ(one.loss, three.loss);
    EXPECT_TRUE(one.positive_losses == three.positive_losses);
    EXPECT_TRUE(one.positive_slopes == three.positive_slopes);
    EXPECT_TRUE(slopes == batch.negative_slopes());
  }
}

TEST(MannWhitneyFast, GivesTheSameLossWithoutGradient) {
  RandomStream random({.seed = 6, .purpose = "pairs"});
  PairBatch batch(Scores(50, 0, random), Scores(60, 2, random));
  PairTask task = batch.Task(0.1);
  const PairSums whole = SumPairsFast(task);
  task.cell_gradient = nullptr;
  const PairSums alone = SumPairsFast(task);
  EXPECT_EQ(alone.loss, whole.loss);
  EXPECT_EQ(alone.positive_losses, whole.positive_losses);
  EXPECT_TRUE(alone.positive_slopes.empty());
}

TEST(MannWhitneyFast, RefusesScoresThatAreTooFarOut) {
  PairBatch batch({0.5}, std::vector<double>{0.1, 1e15});
  EXPECT_THROW(SumPairsFast(batch.Task(0.01)), NumericError);
}

TEST(ScoreGrid, KeepsThePositionOfAScoreFarFromZero) {
  const ScoreGrid grid(0.001);
  for (const double score : {0.0004, 1e4 + 0.0005, -1e4 - 0.0013}) {
    const int64_t cell = grid.CellOf(score);
    const double position = grid.PositionIn(cell, score);
    EXPECT_LE(std::fabs(position), 1 + 1e-6);
    // The middle of the table's cell is not a double here; long double holds it.
    const long double middle = (2.0L * static_cast<long double>(cell) + 1) * 0.001;
    EXPECT_NEAR(position, static_cast<double>((score - middle) / 0.001), 1e-9);
  }
}

TEST(CellSet, NumbersCellsInAscendingOrder) {
  CellSet set;
  RandomStream random({.seed = 7, .purpose = "cells"});
  std::vector<int64_t> cells;
  for (int i = 0; i < 500; ++i) {
    // Many scores that fall into the same cell of the table.
    cells.push_back(static_cast<int64_t>(random.Below(40)) * 4096 - 80000 + i % 3);
    set.Add(cells.back());
    set.Add(cells.back());
  }
  set.Sort();
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  ASSERT_EQ(set.size(), cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(set.cell(i), cells[i]);
    EXPECT_EQ(set.IndexOf(cells[i]), i);
  }
}

}  // namespace
}  // namespace tandem::objective

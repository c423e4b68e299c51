// Losses of single queries, and weights of queries, in every objective of the catalogue.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "objective/catalogue.h"
#include "objective/central_differences.h"
#include "objective/random_batch.h"

namespace tandem::objective {
namespace {

constexpr uint64_t kWeightSeeds = 4;

// Weights from 0 to 3, one of them 0.
std::vector<double> SomeWeights(size_t queries, uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = "weights"});
  std::vector<double> weights(queries);
  for (double& weight : weights) weight = 3 * random.Uniform();
  weights[random.Below(queries)] = 0;
  return weights;
}

std::vector<double> Only(size_t query, size_t queries) {
  std::vector<double> weights(queries);
  weights[query] = 1;
  return weights;
}

RandomBatch Weighted(RandomBatch batch, std::vector<double> weights) {
  batch.weights = std::move(weights);
  return batch;
}

// A batch whose bias does not move with the scores.
RandomBatch FixedBias(const Variant& variant, uint64_t seed) {
  RandomBatch batch(seed, {});
  SpreadScores(batch);
  if (variant.info->StatesOf(variant.params).logistic) {
    batch.scale = 3;
    batch.bias = -0.5;
  }
  return batch;
}

// Query `row` by itself, against all documents.
RandomBatch RowAlone(const RandomBatch& batch, size_t row) {
  RandomBatch alone(0, {.queries = 1, .documents = static_cast<int64_t>(batch.d)});
  alone.positive = {batch.positive[row]};
  for (size_t j = 0; j < batch.d; ++j) {
    const size_t cell = row * batch.d + j;
    alone.query_document[j] = batch.query_document[cell];
    alone.grades[j] = batch.grades[cell];
    alone.teacher[j] = batch.teacher[cell];
    alone.labelled[j] = batch.labelled[cell];
    alone.negative[j] = batch.negative[cell];
  }
  alone.scale = batch.scale;
  alone.bias = batch.bias;
  return alone;
}

// Says whether a query's loss needs nothing of a batch but its own row of query_document.
bool SeesItsRowOnly(const Variant& variant) {
  const Needs needs = variant.needs();
  const bool both =
      variant.params.Knows("directions") && variant.params.String("directions") == "both";
  return variant.info != &kMannWhitney && !both && !needs.query_query && !needs.document_document;
}

// Says how many terms each query has in a loss with `count` of them.
std::vector<double> TermsOf(const Formula& formula, const RandomBatch& batch, double count) {
  const auto queries = static_cast<double>(batch.q);
  std::vector<double> terms(batch.q, count / queries);
  if (count == queries) return terms;  // one each
  std::vector<double> own;
  for (size_t i = 0; i < batch.q; ++i) {
    own.push_back(formula.Evaluate(RowAlone(batch, i).View(), nullptr).count);
  }
  // The Mann-Whitney loss takes negatives of all rows: each query has as many pairs as any other.
  const double of_rows = std::accumulate(own.begin(), own.end(), 0.0);
  return of_rows * queries == count ? terms : own;
}

void ExpectEqual(const Graded& got, const Graded& want) {
  EXPECT_EQ(got.evaluation.loss, want.evaluation.loss);
  EXPECT_EQ(got.evaluation.count, want.evaluation.count);
  EXPECT_EQ(got.evaluation.losses, want.evaluation.losses);
  EXPECT_EQ(got.query_document, want.query_document);
  EXPECT_EQ(got.query_query, want.query_query);
  EXPECT_EQ(got.document_document, want.document_document);
  EXPECT_EQ(got.scale, want.scale);
  EXPECT_EQ(got.bias, want.bias);
}

TEST(WeightsOfEveryObjective, OnesGiveTheBitsOfNone) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    for (uint64_t seed = 0; seed < kWeightSeeds; ++seed) {
      RandomBatch batch(seed, {});
      batch.bank_positives = {0.1, -0.3};
      batch.bank_negatives = {0.2, 0.4, -0.9};
      const Graded want = EvaluateWithGradient(formula, batch);
      ExpectEqual(EvaluateWithGradient(formula, Weighted(batch, std::vector<double>(batch.q, 1))),
                  want);
    }
  });
}

TEST(WeightsOfEveryObjective, HaveTheGradientOfCentralDifferences) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    for (uint64_t seed = 0; seed < kWeightSeeds; ++seed) {
      RandomBatch batch = FixedBias(variant, seed);
      batch.weights = SomeWeights(batch.q, seed);
      const Graded graded = EvaluateWithGradient(formula, batch);
      ExpectCentralDifferences(formula, batch, batch.query_document, graded.query_document, "qd");
      ExpectCentralDifferences(formula, batch, batch.query_query, graded.query_query, "qq");
      ExpectCentralDifferences(formula, batch, batch.document_document, graded.document_document,
                               "dd");
    }
  });
}

TEST(WeightsOfEveryObjective, WeighTheGradientOfItsStates) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    if (!variant.info->StatesOf(variant.params).logistic) return;
    RandomBatch batch = FixedBias(variant, 3);
    batch.weights = SomeWeights(batch.q, 3);
    const Graded graded = EvaluateWithGradient(formula, batch);
    const auto expect = [&](std::optional<double>& state, double gradient) {
      constexpr double kStep = 1e-5;
      const double value = *state;
      state = value + kStep;
      const double above = LossOf(formula, batch);
      state = value - kStep;
      const double below = LossOf(formula, batch);
      state = value;
      EXPECT_NEAR((above - below) / (2 * kStep), gradient, 1e-7);
    };
    expect(batch.scale, graded.scale);
    expect(batch.bias, graded.bias);
  });
}

// loss = 1/count sum_i w_i n_i losses[i], for any weights.
TEST(LossesOfEveryObjective, AddUpToTheLoss) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    for (uint64_t seed = 0; seed < kWeightSeeds; ++seed) {
      const RandomBatch batch = FixedBias(variant, seed);
      const Evaluation plain = formula.Evaluate(batch.View(), nullptr);
      const std::vector<double> terms = TermsOf(formula, batch, plain.count);
      EXPECT_NEAR(std::accumulate(terms.begin(), terms.end(), 0.0), plain.count, 1e-9);
      ASSERT_EQ(plain.losses.size(), batch.q);
      std::vector<std::vector<double>> all = {std::vector<double>(batch.q, 1),
                                              SomeWeights(batch.q, seed)};
      for (size_t i = 0; i < batch.q; ++i) all.push_back(Only(i, batch.q));
      for (const std::vector<double>& weights : all) {
        const RandomBatch weighted = Weighted(batch, weights);
        const Evaluation got = formula.Evaluate(weighted.View(), nullptr);
        double want = 0;
        for (size_t i = 0; i < batch.q; ++i) {
          want += weights[i] * terms[i] * plain.losses[i] / plain.count;
        }
        EXPECT_NEAR(got.loss, want, 1e-12 * std::max(1.0, std::fabs(want)));
        EXPECT_EQ(got.count, plain.count);
        EXPECT_EQ(got.losses, plain.losses);  // whatever they weigh
      }
    }
  });
}

TEST(LossesOfEveryObjective, AreThoseOfEachQueryAloneWhereItSeesItsRowOnly) {
  size_t seen = 0;
  ForEveryVariant([&](const Variant& variant, const Formula& formula) {
    if (!SeesItsRowOnly(variant)) return;
    ++seen;
    const RandomBatch batch = FixedBias(variant, 5);
    const Evaluation whole = formula.Evaluate(batch.View(), nullptr);
    for (size_t i = 0; i < batch.q; ++i) {
      const double alone = LossOf(formula, RowAlone(batch, i));
      EXPECT_NEAR(whole.losses[i], alone, 1e-13 * std::max(1.0, std::fabs(alone)));
    }
  });
  EXPECT_GE(seen, 12u);  // variants of seven objectives
}

TEST(LossesOfEveryObjective, AreTheSameBitsForAnyNumberOfThreadsAndWithAGradient) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    RandomBatch batch(5, {.queries = 90, .documents = 700});
    batch.weights = SomeWeights(batch.q, 5);
    const Graded one = EvaluateWithGradient(formula, batch, 1);
    ExpectEqual(EvaluateWithGradient(formula, batch, 3), one);
    EXPECT_EQ(formula.Evaluate(batch.View(), nullptr).losses, one.evaluation.losses);
  });
}

// The loss is linear in the weights, and so is its gradient.
TEST(WeightsOfEveryObjective, EnterLinearly) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    const RandomBatch batch = FixedBias(variant, 6);
    const std::vector<double> weights = SomeWeights(batch.q, 6);
    Graded sum(batch);
    for (size_t i = 0; i < batch.q; ++i) {
      const Graded one = EvaluateWithGradient(formula, Weighted(batch, Only(i, batch.q)));
      sum.evaluation.loss += weights[i] * one.evaluation.loss;
      for (size_t cell = 0; cell < sum.query_document.size(); ++cell) {
        sum.query_document[cell] += weights[i] * one.query_document[cell];
      }
      for (size_t cell = 0; cell < sum.query_query.size(); ++cell) {
        sum.query_query[cell] += weights[i] * one.query_query[cell];
        sum.document_document[cell] += weights[i] * one.document_document[cell];
      }
    }
    const Graded got = EvaluateWithGradient(formula, Weighted(batch, weights));
    EXPECT_NEAR(got.evaluation.loss, sum.evaluation.loss,
                1e-13 * std::max(1.0, std::fabs(sum.evaluation.loss)));
    const auto expect_near = [](const std::vector<double>& a, const std::vector<double>& b) {
      const double bound = 1e-13 * LargestMagnitude(b);
      for (size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(a[i], b[i], bound) << i;
    };
    expect_near(got.query_document, sum.query_document);
    expect_near(got.query_query, sum.query_query);
    expect_near(got.document_document, sum.document_document);
  });
}

// Nothing goes through the paired document of a query that weighs nothing. Where the loss is a mean
// over queries of what each says alone, nothing goes through its rows.
TEST(WeightsOfEveryObjective, AQueryThatWeighsNothingHasNoGradient) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    RandomBatch batch = FixedBias(variant, 7);
    batch.weights.assign(batch.q, 2);
    batch.weights[3] = 0;
    const Graded graded = EvaluateWithGradient(formula, batch);
    EXPECT_EQ(graded.query_document[batch.Own(3)], 0);
    if (!variant.needs().separable_by_row && !SeesItsRowOnly(variant)) return;
    for (size_t j = 0; j < batch.d; ++j) EXPECT_EQ(graded.query_document[3 * batch.d + j], 0);
    for (size_t j = 0; j < batch.q; ++j) {
      EXPECT_EQ(graded.query_query[3 * batch.q + j], 0);
      EXPECT_EQ(graded.document_document[3 * batch.q + j], 0);
    }
  });
}

// Two queries and four documents; the second query has more pairs than the first.
RandomBatch ByHand() {
  RandomBatch batch(0, {.queries = 2, .documents = 4});
  batch.positive = {0, 1};
  batch.query_document = {0.5, 0.2, 0.1, 0.7, 0.3, 0.6, 0.4, -0.2};
  batch.teacher = {3, 0, 1, 0, 0, 4, 2, 1};
  batch.grades = {1, 0, 0, 0, 0, 1, 0, 0.5};
  std::fill_n(batch.negative.cells.get(), 8, false);
  std::fill_n(batch.labelled.cells.get(), 8, false);
  for (const size_t cell : {1, 3, 6}) batch.negative[cell] = true;
  for (const size_t cell : {0, 2, 5, 6, 7}) batch.labelled[cell] = true;
  return batch;
}

std::unique_ptr<const Formula> Make(std::string_view name, std::string_view key, double value) {
  const ObjectiveInfo& info = FindObjective(name);
  config::Params params(info.params);
  EXPECT_EQ(params.Set(key, value), "");
  return info.make(params);
}

double Softplus(double x) { return std::log1p(std::exp(x)); }

TEST(LossesByHand, OfASoftmaxAreOfTheQueriesRow) {
  const RandomBatch batch = ByHand();
  const auto formula = Make("infonce", "temperature", 0.5);
  const double first = std::log(1 + std::exp((0.2 - 0.5) / 0.5) + std::exp((0.7 - 0.5) / 0.5));
  const double second = std::log(1 + std::exp((0.4 - 0.6) / 0.5));
  const Evaluation plain = formula->Evaluate(batch.View(), nullptr);
  EXPECT_NEAR(plain.losses[0], first, 1e-15);
  EXPECT_NEAR(plain.losses[1], second, 1e-15);
  EXPECT_NEAR(LossOf(*formula, Weighted(batch, {2, 0})), first, 1e-15);
  EXPECT_NEAR(LossOf(*formula, Weighted(batch, {0.5, 3})), (0.5 * first + 3 * second) / 2, 1e-15);
}

// Document 1, the own one of query 1, competes for query 0 too, whose row allows it.
TEST(LossesByHand, OfBothDirectionsAreOfTheQueryAndOfItsPairedDocument) {
  const RandomBatch batch = ByHand();
  config::Params params(kInfoNce.params);
  EXPECT_EQ(params.Set("temperature", 0.5) + params.Set("directions", std::string("both")), "");
  const auto formula = kInfoNce.make(params);
  const double first = std::log(1 + std::exp((0.2 - 0.5) / 0.5) + std::exp((0.7 - 0.5) / 0.5));
  const double second =
      std::log(1 + std::exp((0.4 - 0.6) / 0.5)) + std::log(1 + std::exp((0.2 - 0.6) / 0.5));
  EXPECT_NEAR(formula->Evaluate(batch.View(), nullptr).losses[1], second, 1e-15);
  EXPECT_NEAR(LossOf(*formula, Weighted(batch, {2, 0})), first, 1e-15);
  EXPECT_NEAR(LossOf(*formula, Weighted(batch, {0, 2})), second, 1e-15);
}

TEST(LossesByHand, OfMannWhitneyAreOfThePairsOfThePairedDocument) {
  RandomBatch batch = ByHand();
  batch.bank_positives = {0.9};
  batch.bank_negatives = {0.8};
  const auto formula = Make("mann_whitney", "temperature", 0.5);
  const auto mean = [](double positive) {
    double sum = 0;
    for (const double negative : {0.2, 0.7, 0.4, 0.8}) sum += Softplus((negative - positive) / 0.5);
    return sum / 4;
  };
  const Evaluation plain = formula->Evaluate(batch.View(), nullptr);
  ASSERT_EQ(plain.losses.size(), 2u);
  EXPECT_NEAR(plain.losses[0], mean(0.5), 1e-15);
  EXPECT_NEAR(plain.losses[1], mean(0.6), 1e-15);
  // The banked positive weighs 1; three positives stay three.
  EXPECT_NEAR(LossOf(*formula, Weighted(batch, {2, 0})), (2 * mean(0.5) + mean(0.9)) / 3, 1e-15);
}

TEST(LossesByHand, OfMarginsAreTheirMean) {
  const RandomBatch batch = ByHand();
  const auto formula = Make("margin_mse", "scale", 2);
  const auto error = [](double scores, double teacher) {
    return (2 * scores - teacher) * (2 * scores - teacher);
  };
  const double first = error(0.4, 2);                         // 0 over 2
  const double second = (error(0.2, 2) + error(0.8, 3)) / 2;  // 1 over 2, 1 over 3
  const Evaluation plain = formula->Evaluate(batch.View(), nullptr);
  EXPECT_NEAR(plain.losses[0], first, 1e-13);
  EXPECT_NEAR(plain.losses[1], second, 1e-13);
  EXPECT_NEAR(plain.loss, (first + 2 * second) / 3, 1e-13);
  EXPECT_NEAR(LossOf(*formula, Weighted(batch, {3, 0.5})), (3 * first + second) / 3, 1e-13);
}

TEST(LossesByHand, OfPairsAreTheirMean) {
  const RandomBatch batch = ByHand();
  const auto formula = Make("pairwise_bce", "scale", 3);
  // Query 0: its document, of grade 1, over documents 1, 2 and 3. Query 1: document 1 over 2 and 3,
  // document 3, of grade 0.5, over 2.
  const double first = (Softplus(-3 * 0.3) + Softplus(-3 * 0.4) + Softplus(3 * 0.2)) / 3;
  const double second = (Softplus(-3 * 0.2) + Softplus(-3 * 0.8) + Softplus(3 * 0.6)) / 3;
  const Evaluation plain = formula->Evaluate(batch.View(), nullptr);
  EXPECT_EQ(plain.count, 6);
  EXPECT_NEAR(plain.losses[0], first, 1e-14);
  EXPECT_NEAR(plain.losses[1], second, 1e-14);
  EXPECT_NEAR(LossOf(*formula, Weighted(batch, {4, 0})), 2 * first, 1e-14);
}

}  // namespace
}  // namespace tandem::objective

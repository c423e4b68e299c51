// Objectives that judge embeddings at several widths.
#include "objective/matryoshka.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "objective/random_batch.h"
#include "objective/random_tensors.h"
#include "objective/similarity.h"
#include "support/tensors.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {
namespace {

// tools/golden/make_matryoshka_golden.py makes the same rows.
tensor::Tensor GoldenRows(int64_t count, int64_t offset) {
  const tensor::Tensor rows = tensor::Empty({count, 8}, tensor::kDouble);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < 8; ++j) {
      const int64_t k = i + offset;
      rows.data_ptr<double>()[i * 8 + j] =
          static_cast<double>((31 * k + 17 * j + 7 * k * j) % 23 - 11) / 8;
    }
  }
  return rows.set_requires_grad(true);
}

// Every document but a query's own is a negative.
Labels AllNegatives(int64_t queries, int64_t documents) {
  const auto off_diagonal = [queries](int64_t columns) {
    const tensor::Tensor mask = tensor::Full({queries, columns}, 1, tensor::kBool);
    for (int64_t i = 0; i < queries; ++i) mask[i][i].zero_();
    return mask;
  };
  const tensor::Tensor others = off_diagonal(queries);
  return {.positive = tensor::Arange(queries, tensor::kLong),
          .negative = off_diagonal(documents),
          .query_negative = others,
          .document_negative = others};
}

void ExpectNumbers(const tensor::Tensor& got, const std::vector<double>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[static_cast<int64_t>(i)].item<double>(), want[i], 1e-9) << i;
  }
}

// tools/golden/make_matryoshka_golden.py printed the numbers. Its scale of 20 is the temperature
// 0.05.
TEST(Matryoshka, EqualsMatryoshkaLossOverMultipleNegativesRankingLoss) {
  const tensor::Tensor queries = GoldenRows(3, 0), documents = GoldenRows(6, 10);
  const std::vector<int64_t> numbers = {2, 8, 4};  // in any order
  const std::vector<double> weights = {0.25, 1, 0.5};
  const ObjectiveInfo& info = FindObjective("infonce");
  config::Params params(info.params);
  params.Set("temperature", 0.05);
  const auto objective = MakeObjective("infonce", params);
  const Labels labels = AllNegatives(3, 6);
  const Loss loss = EvaluateWidths(
      *objective,
      ScoresAtWidths(queries, documents, labels, "cosine", {}, WidthsOf(numbers, weights)), labels,
      {});
  loss.value.backward();
  EXPECT_NEAR(loss.value.item<double>(), 36.363895466599651, 1e-9);
  ExpectNumbers(queries.grad()[0], {1.3457229198456306, 0.73862973874779847, 5.2620122756770398,
                                    -3.0143271642977716, -1.8045152014550878, 0.63758503851278803,
                                    -0.43755296129539561, -1.2156285374535927});
  ExpectNumbers(
      documents.grad()[4],
      {-0.066335259223470514, -0.047355834958889502, -0.028419868315225603, -0.0094839016709350986,
       0.0094962456922449059, 0.028431550831757788, 0.047366855971270681, 0.066300211673247331});
  EXPECT_NEAR(NormOf(queries.grad()), 16.822087984242234, 1e-9);
  EXPECT_NEAR(NormOf(documents.grad()), 9.3906932899764808, 1e-9);
}

Labels LabelsOf(RandomBatch& batch) {
  return {.positive = tensor::FromBlob(batch.positive.data(), {static_cast<int64_t>(batch.q)},
                                       tensor::kLong)
                          .clone(),
          .negative = Bools(batch.negative, batch.q),
          .query_negative = Bools(batch.query_negative, batch.q),
          .document_negative = Bools(batch.document_negative, batch.q),
          .labelled = batch.Labelled()};
}

tensor::Tensor RandomRows(RandomStream& stream, int64_t rows, int64_t columns) {
  const tensor::Tensor values = tensor::Empty({rows, columns}, tensor::kDouble);
  for (int64_t i = 0; i < values.numel(); ++i) {
    values.data_ptr<double>()[i] = 2 * stream.Uniform() - 1;
  }
  return values;
}

// One batch of embeddings under one objective.
struct Case {
  explicit Case(const Variant& of)
      : variant(of),
        batch(3, {.queries = 3, .documents = 5}),
        labels(LabelsOf(batch)),
        objective(MakeObjective(of.info->name, of.params)) {
    RandomStream stream({.seed = 5, .purpose = "matryoshka test"});
    rows = RandomRows(stream, 8, 6).set_requires_grad(true);
    if (of.info->StatesOf(of.params).logistic) {
      states.scale = MakeTensor({1}, {3}, tensor::kDouble);
      states.bias = MakeTensor({1}, {-0.5}, tensor::kDouble);
    }
  }

  Loss At(std::string_view kind, const std::vector<Width>& widths) const {
    return EvaluateWidths(*objective,
                          ScoresAtWidths(rows.narrow(0, 0, 3), rows.narrow(0, 3, 5), labels, kind,
                                         variant.needs(), widths),
                          labels, states);
  }

  const Variant& variant;
  RandomBatch batch;
  Labels labels;
  std::unique_ptr<const Objective> objective;
  tensor::Tensor rows;  // [3 + 5, 6]
  States states;
};

const std::vector<Width> kWidths = {{6, 1}, {4, 0.5}, {1, 2}};

TEST(MatryoshkaOfEveryObjective, HasTheGradientOfCentralDifferences) {
  for (const Variant& variant : AllVariants()) {
    for (const char* kind : {"cosine", "dot"}) {
      SCOPED_TRACE(variant.name + " " + kind);
      Case c(variant);
      c.At(kind, kWidths).value.backward();
      const tensor::Tensor gradient = c.rows.grad().clone();
      const double bound = 1e-5 * std::max(1.0, LargestOf(gradient));
      const tensor::NoGradGuard no_gradient;
      for (int64_t i = 0; i < c.rows.numel(); ++i) {
        constexpr double kStep = 1e-6;
        double& value = c.rows.data_ptr<double>()[i];
        const double before = value;
        value = before + kStep;
        const double above = c.At(kind, kWidths).value.item<double>();
        value = before - kStep;
        const double below = c.At(kind, kWidths).value.item<double>();
        value = before;
        EXPECT_NEAR((above - below) / (2 * kStep), gradient.data_ptr<double>()[i], bound) << i;
      }
    }
  }
}

// The sum of what each width alone gives; count and losses of queries are the widest's.
TEST(MatryoshkaOfEveryObjective, IsTheWeightedSumOfItsWidths) {
  const tensor::NoGradGuard no_gradient;
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    const Case c(variant);
    double sum = 0;
    for (const Width& width : kWidths) {
      sum += width.weight * c.At("cosine", {{width.numbers, 1}}).value.item<double>();
    }
    const Loss all = c.At("cosine", kWidths), widest = c.At("cosine", {{6, 1}});
    EXPECT_NEAR(all.value.item<double>(), sum, 1e-12 * std::max(1.0, std::fabs(sum)));
    EXPECT_EQ(all.count, widest.count);
    EXPECT_EQ(all.losses, widest.losses);
    EXPECT_EQ(c.At("cosine", {}).value.item<double>(), widest.value.item<double>());
  }
}

// Scores of earlier batches are the widest's, with which narrower ones must not be compared.
TEST(MatryoshkaOfEveryObjective, ComparesTheWidestAloneWithTheBank) {
  const tensor::NoGradGuard no_gradient;
  size_t with_bank = 0;
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    Case c(variant);
    const double widest = c.At("cosine", {{6, 1}}).value.item<double>();
    const double all = c.At("cosine", kWidths).value.item<double>();
    c.states.bank_positives = MakeTensor({2}, {0.2, 0.4}, tensor::kDouble);
    c.states.bank_negatives = MakeTensor({3}, {0.1, 0.3, -0.2}, tensor::kDouble);
    const double banked_widest = c.At("cosine", {{6, 1}}).value.item<double>();
    const double banked = c.At("cosine", kWidths).value.item<double>();
    EXPECT_NEAR(banked - all, banked_widest - widest, 1e-9);
    with_bank += banked_widest != widest ? 1 : 0;
  }
  EXPECT_GT(with_bank, 0U);
}

}  // namespace
}  // namespace tandem::objective

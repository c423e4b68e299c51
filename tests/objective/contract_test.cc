// The contract that every objective of the catalogue keeps, for every setting of its parameters.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "objective/catalogue.h"
#include "objective/central_differences.h"
#include "objective/random_batch.h"

namespace tandem::objective {
namespace {

constexpr uint64_t kSeeds = 6;

TEST(EveryObjective, HasTheGradientOfCentralDifferences) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      RandomBatch batch(seed, {});
      SpreadScores(batch);
      // A bias that is not given moves with the scores.
      if (variant.info->StatesOf(variant.params).logistic) batch.bias = -0.5;
      const Graded graded = EvaluateWithGradient(formula, batch);
      ExpectCentralDifferences(formula, batch, batch.query_document, graded.query_document, "qd");
      ExpectCentralDifferences(formula, batch, batch.query_query, graded.query_query, "qq");
      ExpectCentralDifferences(formula, batch, batch.document_document, graded.document_document,
                               "dd");
    }
  });
}

TEST(EveryObjective, HasTheGradientOfItsStates) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    const StatePlan plan = variant.info->StatesOf(variant.params);
    if (!plan.logistic) return;
    RandomBatch batch(8, {});
    batch.scale = 3;
    batch.bias = -0.5;
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
      EXPECT_NE(gradient, 0);
    };
    expect(batch.scale, graded.scale);
    expect(batch.bias, graded.bias);
  });
}

TEST(EveryObjective, GivesTheSameLossWithAndWithoutGradient) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    const RandomBatch batch(7, {});
    EXPECT_EQ(EvaluateWithGradient(formula, batch).evaluation.loss, LossOf(formula, batch));
  });
}

// A cell that the objective must ignore: not the paired document, not an allowed negative and, for
// objectives that read grades or a teacher, not labelled.
bool IsMasked(const RandomBatch& batch, const Needs& needs, size_t row, size_t cell) {
  const bool labels_count = needs.grades || needs.teacher;
  return cell != batch.Own(row) && !batch.negative[cell] && !(labels_count && batch.labelled[cell]);
}

TEST(EveryObjective, IsNotMovedByMaskedCellsAndGivesThemNoGradient) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      RandomBatch batch(seed, {});
      const Graded before = EvaluateWithGradient(formula, batch);
      RandomBatch moved = batch;
      size_t masked = 0;
      for (size_t row = 0; row < batch.q; ++row) {
        for (size_t j = 0; j < batch.d; ++j) {
          const size_t cell = row * batch.d + j;
          if (!IsMasked(batch, variant.needs(), row, cell)) continue;
          EXPECT_EQ(before.query_document[cell], 0);
          moved.query_document[cell] = 50;
          ++masked;
        }
        for (size_t j = row * batch.q; j < (row + 1) * batch.q; ++j) {
          if (!batch.query_negative[j]) {
            EXPECT_EQ(before.query_query[j], 0);
            moved.query_query[j] = 50;
          }
          if (!batch.document_negative[j]) {
            EXPECT_EQ(before.document_document[j], 0);
            moved.document_document[j] = 50;
          }
        }
      }
      ASSERT_GT(masked, 0u);
      const Graded after = EvaluateWithGradient(formula, moved);
      EXPECT_EQ(after.evaluation.loss, before.evaluation.loss);
      EXPECT_EQ(after.evaluation.count, before.evaluation.count);
      EXPECT_EQ(after.query_document, before.query_document);
    }
  });
}

TEST(EveryObjective, IsFiniteAtExtremeScores) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      RandomBatch batch(seed, {});
      for (std::vector<double>* scores :
           {&batch.query_document, &batch.query_query, &batch.document_document}) {
        for (double& score : *scores) score = score < 0 ? -1e4 : 1e4;
      }
      const Graded graded = EvaluateWithGradient(formula, batch);
      EXPECT_TRUE(std::isfinite(graded.evaluation.loss));
      for (const std::vector<double>* gradient :
           {&graded.query_document, &graded.query_query, &graded.document_document}) {
        for (const double value : *gradient) ASSERT_TRUE(std::isfinite(value));
      }
    }
  });
}

// Puts the columns of the batch in reverse order.
RandomBatch Reversed(const RandomBatch& batch) {
  RandomBatch reversed = batch;
  for (size_t i = 0; i < batch.q; ++i) {
    reversed.positive[i] = static_cast<int64_t>(batch.d) - 1 - batch.positive[i];
    for (size_t j = 0; j < batch.d; ++j) {
      const size_t from = i * batch.d + j;
      const size_t to = i * batch.d + batch.d - 1 - j;
      reversed.query_document[to] = batch.query_document[from];
      reversed.grades[to] = batch.grades[from];
      reversed.teacher[to] = batch.teacher[from];
      reversed.labelled[to] = batch.labelled[from];
      reversed.negative[to] = batch.negative[from];
    }
  }
  return reversed;
}

TEST(EveryObjective, DoesNotDependOnTheOrderOfColumns) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const RandomBatch batch(seed, {});
      const Graded plain = EvaluateWithGradient(formula, batch);
      const Graded reversed = EvaluateWithGradient(formula, Reversed(batch));
      const double loss = plain.evaluation.loss;
      EXPECT_NEAR(reversed.evaluation.loss, loss, 1e-12 * std::max(1.0, std::fabs(loss)));
      const double bound = 1e-12 * LargestMagnitude(plain.query_document);
      for (size_t i = 0; i < batch.q; ++i) {
        for (size_t j = 0; j < batch.d; ++j) {
          EXPECT_NEAR(reversed.query_document[i * batch.d + batch.d - 1 - j],
                      plain.query_document[i * batch.d + j], bound);
        }
      }
    }
  });
}

// Equal scores rank by column, so the order of columns may matter where scores tie, and only there.
TEST(EveryObjective, DoesNotDependOnTheOrderOfColumnsOfOneScoreAndOneGrade) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    RandomBatch batch(9, {});
    const auto find = [&](size_t row, size_t from) {
      for (size_t j = from; j < batch.d; ++j) {
        const size_t cell = row * batch.d + j;
        if (batch.negative[cell] && !batch.labelled[cell]) return cell;
      }
      ADD_FAILURE();
      return size_t{0};
    };
    for (size_t row = 0; row < batch.q; ++row) {
      const size_t first = find(row, 0);
      batch.query_document[find(row, first - row * batch.d + 1)] = batch.query_document[first];
    }
    const Graded plain = EvaluateWithGradient(formula, batch);
    const Graded reversed = EvaluateWithGradient(formula, Reversed(batch));
    const double loss = plain.evaluation.loss;
    EXPECT_NEAR(reversed.evaluation.loss, loss, 1e-12 * std::max(1.0, std::fabs(loss)));
  });
}

TEST(GradedObjectives, TakeALabelledDocumentsGradeWhateverItsMask) {
  for (const ObjectiveInfo* info : {&kBixse, &kPairwiseBce, &kLambdaLoss}) {
    SCOPED_TRACE(info->name);
    const auto formula = info->make(config::Params(info->params));
    RandomBatch batch(11, {});
    size_t changed = 0;
    const Graded before = EvaluateWithGradient(*formula, batch);
    for (size_t cell = 0; cell < batch.q * batch.d; ++cell) {
      if (!batch.labelled[cell]) continue;
      batch.negative[cell] = !batch.negative[cell];
      ++changed;
    }
    ASSERT_GT(changed, batch.q);
    const Graded after = EvaluateWithGradient(*formula, batch);
    EXPECT_EQ(after.evaluation.loss, before.evaluation.loss);
    EXPECT_EQ(after.query_document, before.query_document);
  }
}

TEST(EveryObjective, IsZeroWhereNothingIsLabelledNorAllowed) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    for (const BatchShape shape : {BatchShape{1, 1}, BatchShape{1, 4}, BatchShape{3, 3}}) {
      RandomBatch batch(10, shape);
      for (MaskStore* mask :
           {&batch.negative, &batch.query_negative, &batch.document_negative, &batch.labelled}) {
        std::fill_n(mask->cells.get(), mask->size, false);
      }
      const Graded graded = EvaluateWithGradient(formula, batch);
      EXPECT_EQ(graded.evaluation.loss, 0);
      EXPECT_EQ(graded.evaluation.losses, std::vector<double>(batch.q, 0));
      for (const double value : graded.query_document) EXPECT_EQ(value, 0);
    }
  });
}

TEST(EveryObjective, TakesTheSmallestBatches) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      for (const BatchShape shape : {BatchShape{1, 1}, BatchShape{1, 5}, BatchShape{2, 2}}) {
        const RandomBatch batch(seed, shape);
        const Graded graded = EvaluateWithGradient(formula, batch);
        EXPECT_TRUE(std::isfinite(graded.evaluation.loss));
        for (const double value : graded.query_document) EXPECT_TRUE(std::isfinite(value));
      }
    }
  });
}

TEST(EveryObjective, SaysWhatItIs) {
  for (const ObjectiveInfo* info : Objectives()) {
    SCOPED_TRACE(info->name);
    EXPECT_FALSE(info->summary.empty());
    EXPECT_FALSE(info->source.empty());
    EXPECT_EQ(info->formula.substr(0, 2), "L ");
    for (const config::ParamInfo& param : info->params) EXPECT_FALSE(param.doc.empty());
  }
}

TEST(EveryObjective, IsZeroWithoutAnyCandidate) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    const Needs needs = variant.needs();
    if (needs.graded_own) return;  // the grade of a paired document may say something by itself
    RandomBatch batch(3, {});
    for (MaskStore* mask : {&batch.negative, &batch.query_negative, &batch.document_negative}) {
      std::fill_n(mask->cells.get(), mask->size, false);
    }
    const Graded graded = EvaluateWithGradient(formula, batch);
    EXPECT_EQ(graded.evaluation.loss, 0);
    for (const double value : graded.query_document) EXPECT_EQ(value, 0);
  });
}

TEST(EveryObjective, ARowWithoutCandidatesContributesNothingWhereRowsAreSeparable) {
  ForEveryVariant([](const Variant& variant, const Formula& formula) {
    const Needs needs = variant.needs();
    if (needs.graded_own || !needs.separable_by_row) return;
    RandomBatch batch(4, {});
    for (size_t j = 0; j < batch.d; ++j) batch.negative[2 * batch.d + j] = false;
    for (size_t j = 0; j < batch.q; ++j) {
      batch.query_negative[2 * batch.q + j] = false;
      batch.document_negative[2 * batch.q + j] = false;
    }
    const Graded before = EvaluateWithGradient(formula, batch);
    for (size_t j = 0; j < batch.d; ++j) EXPECT_EQ(before.query_document[2 * batch.d + j], 0);
    batch.query_document[batch.Own(2)] -= 5;
    EXPECT_EQ(LossOf(formula, batch), before.evaluation.loss);
  });
}

TEST(EveryObjective, GivesTheSameBitsForAnyNumberOfThreads) {
  ForEveryVariant([](const Variant&, const Formula& formula) {
    const RandomBatch batch(5, {.queries = 90, .documents = 700});
    const Graded one = EvaluateWithGradient(formula, batch, 1);
    const Graded three = EvaluateWithGradient(formula, batch, 3);
    EXPECT_EQ(one.evaluation.loss, three.evaluation.loss);
    EXPECT_TRUE(one.query_document == three.query_document);
    EXPECT_TRUE(one.query_query == three.query_query);
    EXPECT_TRUE(one.document_document == three.document_document);
  });
}

TEST(Catalogue, FindsByNameAndSuggests) {
  EXPECT_EQ(FindObjective("mann_whitney").name, "mann_whitney");
  try {
    FindObjective("infonec");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("objective infonec is unknown; known are infonce"),
              std::string::npos);
    EXPECT_NE(std::string(error.what()).find("did you mean infonce?"), std::string::npos);
  }
}

}  // namespace
}  // namespace tandem::objective

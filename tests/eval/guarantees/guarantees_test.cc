// The three guarantees against their definitions, computed slowly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "eval/guarantees/guarantee_rows.h"
#include "eval/guarantees/hoeffding_bentkus.h"
#include "eval/guarantees/no_answer_guarantee.h"
#include "eval/guarantees/precision_guarantee.h"
#include "eval/guarantees/promise.h"
#include "eval/guarantees/recall_guarantee.h"

namespace tandem::eval {
namespace {

using testing::ElementsAre;
using testing::Optional;

// Up to 40 queries with 0 to 3 positives, some without a document, and up to 6 others. Scores are
// multiples of 1/16, so that many tie.
std::vector<GuaranteeRow> RandomGuaranteeRows(uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = "rows"});
  std::vector<GuaranteeRow> rows(1 + random.Below(40));
  for (GuaranteeRow& row : rows) {
    const size_t positives = random.Below(4), others = random.Below(7);
    for (size_t i = 0; i < positives; ++i) {
      row.documents.push_back({static_cast<double>(5 + random.Below(12)) / 16, true});
    }
    for (size_t i = 0; i < others; ++i) {
      row.documents.push_back({static_cast<double>(random.Below(14)) / 16, false});
    }
    row.positives = positives + random.Below(20) / 19;
    SortRow(0, &row);
  }
  return rows;
}

double MeanMissed(const std::vector<GuaranteeRow>& rows, double threshold, size_t* queries) {
  double sum = 0;
  *queries = 0;
  for (const GuaranteeRow& row : rows) {
    if (row.positives == 0) continue;
    size_t shown = 0;
    for (const LabelledDocument& one : row.documents) {
      shown += one.positive && one.score >= threshold ? 1 : 0;
    }
    sum += 1 - static_cast<double>(shown) / static_cast<double>(row.positives);
    ++*queries;
  }
  return *queries == 0 ? 0 : sum / static_cast<double>(*queries);
}

TEST(RecallGuarantee, IsTheLargestThresholdOfTheFormula) {
  size_t promised = 0, refused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<GuaranteeRow> rows = RandomGuaranteeRows(seed);
    for (const double risk : {0.05, 0.1, 0.25, 0.5}) {
      std::optional<double> largest;
      size_t queries = 0;
      for (int i = 0; i <= 16;
           ++i) {  // every score that occurs, and those between make no difference
        const double threshold = static_cast<double>(i) / 16;
        const double loss = MeanMissed(rows, threshold, &queries);
        const auto n = static_cast<double>(queries);
        const bool occurs = std::any_of(rows.begin(), rows.end(), [&](const GuaranteeRow& row) {
          return row.positives > 0 &&
                 std::any_of(row.documents.begin(), row.documents.end(), [&](const auto& one) {
                   return one.positive && one.score == threshold;
                 });
        });
        if (queries > 0 && occurs && n / (n + 1) * loss + 1 / (n + 1) <= risk + 1e-9) {
          largest = threshold;
        }
      }
      const RecallThreshold chosen = ChooseRecallThreshold(rows, risk);
      EXPECT_EQ(chosen.threshold, largest) << seed << " " << risk;
      EXPECT_EQ(chosen.queries, queries);
      EXPECT_EQ(chosen.queries + chosen.without_positive, rows.size());
      if (largest) {
        EXPECT_NEAR(chosen.mean_loss, MeanMissed(rows, *largest, &queries), 1e-12);
      }
      ++(largest ? promised : refused);
    }
  }
  EXPECT_GT(promised, 100U);
  EXPECT_GT(refused, 100U);
}

// n perfect queries: nothing is promised with one fewer than the formula needs.
std::vector<GuaranteeRow> PerfectGuaranteeRows(size_t n) {
  return std::vector<GuaranteeRow>(n, {.documents = {{0.75, true}, {0.25, false}}, .positives = 1});
}

TEST(RecallGuarantee, NeedsTheFewestQueries) {
  for (const double level : {0.9, 0.8, 0.95, 0.7}) {
    const Promise promise{.kind = PromiseKind::kRecall, .level = level};
    const size_t n = FewestQueries(promise);
    EXPECT_THAT(ChooseRecallThreshold(PerfectGuaranteeRows(n), promise.risk()).threshold,
                Optional(0.75));
    EXPECT_EQ(ChooseRecallThreshold(PerfectGuaranteeRows(n - 1), promise.risk()).threshold,
              std::nullopt);
  }
  EXPECT_EQ(ChooseRecallThreshold({}, 0.1).threshold, std::nullopt);
}

TEST(RecallGuarantee, APositiveWithoutADocumentIsMissed) {
  std::vector<GuaranteeRow> rows = PerfectGuaranteeRows(30);
  for (size_t i = 0; i < 3; ++i) rows[i].documents.clear();  // (3 + 1) / 31 is above 0.1
  EXPECT_EQ(ChooseRecallThreshold(rows, 0.1).threshold, std::nullopt);
  EXPECT_NEAR(ChooseRecallThreshold(rows, 0.1).mean_loss, 0.1, 1e-12);
  rows[0] = rows[29];
  EXPECT_THAT(ChooseRecallThreshold(rows, 0.1).threshold, Optional(0.75));
}

TEST(PrecisionGuarantee, IsTheLastThresholdBeforeTheFirstFailure) {
  std::vector<double> grid;
  for (int i = 20; i >= -1; --i) grid.push_back(static_cast<double>(i) / 16);
  size_t promised = 0, refused = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<GuaranteeRow> rows = RandomGuaranteeRows(seed);
    for (const PrecisionRisk wanted : {PrecisionRisk{0.1, 0.8}, {0.3, 0.9}, {0.6, 0.99}}) {
      std::optional<double> last;
      double loss_there = 0;
      for (const double threshold : grid) {
        double total = 0;
        for (const GuaranteeRow& row : rows) {
          double shown = 0, wrong = 0;
          for (const LabelledDocument& one : row.documents) {
            if (one.score < threshold) continue;
            ++shown;
            wrong += one.positive ? 0 : 1;
          }
          total += shown > 0 ? wrong / shown : 0;
        }
        if (HoeffdingBentkusP(total, rows.size(), wanted.risk) > 1 - wanted.confidence) break;
        last = threshold;
        loss_there = total / static_cast<double>(rows.size());
      }
      const PrecisionThreshold chosen = ChoosePrecisionThreshold(rows, wanted, grid);
      EXPECT_EQ(chosen.threshold, last) << seed;
      EXPECT_NEAR(chosen.mean_loss, loss_there, 1e-12);
      if (last && chosen.nothing < 1) {
        EXPECT_NEAR(chosen.loss_of_shown * (1 - chosen.nothing), chosen.mean_loss, 1e-12);
      }
      ++(last ? promised : refused);
    }
  }
  EXPECT_GT(promised, 100U);
  EXPECT_GT(refused, 100U);
}

TEST(PrecisionGuarantee, NeedsTheFewestQueries) {
  for (const char* text : {"precision=0.9@0.95", "precision=0.8@0.9", "precision=0.5@0.99"}) {
    const Promise promise = ParsePromise(text);
    const PrecisionRisk wanted{promise.risk(), promise.confidence};
    const std::vector<double> grid = PrecisionGrid("cosine");
    const size_t n = FewestQueries(promise);
    // Below 0.25 half of what is shown is wrong.
    const auto chosen = ChoosePrecisionThreshold(PerfectGuaranteeRows(n), wanted, grid);
    if (promise.risk() < 0.5) {
      EXPECT_THAT(chosen.threshold, Optional(0.25 + 1.0 / 256));
    }
    EXPECT_EQ(ChoosePrecisionThreshold(PerfectGuaranteeRows(n - 1), wanted, grid).threshold,
              std::nullopt);
  }
}

TEST(PrecisionGuarantee, DoesNotStepOverAFailure) {
  // At 2 the loss is too high, at 1 it would be low again.
  const std::vector<double> totals = {0, 20, 1};
  EXPECT_THAT(FixedSequence(totals, 100, {0.1, 0.95}), Optional(size_t{0}));
  EXPECT_EQ(FixedSequence(std::vector<double>{20, 1}, 100, {0.1, 0.95}), std::nullopt);
  EXPECT_EQ(FixedSequence({}, 100, {0.1, 0.95}), std::nullopt);
}

TEST(PrecisionGuarantee, WhatIsNotKnownIsWrong) {
  GuaranteeRow row{.documents = {{0.5, true}, {0.4, false}}, .positives = 1, .known_above = 0.4};
  const std::vector<double> thresholds = {0.6, 0.5, 0.45, 0.4, 0.3};
  EXPECT_THAT(WrongShares(row, thresholds), ElementsAre(0, 0, 0, 1, 1));
  // Nobody is shown a second document, so that nothing is unknown.
  SortRow(1, &row);
  EXPECT_THAT(WrongShares(row, thresholds), ElementsAre(0, 0, 0, 0, 0));
}

// What nobody judged is shown like anything else, and takes the ranks of others.
TEST(PrecisionGuarantee, WhatNobodyJudgedCountsAsWrongOrNotAtAll) {
  GuaranteeRow row{.documents = {{0.9, false, false}, {0.8, true}, {0.7, false}, {0.6, true}},
                   .positives = 2};
  const std::vector<double> thresholds = {0.9, 0.8, 0.7, 0.6};
  EXPECT_THAT(WrongShares(row, thresholds), ElementsAre(1, 0.5, 2.0 / 3, 0.5));
  EXPECT_THAT(WrongShares(row, thresholds, true), ElementsAre(0, 0, 0.5, 1.0 / 3));
  // The best two are an unjudged document and a positive, and not the best two of those judged.
  SortRow(2, &row);
  EXPECT_THAT(WrongShares(row, thresholds, true), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(MissedShare(row, 0.1), 0.5);
  EXPECT_TRUE(ShowsAny(row, 0.9));
  // Where scores tie, a judged negative comes before what nobody judged.
  GuaranteeRow tied{.documents = {{0.5, true}, {0.5, false, false}, {0.5, false}}, .positives = 1};
  SortRow(1, &tied);
  EXPECT_THAT(WrongShares(tied, thresholds, true), ElementsAre(0, 0, 0, 0));
  EXPECT_TRUE(tied.documents[0].judged && !tied.documents[0].positive);
}

TEST(PrecisionGuarantee, OfJudgedDocumentsAloneLessIsWrong) {
  const std::vector<GuaranteeRow> rows(
      100, {.documents = {{0.75, true}, {0.5, false, false}}, .positives = 1});
  const std::vector<double> grid = {0.75, 0.5};
  EXPECT_EQ(ChoosePrecisionThreshold(rows, {0.1, 0.95}, grid).threshold, 0.75);
  EXPECT_EQ(ChoosePrecisionThreshold(rows, {0.1, 0.95, true}, grid).threshold, 0.5);
}

TEST(GuaranteeRows, NegativesComeFirstAmongEquals) {
  GuaranteeRow row{.documents = {{0.5, true}, {0.5, false}, {0.9, true}}, .positives = 2};
  SortRow(2, &row);
  ASSERT_EQ(row.documents.size(), 2U);
  EXPECT_EQ(row.documents[0].score, 0.9);
  EXPECT_FALSE(row.documents[1].positive);
  EXPECT_EQ(MissedShare(row, 0.1), 0.5);
  EXPECT_TRUE(ShowsAny(row, 0.9));
  EXPECT_FALSE(ShowsAny(row, 0.91));
  row.documents.push_back({std::nan(""), false});
  EXPECT_THROW(SortRow(0, &row), NumericError);
}

TEST(PrecisionGrid, DescendsAndIsExactInSinglePrecision) {
  for (const char* similarity : {"cosine", "dot"}) {
    const std::vector<double> grid = PrecisionGrid(similarity);
    for (size_t g = 0; g < grid.size(); ++g) {
      EXPECT_EQ(grid[g], static_cast<double>(static_cast<float>(grid[g])));
      if (g > 0) {
        EXPECT_LT(grid[g], grid[g - 1]);
      }
    }
  }
  EXPECT_EQ(PrecisionGrid("cosine").size(), 513U);
  EXPECT_EQ(PrecisionGrid("cosine").front(), 1);
  EXPECT_EQ(PrecisionGrid("dot").front(), 1032192);  // 2^19 (1 + 31/32)
}

TEST(NoAnswerGuarantee, IsAboveTheScoreOfThatRank) {
  std::vector<double> scores;
  for (int i = 19; i >= 1; --i) scores.push_back(i);
  // ceil(0.95 * 20) = 19: above all of them; ceil(0.9 * 20) = 18; ceil(0.5 * 20) = 10.
  const auto just_above = [](float score) {
    return static_cast<double>(std::nextafter(score, std::numeric_limits<float>::infinity()));
  };
  EXPECT_THAT(ChooseNoAnswerThreshold(scores, 0.05), Optional(just_above(19)));
  EXPECT_THAT(ChooseNoAnswerThreshold(scores, 0.1), Optional(just_above(18)));
  EXPECT_THAT(ChooseNoAnswerThreshold(scores, 0.5), Optional(just_above(10)));
  scores.pop_back();
  EXPECT_EQ(ChooseNoAnswerThreshold(scores, 0.05), std::nullopt);
  EXPECT_EQ(ChooseNoAnswerThreshold({}, 0.05), std::nullopt);
  EXPECT_THROW(ChooseNoAnswerThreshold({std::nan("")}, 0.5), NumericError);
  // A score between two floats is below the threshold.
  EXPECT_GT(*ChooseNoAnswerThreshold({0.7}, 0.5), 0.7);
}

}  // namespace
}  // namespace tandem::eval

#include "eval/samples/applied_thresholds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "eval/samples/corpus_levels.h"
#include "eval/samples/thresholds.h"

namespace tandem::eval {
namespace {

using testing::DoubleEq;
using testing::Optional;

constexpr BootstrapOptions kResamples{.seed = 1, .resamples = 400, .threads = 2};

// Two queries: of ten documents from 1.0 down to 0.1, those at 1.0, 0.8 and 0.5 are positives; one
// of b's has no score.
RunSamples TenScores() {
  return {.samples = {{.query = "a", .positives = {1.0, 0.5}, .negatives = {0.9, 0.4, 0.2}},
                      {.query = "b",
                       .positives = {0.8},
                       .missing_positives = 1,
                       .negatives = {0.7, 0.6, 0.3, 0.1}}},
          .floors = {kNoFloor, kNoFloor}};
}

AppliedThreshold Apply(const RunSamples& samples, double threshold) {
  return ApplyThreshold(threshold, ShownByRun(samples, threshold), kResamples);
}

TEST(ApplyThreshold, CountsWhatIsShown) {
  const AppliedThreshold at = Apply(TenScores(), 0.7);
  EXPECT_EQ(at.queries, 2U);
  EXPECT_EQ(at.found, 2U);
  EXPECT_THAT(at.shown, Optional(4U));
  EXPECT_THAT(at.precision, Optional(0.5));
  EXPECT_THAT(at.recall, Optional(0.5));  // of four positives, one of which has no score
  EXPECT_THAT(at.results, Optional(2.0));
  EXPECT_EQ(at.nothing, 0);
  EXPECT_EQ(at.nothing_interval.low, 0);
  EXPECT_NEAR(at.nothing_interval.high, 1 - std::sqrt(0.025), 1e-12);  // (1 - p)^2 = 0.025
  // Resamples are of a alone (1/2, 1/2), of b alone (1/2, 1/2), or of both.
  EXPECT_EQ(at.precision_interval->low, 0.5);
  EXPECT_EQ(at.precision_interval->high, 0.5);
}

TEST(ApplyThreshold, AQueryMayGetNothing) {
  const AppliedThreshold at = Apply(TenScores(), 0.9);
  EXPECT_EQ(at.queries_with_nothing, 1U);
  EXPECT_EQ(at.nothing, 0.5);
  EXPECT_THAT(at.precision, Optional(0.5));
  EXPECT_THAT(at.recall, Optional(0.25));
  EXPECT_EQ(at.recall_interval->low, 0);
  EXPECT_EQ(at.recall_interval->high, 0.5);
}

TEST(ApplyThreshold, AboveEveryScorePrecisionIsUndefined) {
  const AppliedThreshold at = Apply(TenScores(), 1.5);
  EXPECT_EQ(at.nothing, 1);
  EXPECT_EQ(at.queries_with_nothing, 2U);
  EXPECT_EQ(at.nothing_interval.high, 1);
  EXPECT_NEAR(at.nothing_interval.low, std::sqrt(0.025), 1e-12);
  EXPECT_EQ(at.precision, std::nullopt);
  EXPECT_FALSE(at.precision_interval);
  EXPECT_THAT(at.recall, Optional(0.0));
  EXPECT_THAT(at.results, Optional(0.0));
}

TEST(ApplyThreshold, WithoutAPositiveThereIsNoRecall) {
  const RunSamples none{.samples = {{.query = "a", .negatives = {0.5}}}, .floors = {kNoFloor}};
  const AppliedThreshold at = Apply(none, 0.5);
  EXPECT_THAT(at.precision, Optional(0.0));
  EXPECT_EQ(at.recall, std::nullopt);
  EXPECT_FALSE(at.recall_interval);
}

// The run of b ends at 0.1; nothing is known of what is at 0.1 and below.
TEST(ApplyThreshold, WhereARunEndsWhatIsShownIsUnknown) {
  RunSamples samples = TenScores();
  samples.floors = {kNoFloor, 0.1};
  EXPECT_THAT(Apply(samples, 0.2).shown, Optional(9U));
  const AppliedThreshold at = Apply(samples, 0.1);
  EXPECT_EQ(at.shown, std::nullopt);
  EXPECT_EQ(at.precision, std::nullopt);
  EXPECT_EQ(at.results, std::nullopt);
  EXPECT_THAT(at.recall, Optional(0.75));
  EXPECT_EQ(at.nothing, 0);
}

// Values of R's binom.test, to its seven digits.
TEST(BinomialInterval, IsThatOfClopperAndPearson) {
  const auto expect = [](size_t successes, size_t trials, double low, double high) {
    const Interval interval = BinomialInterval(successes, trials, 0.95);
    EXPECT_NEAR(interval.low, low, 1e-7) << successes << " of " << trials;
    EXPECT_NEAR(interval.high, high, 1e-7) << successes << " of " << trials;
  };
  expect(3, 10, 0.06673951, 0.6524529);
  expect(0, 10, 0, 0.3084971);
  expect(10, 10, 0.6915029, 1);
  expect(50, 100, 0.3983211, 0.6016789);
  expect(0, 0, 0, 1);
}

// --- ShownScore ----------------------------------------------------------------------------------

// Whoever cuts at the number that is shown gets the scores from the threshold on, and no other: as
// floats, as doubles, and as runs print them.
void ExpectSameSet(float score) {
  const double shown = ShownScore(score);
  const float below = std::nextafter(score, -std::numeric_limits<float>::infinity());
  const auto printed = [](float value) { return std::stod(fmt::format("{}", value)); };
  EXPECT_EQ(static_cast<float>(shown), score);
  EXPECT_GE(static_cast<double>(score), shown) << fmt::format("{}", score);
  EXPECT_GE(printed(score), shown) << fmt::format("{}", score);
  EXPECT_LT(static_cast<double>(below), shown) << fmt::format("{}", score);
  EXPECT_LT(printed(below), shown) << fmt::format("{}", score);
  EXPECT_LE(fmt::format("{}", std::abs(shown)).size(), 16U) << fmt::format("{}", score);
}

TEST(ShownScore, CutsWhereTheScoreDoes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> cosines(-1, 1), products(-300, 300);
  for (int i = 0; i < 20000; ++i) {
    ExpectSameSet(cosines(random));
    ExpectSameSet(products(random));
  }
  for (const float score : {0.0F, 1.0F, -1.0F, 0.5F, 0.1F, 1e-30F, 3e30F}) ExpectSameSet(score);
}

TEST(ShownScore, HasFewDigits) {
  EXPECT_EQ(ShownScore(0.5), 0.5);
  EXPECT_EQ(ShownScore(0.7), 0.7);  // no float: as it is
  EXPECT_EQ(ShownScore(static_cast<double>(0.7F)), 0.69999998);
  EXPECT_EQ(ShownScore(14.8928003311), 14.8928003311);
  EXPECT_TRUE(std::isnan(ShownScore(std::nan(""))));
}

// Thresholds that are chosen, shown and applied reproduce their counts.
TEST(ShownScore, ChosenThresholdsReproduceTheirCounts) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> scores(0, 1);
  RunSamples all;
  for (int q = 0; q < 40; ++q) {
    QuerySamples& samples = all.samples.emplace_back();
    for (int d = 0; d < 30; ++d) {
      const double score = scores(random);
      (score * score > scores(random) ? samples.positives : samples.negatives).push_back(score);
    }
    all.floors.push_back(kNoFloor);
  }
  const CorpusLevels corpus = LevelsOfCorpus(all.samples, all.floors, nullptr);
  const auto targets = ParseTargets("precision=0.8,precision=0.6,recall=0.5,results=4,fpr=0.05");
  for (const ChosenThreshold& chosen :
       ChooseThresholds(PoolLevels(all.samples), corpus, targets, kResamples)) {
    ASSERT_TRUE(chosen.threshold);
    const AppliedThreshold applied = Apply(all, ShownScore(*chosen.threshold));
    EXPECT_EQ(applied.precision, chosen.values.precision);
    EXPECT_THAT(applied.recall, Optional(DoubleEq(chosen.values.recall)));
    EXPECT_EQ(applied.results, chosen.values.results);
  }
}

}  // namespace
}  // namespace tandem::eval

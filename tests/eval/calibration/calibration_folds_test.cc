#include "eval/calibration/calibration_folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace tandem::eval {
namespace {

// Query i has the score i as its only positive (every third one has none) and i + 1000 as negative.
std::vector<QuerySamples> Samples(size_t count) {
  std::vector<QuerySamples> samples(count);
  for (size_t i = 0; i < count; ++i) {
    if (i % 3 != 2) samples[i].positives = {static_cast<double>(i)};
    samples[i].negatives = {static_cast<double>(i + 1000)};
  }
  return samples;
}

TEST(CalibrationFolds, EachHasItsShareOfQueriesWithAndWithoutPositives) {
  const std::vector<QuerySamples> samples = Samples(60);
  const std::vector<size_t> folds = CalibrationFolds(samples);
  std::map<size_t, std::pair<int, int>> counts;
  for (size_t i = 0; i < 60; ++i) {
    auto& [with, without] = counts[folds[i]];
    ++(samples[i].positives.empty() ? without : with);
  }
  ASSERT_EQ(counts.size(), kCalibrationFolds);
  for (const auto& [fold, count] : counts) EXPECT_EQ(count, std::pair(8, 4)) << fold;
  EXPECT_EQ(CalibrationFolds(samples), folds);
  // Shuffled: no fold is every fifth query.
  EXPECT_FALSE(folds[0] == folds[15] && folds[15] == folds[30] && folds[1] == folds[16]);
}

TEST(CalibrationFolds, FewQueriesAreFewFolds) {
  const std::vector<size_t> folds = CalibrationFolds(Samples(5));  // four with a positive
  EXPECT_EQ(*std::max_element(folds.begin(), folds.end()), 3U);
  const std::vector<size_t> two = CalibrationFolds(Samples(2));
  EXPECT_NE(two[0], two[1]);
  try {
    CalibrationFolds(Samples(1));
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find("calibration: 1 of 1 queries has a positive"), 0U);
  }
}

TEST(HeldOutForecasts, NoMapHasSeenTheQuery) {
  const std::vector<QuerySamples> samples = Samples(30);
  size_t fits = 0;
  const std::vector<QueryForecasts> forecasts =
      HeldOutForecasts(samples, [&](std::span<const LabelledScore> labelled) -> ProbabilityMap {
        ++fits;
        std::set<double> seen;
        for (const LabelledScore& one : labelled) seen.insert(one.score);
        // Of 20 positives and 30 negatives a fifth is left out.
        EXPECT_EQ(seen.size(), 40U);
        return [seen](double score) { return seen.contains(score) ? 1.0 : 0.25; };
      });
  EXPECT_EQ(fits, kCalibrationFolds);
  ASSERT_EQ(forecasts.size(), 30U);
  for (size_t q = 0; q < 30; ++q) {
    ASSERT_EQ(forecasts[q].size(), samples[q].positives.size() + 1) << q;
    for (const Forecast& forecast : forecasts[q]) EXPECT_EQ(forecast.probability, 0.25);
    EXPECT_FALSE(forecasts[q].front().positive);
  }
}

}  // namespace
}  // namespace tandem::eval

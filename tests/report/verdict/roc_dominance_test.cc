// Curves that were drawn by hand.
#include "report/verdict/roc_dominance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem::report {
namespace {

using Curve = std::vector<Point>;

RocFacts Facts(Curve points, int64_t negatives = 1000) {
  return {.positives = 10, .negatives = negatives, .points = std::move(points)};
}

const Curve kHigh = {{0, 0}, {0.01, 0.5}, {0.1, 0.9}, {1, 1}};
const Curve kLow = {{0, 0}, {0.01, 0.3}, {0.1, 0.8}, {1, 1}};

std::string Say(const Curve& first, const Curve& second) {
  return RocSentence("A", Facts(first), "B", Facts(second)).value_or("nothing");
}

TEST(RocDominance, SaysWhichOneLiesAboveEverywhere) {
  EXPECT_EQ(Say(kHigh, kLow), "A lies above B everywhere from a false-positive rate of 0.001 on.");
  EXPECT_EQ(Say(kLow, kHigh), "B lies above A everywhere from a false-positive rate of 0.001 on.");
}

TEST(RocDominance, BeginsAtTheRateOfOneNonPositiveOfTheSmallerSet) {
  EXPECT_EQ(RocSentence("A", Facts(kHigh, 10000), "B", Facts(kLow, 20000)),
            "A lies above B everywhere from a false-positive rate of 0.0001 on.");
}

TEST(RocDominance, SaysWhereTheyCross) {
  // Between 0.1 and 0.3 the difference goes from +0.2 to -0.2: it is 0 at 0.2.
  const Curve first = {{0, 0}, {0.1, 0.6}, {0.3, 0.7}, {1, 1}};
  const Curve second = {{0, 0}, {0.1, 0.4}, {0.3, 0.9}, {1, 1}};
  EXPECT_EQ(Say(first, second),
            "A lies above B up to a false-positive rate of 0.2, and below from there on.");
  const std::vector<RocPart> parts = CompareRoc(first, second, 0.001);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_NEAR(parts[0].to, 0.2, 1e-12);
  EXPECT_EQ(parts[0].to, parts[1].from);
  EXPECT_EQ(parts[1].to, 1);
}

TEST(RocDominance, ComparesAtThePointsOfBoth) {
  // At the first's points both are alike; the second's own point at 0.5 is lower than the line.
  const Curve first = {{0, 0}, {1, 1}};
  const Curve second = {{0, 0}, {0.25, 0.25}, {0.5, 0.4}, {0.75, 0.75}, {1, 1}};
  EXPECT_EQ(Say(first, second),
            "A lies level with B up to a false-positive rate of 0.25, above up to 0.75, and level "
            "from there on.");
}

TEST(RocDominance, SaysThatCurvesAreTheSame) {
  EXPECT_EQ(Say(kHigh, kHigh),
            "A and B have the same curve from a false-positive rate of 0.001 on.");
}

TEST(RocDominance, ASinglePointInCommonPartsNothing) {
  const Curve touching = {{0, 0}, {0.005, 0.2}, {0.01, 0.5}, {0.02, 0.5}, {0.1, 0.8}, {1, 1}};
  EXPECT_EQ(Say(kHigh, touching),
            "A lies above B everywhere from a false-positive rate of 0.001 on.");
}

TEST(RocDominance, AnUprightPartIsTakenFromItsUpperEndOn) {
  // At 0.1 the second jumps from 0.2 to 0.9, over the first.
  const Curve first = {{0, 0}, {0.1, 0.5}, {1, 1}};
  const Curve second = {{0, 0}, {0.1, 0.2}, {0.1, 0.9}, {1, 1}};
  EXPECT_EQ(Say(first, second),
            "A lies above B up to a false-positive rate of 0.1, and below from there on.");
}

TEST(RocDominance, OfManyCrossingsTellsTheirNumber) {
  Curve first = {{0, 0}}, second = {{0, 0}};
  for (int i = 1; i < 8; ++i) {
    const double x = i * 0.1;
    first.push_back({x, x + (i % 2 == 0 ? 0.1 : 0)});
    second.push_back({x, x + (i % 2 == 0 ? 0 : 0.1)});
  }
  first.push_back({1, 1});
  second.push_back({1, 1});
  EXPECT_EQ(Say(first, second),
            "A lies below B up to a false-positive rate of 0.15, above up to 0.25, then changes 4 "
            "more times, and below from 0.65 on.");
}

TEST(RocDominance, EndsWhereBothHaveFoundAll) {
  const Curve first = {{0, 0}, {0.1, 0.9}, {0.4, 1}, {1, 1}};
  const Curve second = {{0, 0}, {0.1, 0.5}, {0.6, 1}, {1, 1}};
  EXPECT_EQ(Say(first, second),
            "A lies above B everywhere from a false-positive rate of 0.001 to 0.6, where both have "
            "found all positives.");
  const Curve crossing = {{0, 0}, {0.2, 0.5}, {0.3, 1}, {1, 1}};
  EXPECT_THAT(Say(first, crossing), testing::EndsWith(", and below from there to 0.4, where both "
                                                      "have found all positives."));
}

TEST(RocDominance, ARateJustBelowOneIsNotOne) {
  const Curve first = {{0, 0}, {0.1, 0.9}, {0.4, 1}, {1, 1}};
  const Curve second = {{0, 0}, {0.1, 0.5}, {0.99975, 1}, {1, 1}};
  EXPECT_THAT(Say(first, second), testing::HasSubstr(" to 0.99975, where both"));
}

TEST(RocDominance, NeedsPoints) { EXPECT_EQ(Say(kHigh, {}), "nothing"); }

}  // namespace
}  // namespace tandem::report

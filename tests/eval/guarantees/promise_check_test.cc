#include "eval/guarantees/promise_check.h"

#include <gtest/gtest.h>

#include "eval/guarantees/hoeffding_bentkus.h"
#include "eval/samples/applied_thresholds.h"

namespace tandem::eval {
namespace {

SeenLoss Whole(size_t hits, size_t queries) {
  SeenLoss seen;
  for (size_t q = 0; q < queries; ++q) seen.Add(q < hits ? 1 : 0);
  return seen;
}

// Values of scipy 1.17.1: betabinom.sf(hits - 1, m, a, n + 1 - a), a = floor(risk (n + 1)).
TEST(ChanceIfKept, OfRecallIsBetaBinomial) {
  const Promise tenth = ParsePromise("recall=0.9");
  EXPECT_NEAR(ChanceIfKept(tenth, 48, Whole(10, 100)), 0.3386270432254151, 1e-9);
  EXPECT_NEAR(ChanceIfKept(tenth, 48, Whole(20, 100)), 0.02275284736775807, 1e-10);
  EXPECT_NEAR(ChanceIfKept(tenth, 300, Whole(150, 1000)), 0.01027014164795559, 1e-9);
  EXPECT_NEAR(ChanceIfKept(ParsePromise("no-answer=0.05"), 19, Whole(130, 1000)),
              0.07295014671674493, 1e-9);
  EXPECT_EQ(ChanceIfKept(tenth, 30, Whole(0, 50)), 1);
  // Two halves are one loss.
  SeenLoss halves = Whole(9, 98);
  halves.Add(0.5), halves.Add(0.5);
  EXPECT_FALSE(halves.whole);
  EXPECT_NEAR(ChanceIfKept(tenth, 48, halves), 0.3386270432254151, 1e-9);
}

TEST(ChanceIfKept, OfPrecisionIsBinomialOrBounded) {
  const Promise promise = ParsePromise("precision=0.9");
  EXPECT_NEAR(ChanceIfKept(promise, 48, Whole(3, 10)), 1 - BinomialCdf(2, 10, 0.1), 1e-12);
  SeenLoss parts = Whole(30, 100);
  parts.Add(0.5);
  EXPECT_NEAR(ChanceIfKept(promise, 48, parts), HoeffdingBentkusP(70.5, 101, 0.9), 1e-15);
  EXPECT_LT(ChanceIfKept(promise, 48, parts), 1e-6);
}

TEST(SeenInterval, IsExactOfWholeLosses) {
  const Interval exact = BinomialInterval(7, 50, 0.95);
  EXPECT_EQ(SeenInterval(Whole(7, 50), 0.95).low, exact.low);
  EXPECT_EQ(SeenInterval(Whole(7, 50), 0.95).high, exact.high);
  SeenLoss parts = Whole(7, 50);
  parts.Add(0.25);
  EXPECT_EQ(SeenInterval(parts, 0.95).high, BoundedMeanInterval(7.25, 51, 0.95).high);
  EXPECT_EQ(SeenInterval({}, 0.95).low, 0);
  EXPECT_EQ(SeenInterval({}, 0.95).high, 1);
}

}  // namespace
}  // namespace tandem::eval

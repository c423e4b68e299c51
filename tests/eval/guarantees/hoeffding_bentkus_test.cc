#include "eval/guarantees/hoeffding_bentkus.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eval/samples/applied_thresholds.h"

namespace tandem::eval {
namespace {

// Values of scipy 1.17.1: binom.cdf(k, n, p).
TEST(BinomialCdf, IsThatOfScipy) {
  const struct {
    size_t k, n;
    double p, cdf;
  } kCases[] = {
      {0, 10, 0.1, 0.3486784400999999},
      {3, 10, 0.1, 0.9872048016},
      {9, 10, 0.1, 0.9999999999},
      {250, 500, 0.5, 0.5178323227766746},
      {520, 5000, 0.1, 0.8331891957150047},
      {12, 10000, 0.001, 0.7916513294452172},
      {40, 10000, 0.001, 0.9999999999998305},
      {9999, 10000, 0.9999, 0.6321389535670295},
  };
  for (const auto& one : kCases) {
    EXPECT_NEAR(BinomialCdf(one.k, one.n, one.p), one.cdf, 1e-11 * one.cdf) << one.k;
  }
  EXPECT_EQ(BinomialCdf(10, 10, 0.3), 1);
  EXPECT_EQ(BinomialCdf(3, 10, 0), 1);
  EXPECT_EQ(BinomialCdf(3, 10, 1), 0);
}

// Values of the formula in Python with scipy's binom.cdf and rel_entr.
TEST(HoeffdingBentkusP, IsTheFormula) {
  const struct {
    double total;
    size_t n;
    double risk, p;
  } kCases[] = {
      {0, 29, 0.1, 0.04710128697246251},     {0, 28, 0.1, 0.05233476330273609},
      {3, 100, 0.1, 0.02130178054046894},    {3.5, 100, 0.1, 0.04712791950977934},
      {40, 500, 0.1, 0.2041138515920747},    {400, 5000, 0.1, 1.804193930684543e-06},
      {475, 5000, 0.1, 0.3359921761589397},  {10, 1000, 0.02, 0.02782582284883037},
      {9, 100, 0.1, 0.9443197499146025},     {12, 100, 0.1, 1},
      {20, 100, 0.5, 1.516677450324208e-09}, {0.25, 60, 0.05, 0.111462258359394},
  };
  for (const auto& one : kCases) {
    EXPECT_NEAR(HoeffdingBentkusP(one.total, one.n, one.risk), one.p, 1e-10 * one.p) << one.total;
  }
  EXPECT_EQ(HoeffdingBentkusP(0, 0, 0.1), 1);
}

// Ends found with scipy's brentq on the formula.
TEST(BoundedMeanInterval, InvertsTheTest) {
  const Interval ten = BoundedMeanInterval(10, 100, 0.95);
  EXPECT_NEAR(ten.low, 0.0418152256299783, 1e-10);
  EXPECT_NEAR(ten.high, 0.19264599636733667, 1e-10);
  const Interval none = BoundedMeanInterval(0, 50, 0.95);
  EXPECT_NEAR(none.low, 0, 1e-12);
  EXPECT_NEAR(none.high, 0.07112173646419766, 1e-10);
  const Interval part = BoundedMeanInterval(2.5, 40, 0.95);
  EXPECT_NEAR(part.low, 0.005934740307721453, 1e-10);
  EXPECT_NEAR(part.high, 0.21830476781310626, 1e-10);
  EXPECT_EQ(BoundedMeanInterval(0, 0, 0.95).low, 0);
  EXPECT_EQ(BoundedMeanInterval(0, 0, 0.95).high, 1);
}

// Of values that are 0 or 1 the exact interval is the narrower one.
TEST(BoundedMeanInterval, HoldsTheBinomialInterval) {
  for (const size_t hits : {0U, 1U, 7U, 50U, 99U, 100U}) {
    const Interval exact = BinomialInterval(hits, 100, 0.9);
    const Interval bounded = BoundedMeanInterval(static_cast<double>(hits), 100, 0.9);
    EXPECT_LE(bounded.low, exact.low + 1e-12) << hits;
    EXPECT_GE(bounded.high, exact.high - 1e-12) << hits;
  }
}

}  // namespace
}  // namespace tandem::eval

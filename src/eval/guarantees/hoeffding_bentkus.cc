#include "eval/guarantees/hoeffding_bentkus.h"

#include <algorithm>
#include <cmath>

namespace tandem::eval {
namespace {

// log P(X = k) of a binomial X, p in (0, 1).
double LogBinomial(double k, double trials, double p) {
  return std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1) +
         k * std::log(p) + (trials - k) * std::log1p(-p);
}

// Terms below this share of the sum so far change nothing.
constexpr double kSmallTerm = 1e-18;

// P(X <= k) where k is below the mean, or not far above: terms fall from k downwards.
double LowerTail(double k, double trials, double p) {
  const double first = std::exp(LogBinomial(k, trials, p));
  double term = 1, sum = 1;
  for (double i = k; i > 0; --i) {
    term *= i * (1 - p) / ((trials - i + 1) * p);
    sum += term;
    if (term < kSmallTerm * sum) break;
  }
  return first * sum;
}

double HoeffdingBound(double mean, double n, double risk) {
  if (mean >= risk) return 1;
  const double hits = mean > 0 ? mean * std::log(mean / risk) : 0;
  return std::exp(-n * (hits + (1 - mean) * (std::log1p(-mean) - std::log1p(-risk))));
}

}  // namespace

double BinomialCdf(size_t successes, size_t trials, double p) {
  if (successes >= trials || p <= 0) return 1;
  if (p >= 1) return 0;
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  // Above the mean the other tail is the short one.
  if (k > n * p) return 1 - LowerTail(n - k - 1, n, 1 - p);
  return LowerTail(k, n, p);
}

double HoeffdingBentkusP(double total, size_t n, double risk) {
  if (n == 0) return 1;
  const auto count = static_cast<double>(n);
  const double sum = std::clamp(total, 0.0, count);
  const double bentkus = std::exp(1) * BinomialCdf(static_cast<size_t>(std::ceil(sum)), n, risk);
  return std::min({HoeffdingBound(sum / count, count, risk), bentkus, 1.0});
}

Interval BoundedMeanInterval(double total, size_t n, double confidence) {
  if (n == 0) return {.low = 0, .high = 1};
  const double half = (1 - confidence) / 2;
  // The highest mean that the test does not exclude: its p falls with the mean.
  const auto highest = [half, n](double sum) {
    double low = std::clamp(sum / static_cast<double>(n), 0.0, 1.0), high = 1;
    for (int halving = 0; halving < 60; ++halving) {  // to the last bits of a double
      const double middle = (low + high) / 2;
      (middle < 1 && HoeffdingBentkusP(sum, n, middle) > half ? low : high) = middle;
    }
    return high;
  };
  return {.low = 1 - highest(static_cast<double>(n) - total), .high = highest(total)};
}

}  // namespace tandem::eval

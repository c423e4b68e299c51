#include "eval/guarantees/promise_check.h"

#include <algorithm>
#include <cmath>

#include "eval/guarantees/hoeffding_bentkus.h"
#include "eval/samples/applied_thresholds.h"

namespace tandem::eval {
namespace {

double LogBeta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

// P(X >= hits) of X ~ Bin(trials, q), q ~ Beta(a, b); hits is 1 or more.
double BetaBinomialTail(double hits, double trials, double a, double b) {
  double sum = 0;
  for (double k = hits; k <= trials; ++k) {
    const double log_choose =
        std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1);
    sum += std::exp(log_choose + LogBeta(k + a, trials - k + b) - LogBeta(a, b));
  }
  return std::min(1.0, sum);
}

// Sums of thirds are whole only nearly.
constexpr double kLossRounding = 1e-9;

}  // namespace

void SeenLoss::Add(double loss) {
  total += loss;
  ++queries;
  whole = whole && (loss == 0 || loss == 1);
}

Interval SeenInterval(const SeenLoss& seen, double confidence) {
  if (!seen.whole || seen.queries == 0) {
    return BoundedMeanInterval(seen.total, seen.queries, confidence);
  }
  return BinomialInterval(static_cast<size_t>(seen.total), seen.queries, confidence);
}

double ChanceIfKept(const Promise& promise, size_t calibration, const SeenLoss& seen) {
  const auto hits = static_cast<size_t>(std::max(0.0, std::ceil(seen.total - kLossRounding)));
  if (hits == 0) return 1;
  if (promise.kind != PromiseKind::kPrecision) {
    const double all = static_cast<double>(calibration) + 1;
    const double above = std::floor(promise.risk() * all + kLossRounding);
    if (above < 1) return 1;
    return BetaBinomialTail(static_cast<double>(hits), static_cast<double>(seen.queries), above,
                            all - above);
  }
  if (seen.whole) return 1 - BinomialCdf(hits - 1, seen.queries, promise.risk());
  return HoeffdingBentkusP(static_cast<double>(seen.queries) - seen.total, seen.queries,
                           1 - promise.risk());
}

}  // namespace tandem::eval

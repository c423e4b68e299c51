#include "eval/guarantees/query_drift.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tandem::eval {
namespace {

constexpr int kScoreBits = 19;
constexpr size_t kRoundedScores = size_t{1} << kScoreBits;

// Rises with the score: the sign, the exponent and the first ten bits of the fraction.
size_t RoundedScore(float score) {
  const auto bits = std::bit_cast<uint32_t>(score == 0 ? 0.0F : score);
  constexpr uint32_t kSign = 0x80000000U;
  const uint32_t ordered = (bits & kSign) != 0 ? ~bits : bits | kSign;
  return ordered >> (32 - kScoreBits);
}

double PowerBet(double p, double exponent) { return exponent * std::pow(p, exponent - 1); }

}  // namespace

QueryDrift::QueryDrift(std::span<const float> calibration, uint64_t seed)
    : calibration_(calibration.begin(), calibration.end()),
      counts_(kRoundedScores + 1),
      random_({.seed = seed, .purpose = "drift"}) {
  std::sort(calibration_.begin(), calibration_.end());
  for (const float score : calibration_) Rank(score);
  shares_.fill(1.0 / kBets);
}

double QueryDrift::Rank(float score) {
  const auto below = [this](size_t place) {
    uint64_t sum = 0;
    for (; place > 0; place &= place - 1) sum += counts_[place];
    return sum;
  };
  const size_t place = RoundedScore(score);
  const uint64_t lower = below(place), equal = below(place + 1) - lower;
  for (size_t i = place + 1; i <= kRoundedScores; i += i & (~i + 1)) ++counts_[i];
  ++counted_;
  constexpr double kHalfStep = 0x1p-54;  // so that u is neither 0 nor 1
  const double u = random_.Uniform() + kHalfStep;
  return (static_cast<double>(lower) + u * static_cast<double>(equal + 1)) /
         static_cast<double>(counted_);
}

void QueryDrift::Add(float best) {
  constexpr double kDealtOut = 0.01, kLeast = 0x1p-60;
  const double p = std::max(Rank(best), kLeast);
  const double upper = std::max(1 - p, kLeast);
  const double middle = std::max(std::abs(2 * p - 1), kLeast);  // uniform where p is
  const double ends = std::max(1 - middle, kLeast);
  const std::array<double, kBets> odds = {PowerBet(p, 0.5),
                                          PowerBet(p, 0.8),
                                          PowerBet(upper, 0.5),
                                          PowerBet(upper, 0.8),
                                          PowerBet(middle, 0.5),
                                          PowerBet(ends, 0.5),
                                          1};
  double sum = 0;
  for (size_t i = 0; i < kBets; ++i) {
    shares_[i] = ((1 - kDealtOut) * shares_[i] + kDealtOut / kBets) * odds[i];
    sum += shares_[i];
  }
  for (double& share : shares_) share /= sum;
  log_capital_ += std::log(sum);
  log_highest_ = std::max(log_highest_, log_capital_);
  if (window_.size() < kWindow) {
    window_.push_back(best);
  } else {
    window_[queries_ % kWindow] = best;
  }
  ++queries_;
}

double QueryDrift::capital() const { return std::exp(log_capital_); }
double QueryDrift::highest_capital() const { return std::exp(log_highest_); }
bool QueryDrift::alarm() const { return log_highest_ >= std::log(kAlarm); }

double QueryDrift::distance() const {
  if (window_.empty() || calibration_.empty()) return 0;
  std::vector<float> now = window_;
  std::sort(now.begin(), now.end());
  double distance = 0;
  size_t a = 0, b = 0;
  while (a < now.size() && b < calibration_.size()) {
    const float score = std::min(now[a], calibration_[b]);
    while (a < now.size() && now[a] == score) ++a;
    while (b < calibration_.size() && calibration_[b] == score) ++b;
    distance = std::max(
        distance, std::abs(static_cast<double>(a) / static_cast<double>(now.size()) -
                           static_cast<double>(b) / static_cast<double>(calibration_.size())));
  }
  return distance;
}

}  // namespace tandem::eval

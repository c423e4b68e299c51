#include "tune/draw/surrogate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace tandem::tune {
namespace {

// Share of the values' variance that a trial trained again would differ by.
constexpr double kNoise = 0.05;
constexpr double kExploration = 0.25;

double MeanOfValues(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// 1 where all are the same.
double DeviationOf(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  return deviation > 0 ? deviation : 1;
}

// What a value at each length is more than one at the shortest.
std::map<int64_t, double> OffsetsOf(const std::vector<ValuesByLength>& trials) {
  std::map<int64_t, double> offsets;
  for (const ValuesByLength& values : trials) {
    for (const auto& [units, value] : values) offsets[units] = 0;
  }
  for (auto longer = offsets.begin(); longer != offsets.end(); ++longer) {
    std::vector<double> found;
    for (auto shorter = offsets.begin(); shorter != longer; ++shorter) {
      for (const ValuesByLength& values : trials) {
        const auto here = values.find(longer->first), there = values.find(shorter->first);
        if (here == values.end() || there == values.end()) continue;
        found.push_back(here->second - there->second + shorter->second);
      }
    }
    if (!found.empty()) longer->second = MeanOfValues(found);
  }
  return offsets;
}

}  // namespace

std::vector<double> ComparableValues(const std::vector<ValuesByLength>& trials) {
  const std::map<int64_t, double> offsets = OffsetsOf(trials);
  std::vector<double> known;
  for (const ValuesByLength& values : trials) {
    if (values.empty()) continue;
    known.push_back(values.rbegin()->second - offsets.at(values.rbegin()->first));
  }
  if (known.empty()) return {};
  const double worst =
      *std::min_element(known.begin(), known.end()) - DeviationOf(known, MeanOfValues(known));
  std::vector<double> all;
  auto next = known.begin();
  for (const ValuesByLength& values : trials) all.push_back(values.empty() ? worst : *next++);
  return all;
}

Surrogate::Surrogate(std::vector<ConfigurationPoint> points, const std::vector<double>& values)
    : points_(std::move(points)), mean_(MeanOfValues(values)), scale_(DeviationOf(values, mean_)) {
  const size_t count = points_.size();
  factor_.assign(count, std::vector<double>(count, 0));
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = Likeness(points_[i], points_[j]) + (i == j ? kNoise : 0);
      for (size_t k = 0; k < j; ++k) sum -= factor_[i][k] * factor_[j][k];
      factor_[i][j] = i == j ? std::sqrt(sum) : sum / factor_[j][j];
    }
  }
  weights_.resize(count);
  for (size_t i = 0; i < count; ++i) weights_[i] = (values[i] - mean_) / scale_;
  weights_ = Solve(std::move(weights_));
  for (size_t i = count; i-- > 0;) {  // and by the transposed factor
    for (size_t k = i + 1; k < count; ++k) weights_[i] -= factor_[k][i] * weights_[k];
    weights_[i] /= factor_[i][i];
  }
}

std::vector<double> Surrogate::Solve(std::vector<double> right) const {
  for (size_t i = 0; i < right.size(); ++i) {
    for (size_t k = 0; k < i; ++k) right[i] -= factor_[i][k] * right[k];
    right[i] /= factor_[i][i];
  }
  return right;
}

Surrogate::Expectation Surrogate::At(const ConfigurationPoint& point) const {
  std::vector<double> likeness;
  for (const ConfigurationPoint& seen : points_) likeness.push_back(Likeness(point, seen));
  const double mean = std::inner_product(likeness.begin(), likeness.end(), weights_.begin(), 0.0);
  const std::vector<double> solved = Solve(std::move(likeness));
  const double explained = std::inner_product(solved.begin(), solved.end(), solved.begin(), 0.0);
  return {.mean = mean_ + scale_ * mean,
          .deviation = scale_ * std::sqrt(std::max(0.0, 1 - explained))};
}

size_t MostPromising(const Surrogate& surrogate,
                     const std::vector<ConfigurationPoint>& candidates) {
  size_t best = 0;
  std::optional<double> most;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Surrogate::Expectation expected = surrogate.At(candidates[i]);
    const double promise = expected.mean + kExploration * expected.deviation;
    if (most && promise <= *most) continue;
    most = promise;
    best = i;
  }
  return best;
}

}  // namespace tandem::tune

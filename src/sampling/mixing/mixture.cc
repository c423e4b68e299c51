#include "sampling/mixing/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tandem::sampling {

std::vector<double> SharesOf(std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto is_weight = [](double weight) { return weight >= 0; };
  if (!std::all_of(weights.begin(), weights.end(), is_weight) || !(sum > 0) ||
      !std::isfinite(sum)) {
    throw std::invalid_argument(
        "weights of sources must be finite numbers of 0 or more, one of them more than 0");
  }
  std::vector<double> shares;
  for (const double weight : weights) shares.push_back(weight / sum);
  return shares;
}

std::vector<uint64_t> EpochQuotas(std::span<const double> shares, std::span<const uint64_t> taken,
                                  uint64_t draws) {
  const auto total =
      static_cast<double>(std::accumulate(taken.begin(), taken.end(), uint64_t{0}) + draws);
  std::vector<uint64_t> quotas;
  std::vector<double> owed;  // that the quota does not give yet
  uint64_t given = 0;
  for (size_t s = 0; s < shares.size(); ++s) {
    const double due = std::max(0.0, shares[s] * total - static_cast<double>(taken[s]));
    quotas.push_back(static_cast<uint64_t>(due));
    owed.push_back(shares[s] * total - static_cast<double>(taken[s] + quotas[s]));
    given += quotas[s];
  }
  const auto move = [&](size_t s, int by) {
    quotas[s] += static_cast<uint64_t>(by);
    given += static_cast<uint64_t>(by);
    owed[s] -= by;
  };
  while (given < draws) {
    size_t most = shares.size();
    for (size_t s = 0; s < shares.size(); ++s) {
      if (shares[s] > 0 && (most == shares.size() || owed[s] > owed[most])) most = s;
    }
    move(most, 1);
  }
  while (given > draws) {  // sources have had more than their share, in very short epochs
    size_t least = shares.size();
    for (size_t s = 0; s < shares.size(); ++s) {
      if (quotas[s] > 0 && (least == shares.size() || owed[s] < owed[least])) least = s;
    }
    move(least, -1);
  }
  return quotas;
}

Turns::Turns(std::vector<uint64_t> quotas)
    : quotas_(std::move(quotas)), taken_(quotas_.size(), 0) {}

// Turn k of a source with quota q is due at (k + 1/2) / q of the epoch.
bool Turns::IsBefore(size_t a, size_t b) const {
  return (2 * taken_[a] + 1) * quotas_[b] < (2 * taken_[b] + 1) * quotas_[a];
}

std::optional<size_t> Turns::Next(const std::vector<bool>& skipped) const {
  std::optional<size_t> next;
  for (size_t s = 0; s < quotas_.size(); ++s) {
    if (taken_[s] >= quotas_[s] || skipped[s]) continue;
    if (!next || IsBefore(s, *next)) next = s;
  }
  return next;
}

}  // namespace tandem::sampling

// Says how much of an epoch each of several data sets is, and in which turns their queries come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tandem::sampling {

enum class Mixture {
  kSize,        // by their queries: all in one order
  kWeight,      // by given weights
  kRoundRobin,  // equal shares of all
};

// The share of an epoch's draws that each of S sources has; the sum is 1. `weights` [S] are finite
// and not negative, and one of them is positive: std::invalid_argument otherwise.
std::vector<double> SharesOf(std::span<const double> weights);

// Says how many of an epoch's `draws` each source has, where `taken` [S] are those that it has had
// in all epochs before. The sum is `draws`; the sums over all epochs differ from `shares` of all
// draws by less than one draw, unless an epoch has fewer draws than there are sources. A source
// with share 0 has none.
std::vector<uint64_t> EpochQuotas(std::span<const double> shares, std::span<const uint64_t> taken,
                                  uint64_t draws);

// Sources by turns, each as often as its quota says and as evenly as that can be: with quotas 2 and
// 2 in the order 0, 1, 0, 1; with 3 and 1 in the order 0, 0, 1, 0.
class Turns {
 public:
  Turns() = default;
  explicit Turns(std::vector<uint64_t> quotas);

  // The next source of those that are not `skipped` [S]; none where they have all had their quota.
  std::optional<size_t> Next(const std::vector<bool>& skipped) const;
  // Source `source` has had a turn.
  void Take(size_t source) { ++taken_[source]; }

  const std::vector<uint64_t>& quotas() const { return quotas_; }
  const std::vector<uint64_t>& taken() const { return taken_; }
  void Restore(std::vector<uint64_t> taken) { taken_ = std::move(taken); }

 private:
  bool IsBefore(size_t a, size_t b) const;

  std::vector<uint64_t> quotas_;  // [S]
  std::vector<uint64_t> taken_;   // [S]
};

}  // namespace tandem::sampling

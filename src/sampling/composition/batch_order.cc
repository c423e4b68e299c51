#include "sampling/composition/batch_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tandem::sampling {
namespace {

constexpr double kMostTrend = 0.02;
constexpr int kMostOrders = 100;
constexpr size_t kFewBatchesToOrder = 16;

// Ranks from 0, equal lengths sharing the mean of theirs.
std::vector<double> RanksOf(std::span<const uint32_t> lengths) {
  std::vector<uint32_t> sorted(lengths.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(),
            [&](uint32_t a, uint32_t b) { return lengths[a] < lengths[b]; });
  std::vector<double> ranks(lengths.size());
  for (size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && lengths[sorted[end]] == lengths[sorted[begin]]) ++end;
    const double rank = static_cast<double>(begin + end - 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[sorted[i]] = rank;
  }
  return ranks;
}

// The sums from which the rank correlation is computed, for each batch.
class Trend {
 public:
  Trend(std::span<const uint32_t> batch_of, size_t batches, std::span<const uint32_t> lengths)
      : counts_(batches), rank_sums_(batches) {
    const double middle = (static_cast<double>(batch_of.size()) - 1) / 2;
    const std::vector<double> ranks = RanksOf(lengths);
    for (size_t i = 0; i < batch_of.size(); ++i) {
      const double rank = ranks[i] - middle;
      ++counts_[batch_of[i]];
      rank_sums_[batch_of[i]] += rank;
      rank_squares_ += rank * rank;
    }
    const auto n = static_cast<double>(batch_of.size());
    place_squares_ = n * (n * n - 1) / 12;
  }

  // The correlation where batch by_place[p] comes as number p.
  double Of(std::span<const uint32_t> by_place) const {
    const double scale = std::sqrt(rank_squares_ * place_squares_);
    if (scale == 0) return 0;
    double sum = 0, before = 0;  // rank sums add up to 0, so that places need no middle
    for (const uint32_t batch : by_place) {
      sum += (before + (counts_[batch] - 1) / 2) * rank_sums_[batch];
      before += counts_[batch];
    }
    return sum / scale;
  }

 private:
  std::vector<double> counts_;     // [batches] queries
  std::vector<double> rank_sums_;  // [batches] of the queries' ranks of length, less the mean rank
  double rank_squares_ = 0;
  double place_squares_ = 0;
};

std::vector<uint32_t> Numbers(size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<uint32_t> Inverse(std::span<const uint32_t> order) {
  std::vector<uint32_t> inverse(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) inverse[order[i]] = i;
  return inverse;
}

}  // namespace

std::vector<uint32_t> ShuffledOrder(size_t batches, RandomStream& random) {
  std::vector<uint32_t> numbers = Numbers(batches);
  random.Shuffle(std::span(numbers));
  return numbers;
}

std::vector<uint32_t> BalancedOrder(std::span<const uint32_t> batch_of, size_t batches,
                                    std::span<const uint32_t> lengths, RandomStream& random) {
  if (batches < kFewBatchesToOrder) return ShuffledOrder(batches, random);
  const Trend trend(batch_of, batches, lengths);
  std::vector<uint32_t> by_place = Numbers(batches), best;
  double least = 2;
  for (int i = 0; i < kMostOrders && least > kMostTrend; ++i) {
    random.Shuffle(std::span(by_place));
    const double found = std::abs(trend.Of(by_place));
    if (found >= least) continue;
    least = found;
    best = by_place;
  }
  return Inverse(best);
}

double LengthTrend(std::span<const uint32_t> batch_of, std::span<const uint32_t> new_number,
                   std::span<const uint32_t> lengths) {
  return Trend(batch_of, new_number.size(), lengths).Of(Inverse(new_number));
}

}  // namespace tandem::sampling

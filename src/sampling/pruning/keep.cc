#include "sampling/pruning/keep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/random.h"

namespace tandem::sampling {
namespace {

// KeptCount, but never 0.
size_t CountOf(const Pairs& pairs, double share) {
  const size_t count = KeptCount(pairs.size(), share);
  if (count > 0) return count;
  throw OrderProblem("keep",
                     fmt::format("is {}, which leaves none of {} pairs to train on; give "
                                 "at least {:.2g}",
                                 share, pairs.size(), 1 / static_cast<double>(pairs.size())));
}

std::vector<uint32_t> NumbersBelow(size_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<bool> First(size_t count, const std::vector<uint32_t>& order) {
  std::vector<bool> first(order.size());
  for (size_t i = 0; i < count; ++i) first[order[i]] = true;
  return first;
}

}  // namespace

bool PairRanking::operator()(uint32_t a, uint32_t b) const {
  if (scores[a] != scores[b]) return scores[a] > scores[b];
  if (!second.empty() && second[a] != second[b]) return second[a] > second[b];
  return a < b;
}

// 0.3 * 10 is a little less than 3.
size_t KeptCount(size_t pairs, double share) {
  return std::min(pairs,
                  static_cast<size_t>(std::floor(share * static_cast<double>(pairs) + 1e-6)));
}

std::vector<bool> BestPairs(const PairRanking& ranking, size_t count) {
  std::vector<uint32_t> order = NumbersBelow(ranking.scores.size());
  std::nth_element(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                   ranking);
  return First(count, order);
}

void CheckScores(const Pairs& pairs, std::span<const float> scores, const char* what) {
  if (scores.size() != pairs.size()) {
    throw std::invalid_argument(
        fmt::format("the sampler needs the base model's {} of all {} pairs and got {}", what,
                    pairs.size(), scores.size()));
  }
  if (!std::all_of(scores.begin(), scores.end(), [](float s) { return std::isfinite(s); })) {
    throw std::invalid_argument(fmt::format("a {} of the base model is not finite", what));
  }
}

void KeepRandom(Pairs& pairs, double share, uint64_t seed) {
  const size_t count = CountOf(pairs, share);
  if (count == pairs.size()) return;
  std::vector<uint32_t> order = NumbersBelow(pairs.size());
  RandomStream({seed, "random pruning"}).Shuffle(std::span(order));
  pairs.Keep(First(count, order));
}

void KeepBest(Pairs& pairs, double share, const PairRanking& ranking) {
  CheckScores(pairs, ranking.scores, "scores");
  if (!ranking.second.empty()) CheckScores(pairs, ranking.second, "cosines");
  const size_t count = CountOf(pairs, share);
  if (count < pairs.size()) pairs.Keep(BestPairs(ranking, count));
}

}  // namespace tandem::sampling

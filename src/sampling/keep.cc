#include "sampling/keep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/random.h"

namespace tandem::sampling {
namespace {

// 0.3 * 10 is a little less than 3, so a product that close below a whole number counts as that.
size_t CountOf(const Pairs& pairs, double share) {
  const auto total = static_cast<double>(pairs.size());
  const auto count = static_cast<size_t>(std::floor(share * total + 1e-6));
  if (count > 0) return std::min(count, pairs.size());
  throw OrderProblem("keep", fmt::format("is {}, which leaves none of {} pairs to train on; give "
                                         "at least {:.2g}",
                                         share, pairs.size(), 1 / total));
}

// Keeps the first `count` of `order`.
void KeepFirst(Pairs& pairs, const std::vector<uint32_t>& order, size_t count) {
  std::vector<bool> kept(pairs.size());
  for (size_t i = 0; i < count; ++i) kept[order[i]] = true;
  pairs.Keep(kept);
}

std::vector<uint32_t> AllPairs(const Pairs& pairs) {
  std::vector<uint32_t> all(pairs.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

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
  std::vector<uint32_t> order = AllPairs(pairs);
  RandomStream({seed, "random pruning"}).Shuffle(std::span(order));
  KeepFirst(pairs, order, count);
}

void KeepBest(Pairs& pairs, double share, std::span<const float> scores,
              std::span<const float> second) {
  CheckScores(pairs, scores, "scores");
  if (!second.empty()) CheckScores(pairs, second, "cosines");
  const size_t count = CountOf(pairs, share);
  if (count == pairs.size()) return;
  std::vector<uint32_t> order = AllPairs(pairs);
  const auto better = [&](uint32_t a, uint32_t b) {
    if (scores[a] != scores[b]) return scores[a] > scores[b];
    if (!second.empty() && second[a] != second[b]) return second[a] > second[b];
    return a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                   better);
  KeepFirst(pairs, order, count);
}

}  // namespace tandem::sampling

#include "sampling/each_pair.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace tandem::sampling {

EachPair::EachPair(const Pairs& pairs, uint64_t seed, std::span<const float> scores)
    : pairs_(pairs), seed_(seed) {
  for (uint32_t query = 0; query < pairs.queries(); ++query) {
    if (pairs.kept_count(query) > 0) continue;
    LeftOut one{.query = query, .score = std::numeric_limits<float>::quiet_NaN()};
    if (!scores.empty()) {
      const auto own = scores.subspan(pairs.first(query), pairs.count(query));
      one.score = *std::max_element(own.begin(), own.end());
    }
    left_out_.push_back(one);
  }
}

std::vector<float> EachPair::Probabilities() const {
  std::vector<float> probabilities(pairs_.size());
  for (size_t pair = 0; pair < pairs_.size(); ++pair) {
    probabilities[pair] = pairs_.kept(pair) ? 1.0F : 0.0F;
  }
  return probabilities;
}

std::vector<Draw> EachPair::Plan(uint64_t epoch) const {
  std::vector<Draw> draws;
  draws.reserve(pairs_.kept_size());
  for (uint32_t query = 0; query < pairs_.queries(); ++query) {
    const JudgedList pool = pairs_.pool(query);
    for (uint32_t i = 0; i < pool.size(); ++i) {
      if (!pairs_.kept(pairs_.first(query) + i)) continue;
      draws.push_back({.query = query, .document = pool.document(i), .repeat = i});
    }
  }
  RandomStream({seed_, "sampling order", epoch}).Shuffle(std::span(draws));
  return draws;
}

}  // namespace tandem::sampling

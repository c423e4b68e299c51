#include "sampling/each_pair.h"

#include <span>

#include "base/random.h"

namespace tandem::sampling {

std::vector<Draw> EachPair::Plan(uint64_t pass) const {
  std::vector<Draw> draws;
  draws.reserve(pairs_.kept_size());
  for (uint32_t query = 0; query < pairs_.queries(); ++query) {
    const JudgedList pool = pairs_.pool(query);
    for (uint32_t i = 0; i < pool.size(); ++i) {
      if (!pairs_.kept(pairs_.first(query) + i)) continue;
      draws.push_back({.query = query, .document = pool.document(i), .repeat = i});
    }
  }
  RandomStream({seed_, "sampling order", pass}).Shuffle(std::span(draws));
  return draws;
}

}  // namespace tandem::sampling

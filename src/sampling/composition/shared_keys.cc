#include "sampling/composition/shared_keys.h"

#include <algorithm>
#include <numeric>

namespace tandem::sampling {
namespace {

// The number of the group of each of `count` things: those with equal hashes are one group.
template <typename HashOf>
std::vector<uint32_t> Groups(size_t count, const HashOf& hash_of) {
  std::vector<uint32_t> sorted(count), groups(count);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(),
            [&](uint32_t a, uint32_t b) { return hash_of(a) < hash_of(b); });
  uint32_t group = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && hash_of(sorted[i]) != hash_of(sorted[i - 1])) ++group;
    groups[sorted[i]] = group;
  }
  return groups;
}

}  // namespace

SharedKeys::SharedKeys(const Pairs& pairs, const PlannedOrder& order) {
  const Examples& examples = pairs.examples();
  text_ = Groups(examples.size(), [&](size_t q) { return examples.query_hash(q); });
  document_ = Groups(examples.documents(), [&](size_t d) { return examples.document_hash(d); });
  std::vector<uint32_t> askers(text_.size()), owners(document_.size());
  for (size_t query = 0; query < pairs.queries(); ++query) {
    const JudgedList pool = pairs.pool(query);
    const auto times = static_cast<uint32_t>(order.most_passes(static_cast<uint32_t>(query)));
    uint32_t kept = 0;
    for (size_t i = 0; i < pool.size(); ++i) {
      if (!pairs.kept(pairs.first(query) + i)) continue;
      ++kept;
      owners[document_[pool.document(i)]] += times;
    }
    const bool each_query = order.content() == EpochContent::kEachQuery;
    askers[text_[query]] += times * (each_query ? std::min(kept, 1U) : kept);
  }
  KeepShared(askers, text_);
  KeepShared(owners, document_);
}

std::vector<BatchKeys> SharedKeys::Of(const std::vector<Draw>& draws) const {
  std::vector<BatchKeys> keys;
  keys.reserve(draws.size());
  for (const Draw& draw : draws) keys.push_back(Of(draw));
  return keys;
}

void SharedKeys::KeepShared(const std::vector<uint32_t>& counts, std::vector<uint32_t>& keys) {
  std::vector<uint32_t> numbers(counts.size(), kNoKey);
  uint32_t next = 0;
  for (size_t group = 0; group < counts.size(); ++group) {
    most_ = std::max<size_t>(most_, counts[group]);
    if (counts[group] > 1) numbers[group] = next++;
  }
  for (uint32_t& key : keys) key = numbers[key];
}

}  // namespace tandem::sampling

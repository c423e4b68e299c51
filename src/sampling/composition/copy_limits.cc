#include "sampling/composition/copy_limits.h"

#include <algorithm>
#include <vector>

namespace tandem::sampling {
namespace {

// Calls Use(hash, how often it is there) for each of `hashes`, which it sorts.
template <typename Use>
void ForEachGroup(std::vector<uint64_t>& hashes, const Use& use) {
  std::sort(hashes.begin(), hashes.end());
  for (size_t begin = 0, end = 0; begin < hashes.size(); begin = end) {
    while (end < hashes.size() && hashes[end] == hashes[begin]) ++end;
    use(hashes[begin], end - begin);
  }
}

}  // namespace

CopyLimits::CopyLimits(const Pairs& pairs, const SteppedOrder& order, size_t batch, Copies copies) {
  const Examples& examples = pairs.examples();
  std::vector<uint64_t> texts, documents;
  for (size_t query = 0; query < pairs.queries(); ++query) {
    if (pairs.kept_count(query) == 0) continue;
    texts.push_back(examples.query_hash(query));
    const JudgedList pool = pairs.pool(query);
    for (size_t i = 0; i < pool.size(); ++i) {
      if (!pairs.kept(pairs.first(query) + i)) continue;
      documents.push_back(examples.document_hash(pool.document(i)));
    }
  }
  const size_t draws = order.draws(), full = (draws + batch - 1) / batch;
  const auto limit = [&](Limits& limits) {
    return [&limits, draws, full, copies, this](uint64_t hash, size_t count) {
      const size_t drawn = std::min(count, draws);
      if (!MayMeet(copies, drawn, draws, full)) return;
      const size_t share = (drawn + full - 1) / full;
      limits[hash] = static_cast<uint32_t>(share);
      most_ = std::max(most_, share);
    };
  };
  ForEachGroup(texts, limit(texts_));
  ForEachGroup(documents, limit(documents_));
}

}  // namespace tandem::sampling

#include "sampling/composition/draw_tokens.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace tandem::sampling {

DrawTokens::DrawTokens(const Pairs& pairs, const TextLengths& lengths, size_t negatives, bool mined)
    : pairs_(&pairs), lengths_(lengths), negatives_(negatives) {
  for (const uint32_t length : lengths.documents) {
    if (mined) mined_ = std::max<uint64_t>(mined_, length);
  }
}

uint64_t DrawTokens::Further(const Draw& draw) const {
  if (negatives_ == 0) return 0;
  if (mined_ > 0) return negatives_ * mined_;
  const Examples& examples = pairs_->examples();
  const bool graded = pairs_->graded_own();
  const JudgedList candidates =
      graded ? examples.judged(draw.query) : examples.negatives(draw.query);
  const size_t first = pairs_->first(draw.query);
  std::vector<uint32_t> lengths;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const uint32_t document = candidates.document(i);
    if (document == draw.document || (graded && !pairs_->kept(first + i))) continue;
    lengths.push_back(lengths_.documents[document]);
  }
  const auto longest = static_cast<ptrdiff_t>(std::min(negatives_, lengths.size()));
  std::partial_sort(lengths.begin(), lengths.begin() + longest, lengths.end(), std::greater<>());
  return std::accumulate(lengths.begin(), lengths.begin() + longest, uint64_t{0});
}

uint32_t DrawTokens::AtMost(const Draw& draw) const {
  const uint64_t tokens = OfPair(draw) + Further(draw);
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(tokens, 1, std::numeric_limits<uint32_t>::max()));
}

// A query brings the most when its longest kept document is its paired one, whether the others are
// judged like it or apart from it.
LongDraw DrawTokens::Longest() const {
  LongDraw longest;
  for (uint32_t query = 0; query < pairs_->queries(); ++query) {
    const JudgedList pool = pairs_->pool(query);
    Draw draw{.query = query};
    bool any = false;
    for (size_t i = 0; i < pool.size(); ++i) {
      if (!pairs_->kept(pairs_->first(query) + i)) continue;
      const uint32_t document = pool.document(i);
      if (any && lengths_.documents[document] <= lengths_.documents[draw.document]) continue;
      draw.document = document;
      any = true;
    }
    if (!any) continue;
    const size_t tokens = AtMost(draw);
    if (tokens > longest.tokens) longest = {draw, tokens};
  }
  return longest;
}

double DrawTokens::Mean() const {
  double sum = 0, count = 0;
  for (uint32_t query = 0; query < pairs_->queries(); ++query) {
    const JudgedList pool = pairs_->pool(query);
    size_t i = 0;
    while (i < pool.size() && !pairs_->kept(pairs_->first(query) + i)) ++i;
    if (i == pool.size()) continue;
    sum += AtMost({.query = query, .document = pool.document(i)});
    ++count;
  }
  return count > 0 ? sum / count : 1;
}

}  // namespace tandem::sampling

#include "tensor/kernels/cpu/rows/score_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/rows/score_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using ScoreTag = hn::CappedTag<float, kScorePadding>;
using RowTag = hn::RebindToUnsigned<ScoreTag>;

// Appends the chosen lanes. They go to registers and then to memory: processors exist on which a
// compressing store takes a hundred cycles.
template <typename Scores, typename Rows, typename Chosen>
HWY_INLINE void Append(Scores scores, Rows rows, Chosen chosen, ScoredRows& to) {
  const ScoreTag d;
  const RowTag dr;
  hn::StoreU(hn::Compress(scores, chosen), d, to.scores + to.size);
  hn::StoreU(hn::Compress(rows, hn::RebindMask(dr, chosen)), dr, to.rows + to.size);
  to.size += hn::CountTrue(d, chosen);
}

size_t AppendAtLeastT(const ScoreRow& from, float limit, size_t capacity, ScoredRows& to) {
  const ScoreTag d;
  const RowTag dr;
  const size_t lanes = hn::Lanes(d);
  const auto limits = hn::Set(d, limit);
  size_t i = 0;
  for (; i + lanes <= from.count; i += lanes) {
    const auto scores = hn::LoadU(d, from.scores + i);
    const auto chosen = hn::Ge(scores, limits);
    if (hn::AllFalse(d, chosen)) continue;
    if (to.size >= capacity) return i;
    Append(scores, hn::Iota(dr, from.first + static_cast<uint32_t>(i)), chosen, to);
  }
  for (; i < from.count && to.size < capacity; ++i) {
    if (!(from.scores[i] >= limit)) continue;
    to.scores[to.size] = from.scores[i];
    to.rows[to.size++] = from.first + static_cast<uint32_t>(i);
  }
  return i;
}

void KeepAtLeastT(float limit, ScoredRows& rows) {
  const ScoreTag d;
  const RowTag dr;
  const size_t lanes = hn::Lanes(d), count = rows.size;
  const auto limits = hn::Set(d, limit);
  rows.size = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {  // stores stay below what is not yet read
    const auto scores = hn::LoadU(d, rows.scores + i);
    Append(scores, hn::LoadU(dr, rows.rows + i), hn::Ge(scores, limits), rows);
  }
  for (; i < count; ++i) {
    if (!(rows.scores[i] >= limit)) continue;
    rows.scores[rows.size] = rows.scores[i];
    rows.rows[rows.size++] = rows.rows[i];
  }
}

HWY_INLINE size_t CountAtLeast(const float* scores, size_t count, float limit) {
  const ScoreTag d;
  const size_t lanes = hn::Lanes(d);
  const auto limits = hn::Set(d, limit);
  size_t found = 0, i = 0;
  for (; i + lanes <= count; i += lanes) {
    found += hn::CountTrue(d, hn::Ge(hn::LoadU(d, scores + i), limits));
  }
  for (; i < count; ++i) found += scores[i] >= limit;
  return found;
}

// Integers in the order of the floats that they stand for.
HWY_INLINE int32_t OrderOf(float value) {
  const auto bits = std::bit_cast<int32_t>(value);
  return bits < 0 ? bits ^ 0x7FFFFFFF : bits;
}
HWY_INLINE float ValueOf(int32_t order) {
  return std::bit_cast<float>(order < 0 ? order ^ 0x7FFFFFFF : order);
}

// Halves the interval of values that it may be in: some twenty counts over an array in the nearest
// cache, which takes a tenth of the time of std::nth_element with its mispredicted branches.
float KthLargestT(const float* scores, size_t count, size_t k) {
  const auto [least, most] = std::minmax_element(scores, scores + count);
  int64_t low = OrderOf(*least), high = OrderOf(*most);  // at least k scores are >= low
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (CountAtLeast(scores, count, ValueOf(static_cast<int32_t>(middle))) >= k) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return ValueOf(static_cast<int32_t>(low));
}

bool AllFiniteT(const float* values, size_t count) {
  const ScoreTag d;
  const size_t lanes = hn::Lanes(d);
  const auto largest = hn::Set(d, std::numeric_limits<float>::max());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    if (!hn::AllTrue(d, hn::Le(hn::Abs(hn::LoadU(d, values + i)), largest))) return false;
  }
  for (; i < count; ++i) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

float DotProductT(const float* a, const float* b, size_t count) {
  const ScoreTag d;
  const size_t lanes = hn::Lanes(d);
  const auto product = [&](size_t at, auto sum) HWY_ATTR {
    return hn::MulAdd(hn::LoadU(d, a + at), hn::LoadU(d, b + at), sum);
  };
  // Four sums, so that an addition need not wait for the one before.
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    sum0 = product(i, sum0);
    sum1 = product(i + lanes, sum1);
    sum2 = product(i + 2 * lanes, sum2);
    sum3 = product(i + 3 * lanes, sum3);
  }
  for (; i + lanes <= count; i += lanes) sum0 = product(i, sum0);
  const auto sums = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

HWY_EXPORT(AppendAtLeastT);
HWY_EXPORT(KeepAtLeastT);
HWY_EXPORT(KthLargestT);
HWY_EXPORT(AllFiniteT);
HWY_EXPORT(DotProductT);

size_t AppendAtLeast(const ScoreRow& from, float limit, size_t capacity, ScoredRows& to) {
  return HWY_DYNAMIC_DISPATCH(AppendAtLeastT)(from, limit, capacity, to);
}
void KeepAtLeast(float limit, ScoredRows& rows) { HWY_DYNAMIC_DISPATCH(KeepAtLeastT)(limit, rows); }
float KthLargest(const float* scores, size_t count, size_t k) {
  return HWY_DYNAMIC_DISPATCH(KthLargestT)(scores, count, k);
}
bool AllFinite(const float* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(AllFiniteT)(values, count);
}
float DotProduct(const float* a, const float* b, size_t count) {
  return HWY_DYNAMIC_DISPATCH(DotProductT)(a, b, count);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

#include "index/kernels/row_scores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/kernels/row_scores.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tandem::index::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;

// Rows that are scored at once, so that each part of the query is loaded once for all of them, and
// an addition need not wait for the one before.
inline constexpr size_t kRowsAtOnce = 4;

// Bytes that are prefetched ahead. The processor prefetches by itself, but not across the end of a
// page.
inline constexpr size_t kAhead = 4096;

struct FloatRow {
  using Value = float;
  static HWY_INLINE hn::Vec<FloatTag> Load(const float* from) {
    return hn::LoadU(FloatTag(), from);
  }
};

struct Bf16Row {
  using Value = tensor::cpu::Bf16;
  static HWY_INLINE hn::Vec<FloatTag> Load(const tensor::cpu::Bf16* from) {
    const hn::Rebind<uint16_t, FloatTag> d16;
    const hn::RebindToUnsigned<FloatTag> d32;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
  }
};

HWY_INLINE float ToFloat(float value) { return value; }
HWY_INLINE float ToFloat(tensor::cpu::Bf16 value) {
  const uint32_t bits = uint32_t{value.bits} << 16;
  float number;
  __builtin_memcpy(&number, &bits, sizeof number);
  return number;
}

template <typename Value>
struct Task {
  const Value* rows;
  size_t width;
  const float* query;
  float offset;
};

template <size_t kRows, typename Row>
HWY_INLINE void ScoreGroup(const Task<typename Row::Value>& t, float* scores) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d), line = 64 / sizeof(typename Row::Value);
  hn::Vec<FloatTag> sums[kRows];
  for (size_t r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= t.width; i += lanes) {
    const auto query = hn::LoadU(d, t.query + i);
    for (size_t r = 0; r < kRows; ++r) {
      const auto* at = t.rows + r * t.width + i;
      if (i % line == 0) hwy::Prefetch(reinterpret_cast<const char*>(at) + kAhead);
      sums[r] = hn::MulAdd(Row::Load(at), query, sums[r]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    float sum = hn::GetLane(hn::SumOfLanes(d, sums[r]));
    for (size_t rest = i; rest < t.width; ++rest) {
      sum += ToFloat(t.rows[r * t.width + rest]) * t.query[rest];
    }
    scores[r] = sum + t.offset;
  }
}

template <typename Row>
HWY_INLINE void ScoreAll(Task<typename Row::Value> t, size_t count, float* scores) {
  size_t i = 0;
  for (; i + kRowsAtOnce <= count; i += kRowsAtOnce) {
    ScoreGroup<kRowsAtOnce, Row>(t, scores + i);
    t.rows += kRowsAtOnce * t.width;
  }
  for (; i < count; ++i, t.rows += t.width) ScoreGroup<1, Row>(t, scores + i);
}

void ScoreFloatRowsT(const float* rows, size_t width, size_t count, const float* query,
                     float offset, float* scores) {
  ScoreAll<FloatRow>({rows, width, query, offset}, count, scores);
}
void ScoreBf16RowsT(const tensor::cpu::Bf16* rows, size_t width, size_t count, const float* query,
                    float offset, float* scores) {
  ScoreAll<Bf16Row>({rows, width, query, offset}, count, scores);
}

#if HWY_TARGET == HWY_SCALAR

template <size_t kRows>
HWY_INLINE void ScoreCodeGroup(const CodeRows& rows, const int16_t* query, float offset,
                               float* scores) {
  for (size_t r = 0; r < kRows; ++r) {
    int32_t sum = 0;
    for (size_t i = 0; i < rows.width; ++i) sum += rows.codes[r * rows.width + i] * query[i];
    scores[r] = rows.scales[r] * (static_cast<float>(sum) + offset);
  }
}

#else

using CodeTag = hn::CappedTag<int16_t, kRowUnit>;

template <size_t kRows>
HWY_INLINE void ScoreCodeGroup(const CodeRows& rows, const int16_t* query, float offset,
                               float* scores) {
  const CodeTag d16;
  const hn::Rebind<int8_t, CodeTag> d8;
  const hn::RepartitionToWide<CodeTag> d32;
  const size_t lanes = hn::Lanes(d16);
  // Highway may split the sums in two.
  hn::Vec<decltype(d32)> sums[kRows], others[kRows];
  for (size_t r = 0; r < kRows; ++r) sums[r] = others[r] = hn::Zero(d32);
  for (size_t i = 0; i < rows.width; i += lanes) {
    const auto factors = hn::LoadU(d16, query + i);
    for (size_t r = 0; r < kRows; ++r) {
      const int8_t* at = rows.codes + r * rows.width + i;
      if (i % 64 == 0) hwy::Prefetch(at + kAhead);
      sums[r] = hn::ReorderWidenMulAccumulate(d32, hn::PromoteTo(d16, hn::LoadU(d8, at)), factors,
                                              sums[r], others[r]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    const int32_t sum = hn::GetLane(hn::SumOfLanes(d32, hn::Add(sums[r], others[r])));
    scores[r] = rows.scales[r] * (static_cast<float>(sum) + offset);
  }
}

#endif

void ScoreCodeRowsT(CodeRows rows, size_t count, const int16_t* query, float offset,
                    float* scores) {
  size_t i = 0;
  for (; i + kRowsAtOnce <= count; i += kRowsAtOnce) {
    ScoreCodeGroup<kRowsAtOnce>(rows, query, offset, scores + i);
    rows.codes += kRowsAtOnce * rows.width;
    rows.scales += kRowsAtOnce;
  }
  for (; i < count; ++i, rows.codes += rows.width, ++rows.scales) {
    ScoreCodeGroup<1>(rows, query, offset, scores + i);
  }
}

}  // namespace tandem::index::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::index {

HWY_EXPORT(ScoreFloatRowsT);
HWY_EXPORT(ScoreBf16RowsT);
HWY_EXPORT(ScoreCodeRowsT);

void ScoreFloatRows(const float* rows, size_t width, size_t count, const float* query, float offset,
                    float* scores) {
  HWY_DYNAMIC_DISPATCH(ScoreFloatRowsT)(rows, width, count, query, offset, scores);
}
void ScoreBf16Rows(const tensor::cpu::Bf16* rows, size_t width, size_t count, const float* query,
                   float offset, float* scores) {
  HWY_DYNAMIC_DISPATCH(ScoreBf16RowsT)(rows, width, count, query, offset, scores);
}
void ScoreCodeRows(const CodeRows& rows, size_t count, const int16_t* query, float offset,
                   float* scores) {
  HWY_DYNAMIC_DISPATCH(ScoreCodeRowsT)(rows, count, query, offset, scores);
}

}  // namespace tandem::index
#endif  // HWY_ONCE

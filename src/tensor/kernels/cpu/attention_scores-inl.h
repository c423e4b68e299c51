// Exponentials of a block's scores without their maxima where the scores are small, and for the
// forms without tiles while the scores are in registers. Included once per target by attention.cc.
#if defined(TANDEM_TENSOR_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ATTENTION_SCORES_INL_H_
#undef TANDEM_TENSOR_ATTENTION_SCORES_INL_H_
#else
#define TANDEM_TENSOR_ATTENTION_SCORES_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention_task.h"
#include "tensor/kernels/cpu/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Where a block's exponentials go: rows of floats, or of what they are rounded to.
struct StoreFloats {
  float* rows;
  size_t stride;
  HWY_INLINE void operator()(size_t row, size_t column, FloatVec v) const {
    hn::StoreU(v, FloatTag(), rows + row * stride + column);
  }
};

// Scores of a block of queries against all keys of a text.
template <typename Element>
struct ScoreBlock {
  size_t rows;             // at most kForwardBlock
  size_t length;           // keys
  size_t padded;           // keys with those behind them, whose elements are zero
  size_t depth;            // elements of a query
  Along<Element> queries;  // [rows, depth]
  Rows<Element> keys;      // [depth, padded]
  float factor;            // of the scores
  const DropoutRow* dropout;
  bool wants_log_sums;
  float* scores;  // [rows, padded], to work in
};

// Exponents of two up to this size need no maximum subtracted: neither the exponentials nor sums of
// 2^20 of them, times values and a scale of dropout up to 2^40 together, leave the range of floats,
// nor do their products with values from 2^-60 on become too small for it.
inline constexpr float kCalmExponent = 60.0F;

// A tile has this many queries, or two or three times as many.
inline constexpr size_t kTileUnit = kProductRows / 3;
static_assert(kProductRows % 3 == 0 && kForwardBlock % kTileUnit == 0);

// The largest size of a score as bits of a float, which order as their values do; a NaN is above
// every number.
HWY_INLINE WordVec LargerSize(WordVec largest, FloatVec score) {
  const WordTag d;
  return hn::Max(largest, hn::And(hn::BitCast(d, score), hn::Set(d, 0x7FFFFFFFU)));
}

// Whether scores of at most that size need no maximum subtracted, times their factor.
HWY_INLINE bool AreCalm(WordVec largest, float factor) {
  const float calm_score = kCalmExponent / (factor * kLog2E);
  return hn::GetLane(hn::MaxOfLanes(WordTag(), largest)) <= std::bit_cast<uint32_t>(calm_score);
}

// What goes along the tiles of a block.
struct CalmBlock {
  WordVec largest;                 // size of a score
  FloatVec totals[kForwardBlock];  // of the exponentials
};

// Scores of kRows queries, from `first` on, against kVectors vectors of keys, from `n` on, and
// their exponentials: on to `store`, their sums and the largest size of a score to `calm`.
template <bool kForBf16, size_t kRows, size_t kVectors, typename Element, typename Store>
HWY_INLINE void ExponentialTile(const ScoreBlock<Element>& block, size_t first, size_t n,
                                CalmBlock& calm, const Store& store) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  Sums<kRows, kVectors> sums;
  sums.Fill([d](size_t, size_t) HWY_ATTR { return hn::Zero(d); });
  Nothing nothing;
  AddProduct(block.depth, RowsFrom(block.queries, first), {block.keys.data + n, block.keys.stride},
             nothing, sums);
  const auto factor = hn::Set(d, block.factor * kLog2E);
  const bool inside = n + kVectors * lanes <= block.length;
  auto largest = calm.largest;
  TANDEM_UNROLL(16)
  for (size_t r = 0; r < kRows; ++r) {
    auto total = calm.totals[first + r];
    TANDEM_UNROLL(4)
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t j = n + v * lanes;
      largest = LargerSize(largest, sums.at[r][v]);
      auto e = Exp2Calm<kForBf16>(d, hn::Mul(sums.at[r][v], factor));
      if (!inside) {
        e = hn::IfThenElseZero(hn::FirstN(d, block.length > j ? block.length - j : 0), e);
      }
      total = hn::Add(total, e);
      store(first + r, j, e);
    }
    calm.totals[first + r] = total;
  }
  calm.largest = largest;
}

template <bool kForBf16, size_t kRows, typename Element, typename Store>
HWY_NOINLINE void ExponentialRows(const ScoreBlock<Element>& block, size_t first, CalmBlock& calm,
                                  const Store& store) {
  const size_t lanes = hn::Lanes(FloatTag());
  size_t n = 0;
  for (; n + 2 * lanes <= block.padded; n += 2 * lanes) {
    ExponentialTile<kForBf16, kRows, 2>(block, first, n, calm, store);
  }
  if (n < block.padded) ExponentialTile<kForBf16, kRows, 1>(block, first, n, calm, store);
}

// As SoftmaxRow for all rows of a block, but without its maxima: false where a score is too large
// for that, or no number, or the rows do not fill tiles; what was stored is worth nothing then.
template <bool kForBf16, typename Element, typename Store>
HWY_INLINE bool SoftmaxOfCalmScores(const ScoreBlock<Element>& block, SoftmaxSums* sums,
                                    const Store& store) {
  if (block.rows % kTileUnit != 0) return false;
  const FloatTag d;
  CalmBlock calm;
  calm.largest = hn::Zero(WordTag());
  for (size_t r = 0; r < block.rows; ++r) calm.totals[r] = hn::Zero(d);
  for (size_t first = 0; first < block.rows; first += kProductRows) {
    const size_t rows = std::min(kProductRows, block.rows - first);
    if (rows == kProductRows) {
      ExponentialRows<kForBf16, kProductRows>(block, first, calm, store);
    } else if (rows == 2 * kTileUnit) {
      ExponentialRows<kForBf16, 2 * kTileUnit>(block, first, calm, store);
    } else {
      ExponentialRows<kForBf16, kTileUnit>(block, first, calm, store);
    }
  }
  if (!AreCalm(calm.largest, block.factor)) return false;
  for (size_t r = 0; r < block.rows; ++r) {
    const float sum = hn::GetLane(hn::SumOfLanes(d, calm.totals[r]));
    sums[r] = {1.0F / sum, block.wants_log_sums ? std::log(sum) : 0};
  }
  return true;
}

// What is kept of rows whose exponentials have these sums.
HWY_INLINE void SetSums(const float (&totals)[kTileBlock], size_t rows, bool wants_log_sums,
                        SoftmaxSums* sums) {
  const FloatTag d;
  HWY_ALIGN float scales[kTileBlock], logs[kTileBlock] = {};
  for (size_t r = 0; r < kTileBlock; r += hn::Lanes(d)) {
    const auto total = hn::Load(d, totals + r);
    hn::Store(hn::Div(hn::Set(d, 1.0F), total), d, scales + r);
    if (wants_log_sums) hn::Store(hn::Log(d, total), d, logs + r);
  }
  for (size_t r = 0; r < rows; ++r) sums[r] = {scales[r], logs[r]};
}

// dropout(exp(score * factor)) of every query and key, each row times a factor that sums[row].scale
// takes away again, handed to `store` vector by vector with its row's and first key's number; 0 for
// keys from the text's length on.
template <bool kForBf16, typename Element, typename Store>
HWY_INLINE void SoftmaxOfBlock(const ScoreBlock<Element>& block, SoftmaxSums* sums,
                               const Store& store) {
  const FloatTag d;
  const bool drops = block.dropout[0].threshold != 0;
  if (!drops && SoftmaxOfCalmScores<kForBf16>(block, sums, store)) return;
  if (drops &&
      SoftmaxOfCalmScores<kForBf16>(block, sums, StoreFloats{block.scores, block.padded})) {
    for (size_t r = 0; r < block.rows; ++r) {
      for (size_t j = 0; j < block.padded; j += hn::Lanes(d)) {
        const auto e = hn::LoadU(d, block.scores + r * block.padded + j);
        store(r, j, ApplyDropout(e, block.dropout[r], static_cast<uint32_t>(j)));
      }
    }
    return;
  }
  SmallProduct(block.rows, block.padded, block.depth, block.queries, block.keys,
               {block.scores, block.padded, false});
  for (size_t r = 0; r < block.rows; ++r) {
    sums[r] = SoftmaxRow<kForBf16>(block.scores + r * block.padded, block.length, block.padded,
                                   block.factor, block.dropout[r], block.wants_log_sums,
                                   [&store, r](size_t j, FloatVec e) HWY_ATTR { store(r, j, e); });
  }
}

// Where a text's blocks of queries begin and end. The last one reaches back into the one before it
// where that fills its tiles: the later result of a row replaces the earlier one, its sums too.
struct QueryRows {
  size_t first;
  size_t rows;
};
HWY_INLINE QueryRows BlockAt(size_t first, size_t length) {
  const size_t left = length - first;
  if (left >= kForwardBlock) return {first, kForwardBlock};
  const size_t rows = (left + kTileUnit - 1) / kTileUnit * kTileUnit;
  return rows <= length ? QueryRows{length - rows, rows} : QueryRows{first, left};
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

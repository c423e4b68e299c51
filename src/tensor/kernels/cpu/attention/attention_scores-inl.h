// The softmax of a block of scores. A softmax usually subtracts each row's maximum before it takes
// exponentials, so that they cannot overflow. Where all scores of a block are small this is not
// needed, and the exponentials can be taken while the scores are still in registers. "Unshifted" in
// this folder means: without the maximum subtracted. Included once per target by attention.cc.
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

#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_task.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Stores a block's exponentials as rows of floats.
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
  size_t rows;                // at most kForwardBlock
  size_t length;              // keys
  size_t padded;              // keys and padding, whose elements are zero; a multiple of 16
  size_t depth;               // elements of a query
  RowMajor<Element> queries;  // [rows, depth]
  Rows<Element> keys;         // [depth, padded]
  float factor;               // what scores are multiplied by before the softmax
  const DropoutRow* dropout;  // [rows]
  bool wants_log_sums;
  float* scores;  // [rows, padded], working memory
};

// Exponentials 2^y with |y| up to this are taken unshifted. Neither they nor sums of 2^20 of them,
// times values and a dropout scale of up to 2^40 together, overflow a float, and their products
// with values from 2^-60 on do not underflow.
inline constexpr float kLargestUnshiftedExponent = 60.0F;

// A register tile has this many queries, or two or three times as many.
inline constexpr size_t kTileUnit = kProductRows / 3;
static_assert(kProductRows % 3 == 0 && kForwardBlock % kTileUnit == 0);

// The larger of `largest` and |score|, as the bits of floats. Bits of floats above 0 have the same
// order as the floats; those of a NaN are above those of every number.
HWY_INLINE WordVec MaxMagnitude(WordVec largest, FloatVec score) {
  const WordTag d;
  return hn::Max(largest, hn::And(hn::BitCast(d, score), hn::Set(d, 0x7FFFFFFFU)));
}

// Says whether exponentials of score * factor may stay unshifted, for scores of these magnitudes.
HWY_INLINE bool MayStayUnshifted(WordVec largest, float factor) {
  const float limit = kLargestUnshiftedExponent / (factor * kLog2E);
  return hn::GetLane(hn::MaxOfLanes(WordTag(), largest)) <= std::bit_cast<uint32_t>(limit);
}

// The numbers that are accumulated over the register tiles of a block.
struct UnshiftedSums {
  WordVec largest;                 // MaxMagnitude of all scores
  FloatVec totals[kForwardBlock];  // each query's sum of exponentials, lane by lane
};

// Computes the scores of kRows queries, from `first` on, against kVectors vectors of keys, from `n`
// on. Gives their exponentials to `store` and accumulates them in `sums`.
template <bool kForBf16, size_t kRows, size_t kVectors, typename Element, typename Store>
HWY_INLINE void ExponentialTile(const ScoreBlock<Element>& block, size_t first, size_t n,
                                UnshiftedSums& sums, const Store& store) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  RegisterTile<kRows, kVectors> scores;
  scores.Fill([d](size_t, size_t) HWY_ATTR { return hn::Zero(d); });
  NoHook no_hook;
  AddProduct(block.depth, SkipRows(block.queries, first), {block.keys.data + n, block.keys.stride},
             no_hook, scores);
  const auto factor = hn::Set(d, block.factor * kLog2E);
  const bool inside = n + kVectors * lanes <= block.length;
  auto largest = sums.largest;
  TANDEM_UNROLL(16)
  for (size_t r = 0; r < kRows; ++r) {
    auto total = sums.totals[first + r];
    TANDEM_UNROLL(4)
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t j = n + v * lanes;
      largest = MaxMagnitude(largest, scores.at[r][v]);
      auto e = Exp2InRange<kForBf16>(d, hn::Mul(scores.at[r][v], factor));
      if (!inside) {
        e = hn::IfThenElseZero(hn::FirstN(d, block.length > j ? block.length - j : 0), e);
      }
      total = hn::Add(total, e);
      store(first + r, j, e);
    }
    sums.totals[first + r] = total;
  }
  sums.largest = largest;
}

template <bool kForBf16, size_t kRows, typename Element, typename Store>
HWY_NOINLINE void ExponentialRows(const ScoreBlock<Element>& block, size_t first,
                                  UnshiftedSums& sums, const Store& store) {
  const size_t lanes = hn::Lanes(FloatTag());
  size_t n = 0;
  for (; n + 2 * lanes <= block.padded; n += 2 * lanes) {
    ExponentialTile<kForBf16, kRows, 2>(block, first, n, sums, store);
  }
  if (n < block.padded) ExponentialTile<kForBf16, kRows, 1>(block, first, n, sums, store);
}

// SoftmaxRow for all rows of a block, but unshifted and without dropout. Returns false where a
// score is too large for that or not a number, or where the rows do not fill register tiles; what
// was stored is then not valid.
template <bool kForBf16, typename Element, typename Store>
HWY_INLINE bool UnshiftedSoftmax(const ScoreBlock<Element>& block, SoftmaxSums* sums,
                                 const Store& store) {
  if (block.rows % kTileUnit != 0) return false;
  const FloatTag d;
  UnshiftedSums unshifted;
  unshifted.largest = hn::Zero(WordTag());
  for (size_t r = 0; r < block.rows; ++r) unshifted.totals[r] = hn::Zero(d);
  for (size_t first = 0; first < block.rows; first += kProductRows) {
    const size_t rows = std::min(kProductRows, block.rows - first);
    if (rows == kProductRows) {
      ExponentialRows<kForBf16, kProductRows>(block, first, unshifted, store);
    } else if (rows == 2 * kTileUnit) {
      ExponentialRows<kForBf16, 2 * kTileUnit>(block, first, unshifted, store);
    } else {
      ExponentialRows<kForBf16, kTileUnit>(block, first, unshifted, store);
    }
  }
  if (!MayStayUnshifted(unshifted.largest, block.factor)) return false;
  for (size_t r = 0; r < block.rows; ++r) {
    const float sum = hn::GetLane(hn::SumOfLanes(d, unshifted.totals[r]));
    sums[r] = {1.0F / sum, block.wants_log_sums ? std::log(sum) : 0};
  }
  return true;
}

// SoftmaxSums of rows whose unshifted exponentials have these sums.
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

// Calls store(row, j, v) for every vector of the block's probabilities after dropout, j the index
// of its first key. Each row is scaled by some factor, which multiplying by sums[row].scale
// removes. Keys from `length` on have probability 0.
template <bool kForBf16, typename Element, typename Store>
HWY_INLINE void SoftmaxOfBlock(const ScoreBlock<Element>& block, SoftmaxSums* sums,
                               const Store& store) {
  const FloatTag d;
  const bool drops = block.dropout[0].threshold != 0;
  if (!drops && UnshiftedSoftmax<kForBf16>(block, sums, store)) return;
  if (drops && UnshiftedSoftmax<kForBf16>(block, sums, StoreFloats{block.scores, block.padded})) {
    for (size_t r = 0; r < block.rows; ++r) {
      for (size_t j = 0; j < block.padded; j += hn::Lanes(d)) {
        const auto e = hn::LoadU(d, block.scores + r * block.padded + j);
        store(r, j, ApplyDropout(e, block.dropout[r], static_cast<uint32_t>(j)));
      }
    }
    return;
  }
  SmallProduct({block.rows, block.padded, block.depth}, block.queries, block.keys,
               {block.scores, block.padded, false});
  for (size_t r = 0; r < block.rows; ++r) {
    const ScoreRow row{block.scores + r * block.padded, block.length, block.padded, block.factor};
    sums[r] = SoftmaxRow<kForBf16>(row, block.dropout[r], block.wants_log_sums,
                                   [&store, r](size_t j, FloatVec e) HWY_ATTR { store(r, j, e); });
  }
}

// The block of queries that begins at `first`. Where the last block has too few rows to fill its
// register tiles, it begins earlier and computes some rows of the block before it again; the later
// results replace the earlier ones.
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

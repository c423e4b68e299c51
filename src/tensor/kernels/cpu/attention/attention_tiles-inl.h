// The tasks of attention.cc on AMX. They work like those of attention_pairs-inl.h, but multiply
// whole tiles, 16 rows of 16 words. So queries are copied, with zero rows after the last one, and
// the gradients of keys and values are summed as transposes, [channel, key], because AMX cannot
// load a transposed tile. The backward pass has keys in its outer loop: the gradients of a block of
// keys are sums over all queries, and stay in tile registers. Included once per target by
// attention.cc.
#if defined(TANDEM_TENSOR_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ATTENTION_TILES_INL_H_
#undef TANDEM_TENSOR_ATTENTION_TILES_INL_H_
#else
#define TANDEM_TENSOR_ATTENTION_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/kernels/cpu/attention/attention_pairs-inl.h"
#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention/attention_task.h"
#include "tensor/kernels/cpu/rows/row_pairs-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/products/tile_product-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

static_assert(kTileBlock == 2 * kTileSide);

// Copies `rows` rows to `to` [padded, width], with zero rows after the last one. The width is a
// multiple of 32.
HWY_INLINE void CopyRows(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                         Bf16* to) {
  const size_t width = from.width;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < width; c += 2 * kTileSide) {
      _mm512_storeu_si512(to + r * width + c, _mm512_loadu_si512(from.data + r * from.stride + c));
    }
  }
  std::memset(to + rows * width, 0, 2 * (padded - rows) * width);
}

// Transposes a text's `rows` rows into tiles of 16 channel pairs by 16 tokens. The tiles of the
// first 16 tokens come first; tokens from `rows` to `padded` are zero.
HWY_INLINE void PackTokenTiles(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                               uint32_t* to) {
  const size_t bytes = from.stride * sizeof(Bf16), words = from.width / 2;
  for (size_t r = 0; r < padded; r += kTileSide, to += kTileSide * words) {
    const size_t count = r < rows ? std::min(kTileSide, rows - r) : 0;
    Transpose({from.data + r * from.stride, bytes, count, words}, kTileSide, to);
  }
}

// The tiles that PackTokenTiles made, from token `first` on, a multiple of 32.
HWY_INLINE TileOperand TokenTiles(const uint32_t* tiles, size_t first, size_t words) {
  return {tiles + first * words, kTileSide, kTileSide * words, kTileSide * kTileSide};
}

// SoftmaxRow, but unshifted (attention_scores-inl.h): stores dropout(exp(score * factor)) in `to`
// and returns the lanes' sums of the exponentials before dropout. They are valid only where the
// caller finds that MayStayUnshifted(largest).
HWY_INLINE FloatVec UnshiftedSoftmaxRow(const ScoreRow& row, const DropoutRow& dropout, Bf16* to,
                                        WordVec& largest) {
  const FloatTag d;
  constexpr size_t kLanes = kTileSide;
  const float* scores = row.scores;
  const size_t length = row.length, padded = row.padded;
  const auto factors = hn::Set(d, row.factor * kLog2E);
  FloatVec totals[2] = {hn::Zero(d), hn::Zero(d)};
  for (size_t j = 0; j < padded; j += 2 * kLanes) {
    FloatVec e[2];
    for (size_t v = 0; v < 2; ++v) {
      const size_t first = j + v * kLanes;
      const auto score = hn::LoadU(d, scores + first);
      largest = MaxMagnitude(largest, score);
      e[v] = Exp2InRange<true>(d, hn::Mul(score, factors));
      if (first + kLanes > length) {
        e[v] = hn::IfThenElseZero(hn::FirstN(d, length > first ? length - first : 0), e[v]);
      }
      totals[v] = hn::Add(totals[v], e[v]);
    }
    if (dropout.threshold != 0) ApplyDropoutToPair(e, dropout, static_cast<uint32_t>(j));
    StoreRounded(e[0], to + j);
    StoreRounded(e[1], to + j + kLanes);
  }
  return hn::Add(totals[0], totals[1]);
}

// A block of queries, from `first` on.
struct TileScores {
  size_t first;
  size_t rows;    // at most 32
  size_t padded;  // keys and padding
  float factor;
  float* scores;        // [rows, padded]
  Bf16* probabilities;  // [rows, padded]
};

// Computes the block's probabilities after dropout, each row scaled by some factor, which
// multiplying by sums[row].scale removes. Keys from the text's length on have probability 0.
HWY_INLINE void SoftmaxOfTiles(const AttentionTask<Bf16>& task, const TileScores& block,
                               SoftmaxSums* sums) {
  const FloatTag d;
  auto largest = hn::Zero(WordTag());
  const bool wants_log_sums = task.log_sums != nullptr;
  HWY_ALIGN float totals[kTileBlock] = {};
  const auto row_at = [&task, &block](size_t r) {
    return ScoreRow{block.scores + r * block.padded, task.length, block.padded, block.factor};
  };
  for (size_t r = 0; r < block.rows; ++r) {
    const size_t query = block.first + r;
    PrefetchRowsOfNext(task, query, query + 1);
    PrefetchToL2(task.out, task.out_stride, query, query + 1, task.head_width);
    const auto total = UnshiftedSoftmaxRow(row_at(r), DropoutOf(task, query),
                                           block.probabilities + r * block.padded, largest);
    totals[r] = hn::GetLane(hn::SumOfLanes(d, total));
  }
  if (MayStayUnshifted(largest, block.factor)) {
    SetSums(totals, block.rows, wants_log_sums, sums);
    return;
  }
  for (size_t r = 0; r < block.rows; ++r) {
    Bf16* row = block.probabilities + r * block.padded;
    sums[r] = SoftmaxRow<true>(row_at(r), DropoutOf(task, block.first + r), wants_log_sums,
                               [row](size_t j, FloatVec e) HWY_ATTR { StoreRounded(e, row + j); });
  }
}

HWY_INLINE void ForwardTaskOnTiles(const AttentionTask<Bf16>& task) {
  const size_t length = task.length, width = task.head_width;
  const size_t padded = RoundUp(length, 2 * kTileSide), words = width / 2;
  struct Arrays {
    uint32_t* keys;       // token tiles of [padded, width]
    uint32_t* values;     // [padded / 2, width]
    Bf16* queries;        // [32, width]
    float* block_out;     // [32, width]
    float* scores;        // [32, padded]
    Bf16* probabilities;  // [32, padded]
  };
  const Arrays m = AllocateScratch<AttentionScratch>([&](Scratch& scratch) {
    return Arrays{.keys = scratch.Allocate<uint32_t>(words * padded),
                  .values = scratch.Allocate<uint32_t>(padded / 2 * width),
                  .queries = scratch.Allocate<Bf16>(kTileBlock * width),
                  .block_out = scratch.Allocate<float>(kTileBlock * width),
                  .scores = scratch.Allocate<float>(kTileBlock * padded),
                  .probabilities = scratch.Allocate<Bf16>(kTileBlock * padded)};
  });
  SoftmaxSums sums[kTileBlock];
  PackTokenTiles(InputRows(task, 1), length, padded, m.keys);
  PackPaddedPairs(InputRows(task, 2), length, padded, m.values);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  AmxTiles tiles;
  for (size_t first = 0; first < length; first += kTileBlock) {
    const size_t rows = std::min(kTileBlock, length - first);
    const size_t row_tiles = (rows + kTileSide - 1) / kTileSide;
    CopyRows(InputRows(task, 0, first), rows, kTileBlock, m.queries);
    for (size_t key = 0; key < padded; key += kTileBlock) {
      ProductOfTiles(tiles, {row_tiles, words / kTileSide},
                     TileOperandOf(RowMajor<uint32_t>{AsWords(m.queries), words}),
                     TokenTiles(m.keys, key, words), {m.scores + key, padded, false});
    }
    SoftmaxOfTiles(task, {first, rows, padded, score_scale, m.scores, m.probabilities}, sums);
    StoreLogSums(task, sums, first, rows);
    // The tiles also multiply rows of `probabilities` after the block's last one, which hold
    // anything. They only reach the same rows of `block_out`, which are not stored.
    TileProduct(tiles, {row_tiles, width / kTileSide, padded / 2 / kTileSide},
                RowMajor<uint32_t>{AsWords(m.probabilities), padded / 2},
                Rows<uint32_t>{m.values, width}, {m.block_out, width, false});
    StoreScaled<true>(task, m.block_out, sums, first, rows);
  }
  PrefetchNext(task, length, kTileBlock);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

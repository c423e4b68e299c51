// The tasks of attention.cc on AMX. As attention_pairs-inl.h, but that products are of whole tiles:
// blocks of queries are copied so that rows which are not there are zero, and the gradients of keys
// and values are summed transposed, [channel, key], because a tile's rows cannot be read across.
// Included once per target by attention.cc.
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

#include "tensor/kernels/cpu/attention_pairs-inl.h"
#include "tensor/kernels/cpu/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention_task.h"
#include "tensor/kernels/cpu/row_pairs-inl.h"
#include "tensor/kernels/cpu/tile_product-inl.h"
#include "tensor/kernels/cpu/transpose-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

static_assert(kTileBlock == 2 * kTileSide);

// Rows 0 .. rows of bf16 values, copied one after the other; those up to kTileBlock become zero.
HWY_INLINE void CopyBlock(const Bf16* from, size_t stride, size_t rows, size_t width, Bf16* to) {
  for (size_t r = 0; r < rows; ++r) std::memcpy(to + r * width, from + r * stride, 2 * width);
  std::memset(to + rows * width, 0, 2 * (kTileBlock - rows) * width);
}

// The transposes of a text's rows, [length, width], as tiles of 16 channel pairs by 16 tokens: the
// tiles of 16 tokens one after the other; zeros behind the last token.
HWY_INLINE void PackTokenTiles(const Bf16* from, size_t stride, size_t length, size_t padded,
                               size_t words, uint32_t* to) {
  const size_t bytes = stride * sizeof(Bf16);
  for (size_t r = 0; r < padded; r += kTileSide, to += kTileSide * words) {
    const size_t rows = r < length ? std::min(kTileSide, length - r) : 0;
    Transpose({from + r * stride, bytes, rows, words}, kTileSide, to);
  }
}

// Queries, rows of `words` words, and the tiles of 32 keys.
struct BlockOfTokens {
  const Bf16* queries;
  size_t words;
  const uint32_t* keys;
};

// Scores of kTiles tiles of queries, 1 or 2, against 32 keys.
template <size_t kTiles>
HWY_INLINE void ScoreTiles(AmxTiles& tiles, const BlockOfTokens& by, float* scores,
                           size_t stride) {
  constexpr size_t kTileWords = kTileSide * kTileSide;
  const uint32_t* queries = AsWords(by.queries);
  const uint32_t* keys = by.keys;
  const uint32_t* later_keys = keys + kTileSide * by.words;
  tiles.Zero<0>();
  tiles.Zero<1>();
  if constexpr (kTiles > 1) tiles.Zero<2>();
  if constexpr (kTiles > 1) tiles.Zero<3>();
  for (size_t k = 0; k < by.words; k += kTileSide, keys += kTileWords, later_keys += kTileWords) {
    tiles.Load<6>(keys, kTileSide);
    tiles.Load<4>(queries + k, by.words);
    tiles.AddProduct<0, 4, 6>();
    tiles.Load<7>(later_keys, kTileSide);
    tiles.AddProduct<1, 4, 7>();
    if constexpr (kTiles > 1) {
      tiles.Load<5>(queries + kTileSide * by.words + k, by.words);
      tiles.AddProduct<2, 5, 6>();
      tiles.AddProduct<3, 5, 7>();
    }
  }
  tiles.Store<0>(scores, stride);
  tiles.Store<1>(scores + kTileSide, stride);
  if constexpr (kTiles > 1) tiles.Store<2>(scores + kTileSide * stride, stride);
  if constexpr (kTiles > 1) tiles.Store<3>(scores + kTileSide * (stride + 1), stride);
}

// C [rows, tokens] of queries and such tiles of keys, rows and tokens counted in tiles, tokens even;
// one or two tiles of rows.
HWY_INLINE void ScoresOfTiles(AmxTiles& tiles, size_t rows, size_t tokens, const Bf16* queries,
                              size_t words, const uint32_t* token_tiles, float* scores) {
  const size_t stride = tokens * kTileSide;
  for (size_t n = 0; n < tokens; n += 2) {
    const BlockOfTokens by{queries, words, token_tiles + n * kTileSide * words};
    if (rows > 1) {
      ScoreTiles<2>(tiles, by, scores + n * kTileSide, stride);
    } else {
      ScoreTiles<1>(tiles, by, scores + n * kTileSide, stride);
    }
  }
}

// As SoftmaxRow, but without the row's maximum, for scores that are calm (attention_scores-inl.h):
// whether they are is the caller's to ask.
HWY_INLINE FloatVec CalmRow(const float* scores, size_t length, size_t padded, float factor,
                            const DropoutRow& dropout, Bf16* to, WordVec& largest) {
  const FloatTag d;
  constexpr size_t kLanes = kTileSide;
  const auto factors = hn::Set(d, factor * kLog2E);
  FloatVec totals[2] = {hn::Zero(d), hn::Zero(d)};
  for (size_t j = 0; j < padded; j += 2 * kLanes) {
    FloatVec e[2];
    for (size_t v = 0; v < 2; ++v) {
      const size_t first = j + v * kLanes;
      const auto score = hn::LoadU(d, scores + first);
      largest = LargerSize(largest, score);
      e[v] = Exp2Calm<true>(d, hn::Mul(score, factors));
      if (first + kLanes > length) {
        e[v] = hn::IfThenElseZero(hn::FirstN(d, length > first ? length - first : 0), e[v]);
      }
      totals[v] = hn::Add(totals[v], e[v]);
    }
    if (dropout.threshold != 0) KeepPair(e, dropout, static_cast<uint32_t>(j));
    StoreRounded(e[0], to + j);
    StoreRounded(e[1], to + j + kLanes);
  }
  return hn::Add(totals[0], totals[1]);
}

// dropout(exp(score * factor)) of a block of scores, [rows, padded], each row times a factor that
// sums[row].scale takes away again; 0 for keys from the text's length on.
HWY_INLINE void SoftmaxOfTiles(const AttentionTask<Bf16>& task, size_t first, float* scores,
                               size_t rows, size_t padded, float factor, Bf16* probabilities,
                               SoftmaxSums* sums) {
  const FloatTag d;
  auto largest = hn::Zero(WordTag());
  const bool wants_log_sums = task.log_sums != nullptr;
  for (size_t r = 0; r < rows; ++r) {
    FetchRowForNext(task, first + r);
    FetchForLater(task.out, task.out_stride, first + r, first + r + 1, task.head_width);
    const auto total = CalmRow(scores + r * padded, task.length, padded, factor,
                               DropoutOf(task, first + r), probabilities + r * padded, largest);
    const float sum = hn::GetLane(hn::SumOfLanes(d, total));
    sums[r] = {1.0F / sum, wants_log_sums ? std::log(sum) : 0};
  }
  if (AreCalm(largest, factor)) return;
  for (size_t r = 0; r < rows; ++r) {
    Bf16* row = probabilities + r * padded;
    sums[r] = SoftmaxRow<true>(scores + r * padded, task.length, padded, factor,
                               DropoutOf(task, first + r), wants_log_sums,
                               [row](size_t j, FloatVec e) HWY_ATTR { StoreRounded(e, row + j); });
  }
}

HWY_INLINE void ForwardTaskOnTiles(const AttentionTask<Bf16>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 2 * kTileSide), words = width / 2;
  Carver carver(workspace);
  uint32_t* keys = TakeWords(carver, words * padded);
  uint32_t* values = TakeWords(carver, padded / 2 * width);
  Bf16* queries = TakeHalves(carver, kTileBlock * width);
  float* mixed = carver.Take(kTileBlock * width);
  float* scores = carver.Take(kTileBlock * padded);
  Bf16* probabilities = TakeHalves(carver, kTileBlock * padded);
  SoftmaxSums sums[kTileBlock];
  PackTokenTiles(task.qkv + task.hidden, stride, length, padded, words, keys);
  PackPaddedPairs(task.qkv + 2 * task.hidden, stride, length, padded, width, values);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  AmxTiles tiles;
  for (size_t first = 0; first < length; first += kTileBlock) {
    const size_t rows = std::min(kTileBlock, length - first);
    const size_t row_tiles = (rows + kTileSide - 1) / kTileSide;
    CopyBlock(task.qkv + first * stride, stride, rows, width, queries);
    ScoresOfTiles(tiles, row_tiles, padded / kTileSide, queries, words, keys, scores);
    SoftmaxOfTiles(task, first, scores, rows, padded, score_scale, probabilities, sums);
    StoreLogSums(task, sums, first, rows);
    // What rows of `probabilities` behind the block's hold reaches rows of `mixed` behind them
    // only.
    TileProduct(tiles, row_tiles, width / kTileSide, padded / 2 / kTileSide,
                Along<uint32_t>{AsWords(probabilities), padded / 2}, Rows<uint32_t>{values, width},
                {mixed, width, false});
    StoreScaled<true>(task, mixed, sums, first, rows);
  }
  FetchForNext(task, RoundUp(length, kTileBlock), kTileBlock);
}

// A block of queries' rows, or of their gradients', as both factors of a product along them.
struct BlockOfRows {
  Bf16* rows;        // [kTileBlock, width]
  uint32_t* across;  // [width, kTileBlock / 2]: pairs of rows
};

HWY_INLINE void TakeBlock(const Bf16* from, size_t stride, size_t rows, size_t width,
                          uint32_t* pairs, const BlockOfRows& block) {
  CopyBlock(from, stride, rows, width, block.rows);
  PackRowPairs(block.rows, width, kTileBlock, width, pairs);
  Transpose({pairs, 4 * width, kTileBlock / 2, width}, kTileBlock / 2, block.across);
}

// Sums of [width, padded] as rows of keys, times `factor`.
HWY_INLINE void StoreAcross(const float* sums, size_t padded, size_t length, size_t width,
                            float factor, float* workspace, Bf16* to, size_t stride) {
  Transpose({sums, 4 * padded, width, length}, width, reinterpret_cast<uint32_t*>(workspace));
  StoreRows<true>(workspace, length, width, factor, to, stride);
}

HWY_INLINE void BackwardTaskOnTiles(const AttentionTask<Bf16>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 2 * kTileSide), words = width / 2;
  Carver carver(workspace);
  uint32_t* key_channels = TakeWords(carver, words * padded);
  uint32_t* value_channels = TakeWords(carver, words * padded);
  uint32_t* key_rows = TakeWords(carver, padded / 2 * width);
  float* grad_keys = carver.Take(width * padded);
  float* grad_values = carver.Take(width * padded);
  float* transposed = carver.Take(padded * width);
  uint32_t* pairs = TakeWords(carver, kTileBlock / 2 * width);
  const BlockOfRows queries{TakeHalves(carver, kTileBlock * width),
                            TakeWords(carver, kTileBlock / 2 * width)};
  const BlockOfRows grads{TakeHalves(carver, kTileBlock * width),
                          TakeWords(carver, kTileBlock / 2 * width)};
  float* grad_queries = carver.Take(kTileBlock * width);
  float* scores = carver.Take(kTileBlock * padded);
  float* grad_probabilities = carver.Take(kTileBlock * padded);
  Bf16* probabilities = TakeHalves(carver, kTileBlock * padded);
  Bf16* grad_scores = TakeHalves(carver, kTileBlock * padded);
  uint32_t* row_pairs = TakeWords(carver, kTileBlock / 2 * padded);
  const Bf16* keys = task.qkv + task.hidden;
  const size_t row_bytes = stride * sizeof(Bf16);
  Transpose({keys, row_bytes, length, words}, padded, key_channels);
  Transpose({keys + task.hidden, row_bytes, length, words}, padded, value_channels);
  PackPaddedPairs(keys, stride, length, padded, width, key_rows);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  const size_t key_tiles = padded / kTileSide, channel_tiles = width / kTileSide;
  AmxTiles tiles;
  for (size_t first = 0; first < length; first += kTileBlock) {
    const size_t rows = std::min(kTileBlock, length - first);
    const size_t row_tiles = (rows + kTileSide - 1) / kTileSide;
    FetchForNext(task, first, kTileBlock);
    FetchGradients(task, first, rows);
    const Bf16* out = task.saved_out + first * task.out_stride;
    TakeBlock(task.qkv + first * stride, stride, rows, width, pairs, queries);
    TakeBlock(task.grad_out + first * task.out_stride, task.out_stride, rows, width, pairs, grads);
    TileProduct(tiles, row_tiles, key_tiles, words / kTileSide,
                Along<uint32_t>{AsWords(queries.rows), words}, Rows<uint32_t>{key_channels, padded},
                {scores, padded, false});
    TileProduct(tiles, row_tiles, key_tiles, words / kTileSide,
                Along<uint32_t>{AsWords(grads.rows), words}, Rows<uint32_t>{value_channels, padded},
                {grad_probabilities, padded, false});
    for (size_t r = 0; r < rows; ++r) {
      const float delta = RowDot(grads.rows + r * width, out + r * task.out_stride, width);
      Bf16* kept_row = probabilities + r * padded;
      Bf16* grad_row = grad_scores + r * padded;
      BackwardRow<true>(scores + r * padded, grad_probabilities + r * padded, length, padded,
                        {score_scale, task.log_sums[first + r], delta}, DropoutOf(task, first + r),
                        [=](size_t j, FloatVec kept_part, FloatVec grad_part) HWY_ATTR {
                          StoreRounded(kept_part, kept_row + j);
                          StoreRounded(grad_part, grad_row + j);
                        });
    }
    const auto add_across = [&](const Bf16* block, const BlockOfRows& by, float* sums) HWY_ATTR {
      PackPaddedPairs(block, padded, rows, kTileBlock, padded, row_pairs);
      TileProduct(tiles, channel_tiles, key_tiles, 1, Along<uint32_t>{by.across, kTileBlock / 2},
                  Rows<uint32_t>{row_pairs, padded}, {sums, padded, first > 0});
    };
    add_across(probabilities, grads, grad_values);
    add_across(grad_scores, queries, grad_keys);
    TileProduct(tiles, row_tiles, channel_tiles, padded / 2 / kTileSide,
                Along<uint32_t>{AsWords(grad_scores), padded / 2}, Rows<uint32_t>{key_rows, width},
                {grad_queries, width, false});
    StoreRows<true>(grad_queries, rows, width, score_scale, task.grad_qkv + first * stride, stride);
  }
  Bf16* grad_qkv = task.grad_qkv;
  StoreAcross(grad_keys, padded, length, width, score_scale, transposed, grad_qkv + task.hidden,
              stride);
  StoreAcross(grad_values, padded, length, width, 1.0F, transposed, grad_qkv + 2 * task.hidden,
              stride);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

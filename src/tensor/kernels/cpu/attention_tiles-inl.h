// The tasks of attention.cc on AMX. As attention_pairs-inl.h, but that products are of whole tiles:
// queries are copied so that rows which are not there are zero, and the gradients of keys and
// values are summed transposed, [channel, key], because a tile's rows cannot be read across.
// Backward, keys are in the outer loop: their gradients are sums over all queries that stay in
// tiles. Included once per target by attention.cc.
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

// Rows 0 .. rows of bf16 values, copied one after the other; those up to `padded` become zero. The
// width is a multiple of 32.
HWY_INLINE void CopyRows(const Bf16* from, size_t stride, size_t rows, size_t padded, size_t width,
                         Bf16* to) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < width; c += 2 * kTileSide) {
      _mm512_storeu_si512(to + r * width + c, _mm512_loadu_si512(from + r * stride + c));
    }
  }
  std::memset(to + rows * width, 0, 2 * (padded - rows) * width);
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

// Tokens as PackTokenTiles left them, from a multiple of 32 on.
HWY_INLINE TilesOfFactor TokenTiles(const uint32_t* tiles, size_t first, size_t words) {
  return {tiles + first * words, kTileSide, kTileSide * words, kTileSide * kTileSide};
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
  HWY_ALIGN float totals[kTileBlock] = {};
  for (size_t r = 0; r < rows; ++r) {
    FetchRowsForNext(task, first + r, first + r + 1);
    FetchForLater(task.out, task.out_stride, first + r, first + r + 1, task.head_width);
    const auto total = CalmRow(scores + r * padded, task.length, padded, factor,
                               DropoutOf(task, first + r), probabilities + r * padded, largest);
    totals[r] = hn::GetLane(hn::SumOfLanes(d, total));
  }
  if (AreCalm(largest, factor)) {
    SetSums(totals, rows, wants_log_sums, sums);
    return;
  }
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
    CopyRows(task.qkv + first * stride, stride, rows, kTileBlock, width, queries);
    for (size_t key = 0; key < padded; key += kTileBlock) {
      ProductOfTiles(tiles, row_tiles, words / kTileSide,
                     TilesOf(Along<uint32_t>{AsWords(queries), words}),
                     TokenTiles(keys, key, words), {scores + key, padded, false});
    }
    SoftmaxOfTiles(task, first, scores, rows, padded, score_scale, probabilities, sums);
    StoreLogSums(task, sums, first, rows);
    // What rows of `probabilities` behind the block's hold reaches rows of `mixed` behind them
    // only.
    TileProduct(tiles, row_tiles, width / kTileSide, padded / 2 / kTileSide,
                Along<uint32_t>{AsWords(probabilities), padded / 2}, Rows<uint32_t>{values, width},
                {mixed, width, false});
    StoreScaled<true>(task, mixed, sums, first, rows);
  }
  FetchForNext(task, length, kTileBlock);
}

// What the backward pass knows of a query.
struct SavedQuery {
  float shift;  // what its scores' exponents lack: the sum of exponentials
  float delta;  // as SavedRow's
  DropoutRow dropout;
};

// A text's queries, or the gradients of their outputs, as both factors of products along them.
struct QueryFactors {
  Bf16* rows;        // [padded, width]
  uint32_t* across;  // [width, padded / 2]: pairs of rows
};

HWY_INLINE QueryFactors TakeQueryFactors(Carver& carver, size_t padded, size_t width) {
  Bf16* rows = TakeHalves(carver, padded * width);
  return {rows, TakeWords(carver, padded / 2 * width)};
}

// `pairs` [padded / 2, width] is for work.
HWY_INLINE void PackQueryFactors(const Bf16* from, size_t stride, size_t length, size_t padded,
                                 size_t width, uint32_t* pairs, const QueryFactors& to) {
  CopyRows(from, stride, length, padded, width, to.rows);
  PackRowPairs(to.rows, width, padded, width, pairs);
  Transpose({pairs, 4 * width, padded / 2, width}, padded / 2, to.across);
}

// Two vectors of 16 as bf16: pairs with the one's values in low halves, the other's in high halves;
// and, where asked for, also each by itself.
HWY_INLINE void StorePairs(FloatVec low, FloatVec high, uint32_t* pairs, Bf16* lows = nullptr,
                           Bf16* highs = nullptr) {
  alignas(64) static constexpr uint16_t kInterleave[32] = {
      0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i halves = RoundedPair(low, high);
  _mm512_store_si512(pairs, _mm512_permutexvar_epi16(_mm512_load_si512(kInterleave), halves));
  if (lows == nullptr) return;
  _mm256_store_si256(reinterpret_cast<__m256i*>(lows), _mm512_castsi512_si256(halves));
  _mm256_store_si256(reinterpret_cast<__m256i*>(highs), _mm512_extracti64x4_epi64(halves, 1));
}

// 32 queries against 32 keys: floats of the one buffer, results in the others.
struct BackwardTile {
  const float* scores;              // [32, 32]
  const float* grad_probabilities;  // [32, 32]
  const SavedQuery* queries;
  size_t rows;  // queries that are there, of 32
  size_t first_key;
  size_t keys;              // that are there, of 32
  float factor;             // of the scores
  uint32_t* probabilities;  // dropout(P), pairs of queries [16, 32]
  uint32_t* grad_scores;    // gradients of the scores times their factor, pairs of queries [16, 32]
  Bf16* grad_score_rows;    // the same, [32, 32]
};

// As BackwardRow, for two queries from `first` on; those that are not there get zeros.
HWY_INLINE void BackwardTwoRows(const BackwardTile& tile, size_t first) {
  const FloatTag d;
  const auto factors = hn::Set(d, tile.factor * kLog2E);
  FloatVec kept[2][2], grads[2][2];  // [query][half of the keys]
  TANDEM_UNROLL(2)
  for (size_t q = 0; q < 2; ++q) {
    if (first + q >= tile.rows) {
      kept[q][0] = kept[q][1] = grads[q][0] = grads[q][1] = hn::Zero(d);
      continue;
    }
    const SavedQuery& query = tile.queries[first + q];
    const size_t row = (first + q) * kTileBlock;
    const auto shift = hn::Set(d, query.shift), delta = hn::Set(d, query.delta);
    FloatVec mask[2] = {hn::Set(d, 1.0F), hn::Set(d, 1.0F)};
    const bool drops = query.dropout.threshold != 0;
    if (drops) KeepPair(mask, query.dropout, static_cast<uint32_t>(tile.first_key));
    TANDEM_UNROLL(2)
    for (size_t half = 0; half < 2; ++half) {
      const size_t j = half * kTileSide;
      // No probability is above 1, however the exponents of huge scores are rounded; a NaN stays.
      const auto y = hn::MulAdd(hn::Load(d, tile.scores + row + j), factors, shift);
      auto p = Exp2<true>(d, hn::Min(hn::Zero(d), y));
      if (j + kTileSide > tile.keys) {
        p = hn::IfThenElseZero(hn::FirstN(d, tile.keys > j ? tile.keys - j : 0), p);
      }
      auto g = hn::Load(d, tile.grad_probabilities + row + j);
      kept[q][half] = p;
      if (drops) {
        g = hn::Mul(g, mask[half]);
        kept[q][half] = hn::Mul(p, mask[half]);
      }
      grads[q][half] = hn::Mul(p, hn::Sub(g, delta));
    }
  }
  TANDEM_UNROLL(2)
  for (size_t half = 0; half < 2; ++half) {
    const size_t j = half * kTileSide, at = first / 2 * kTileBlock + j;
    Bf16* rows = tile.grad_score_rows + first * kTileBlock + j;
    StorePairs(kept[0][half], kept[1][half], tile.probabilities + at);
    StorePairs(grads[0][half], grads[1][half], tile.grad_scores + at, rows, rows + kTileBlock);
  }
}

// Keys' or values' gradients, sums [width, 32] across the keys, as rows of the `count` keys there
// are, times `factor`.
HWY_INLINE void StoreAcross(const float* sums, size_t count, size_t width, float factor,
                            float* workspace, Bf16* to, size_t stride) {
  Transpose({sums, 4 * kTileBlock, width, count}, width, reinterpret_cast<uint32_t*>(workspace));
  StoreRows<true>(workspace, count, width, factor, to, stride);
}

// Everything of a text that is the same for all blocks of its keys.
class TextOnTiles {
 public:
  TextOnTiles(const AttentionTask<Bf16>& task, Carver& carver)
      : task_(task),
        length_(task.length),
        padded_(RoundUp(task.length, kTileBlock)),
        width_(task.head_width),
        factor_(1.0F / std::sqrt(static_cast<float>(task.head_width))),
        keys_(TakeWords(carver, padded_ / 2 * width_)),
        values_(TakeWords(carver, padded_ / 2 * width_)),
        key_pairs_(TakeWords(carver, padded_ / 2 * width_)),
        queries_(TakeQueryFactors(carver, padded_, width_)),
        grads_(TakeQueryFactors(carver, padded_, width_)),
        grad_queries_(carver.Take(padded_ * width_)),
        probabilities_(TakeWords(carver, padded_ / 2 * kTileBlock)),
        grad_scores_(TakeWords(carver, padded_ / 2 * kTileBlock)),
        across_(carver.Take(width_ * kTileBlock)),
        workspace_(carver.Take(width_ * kTileBlock)),
        saved_(reinterpret_cast<SavedQuery*>(carver.Take(padded_ * sizeof(SavedQuery) / 4))) {
    const size_t stride = task.qkv_stride;
    const Bf16* keys = task.qkv + task.hidden;
    PackTokenTiles(keys, stride, length_, padded_, width_ / 2, keys_);
    PackTokenTiles(keys + task.hidden, stride, length_, padded_, width_ / 2, values_);
    PackPaddedPairs(keys, stride, length_, padded_, width_, key_pairs_);
    PackQueryFactors(task.qkv, stride, length_, padded_, width_, PairsOfQueries(), queries_);
    PackQueryFactors(task.grad_out, task.out_stride, length_, padded_, width_, PairsOfQueries(),
                     grads_);
    for (size_t r = 0; r < length_; ++r) {
      saved_[r] = {-task.log_sums[r] * kLog2E,
                   RowDot(grads_.rows + r * width_, task.saved_out + r * task.out_stride, width_),
                   DropoutOf(task, r)};
    }
  }

  // Gradients of the 32 keys and values from `key` on, and what they add to those of the queries.
  HWY_INLINE void AddKeys(AmxTiles& tiles, size_t key) {
    HWY_ALIGN float scores[2][kTileBlock * kTileBlock];
    HWY_ALIGN float grads[2][kTileBlock * kTileBlock];
    HWY_ALIGN Bf16 grad_rows[kTileBlock * kTileBlock];
    size_t turn = 0;
    MultiplyTile(tiles, 0, key, scores[0], grads[0]);
    for (size_t first = 0; first < length_; first += kTileBlock, turn = 1 - turn) {
      // The next block's products run while this one's exponentials do.
      if (first + kTileBlock < length_) {
        MultiplyTile(tiles, first + kTileBlock, key, scores[1 - turn], grads[1 - turn]);
      }
      const BackwardTile tile{scores[turn],
                              grads[turn],
                              saved_ + first,
                              std::min(kTileBlock, length_ - first),
                              key,
                              std::min(kTileBlock, length_ - key),
                              factor_,
                              probabilities_ + first / 2 * kTileBlock,
                              grad_scores_ + first / 2 * kTileBlock,
                              grad_rows};
      for (size_t r = 0; r < kTileBlock; r += 2) {
        if (key == 0) Fetch(first + r);
        BackwardTwoRows(tile, r);
      }
      TileProduct(tiles, 2, width_ / kTileSide, 1, Along<uint32_t>{AsWords(grad_rows), kTileSide},
                  Rows<uint32_t>{key_pairs_ + key / 2 * width_, width_},
                  {grad_queries_ + first * width_, width_, key > 0});
    }
    Bf16* to = task_.grad_qkv + task_.hidden + key * task_.qkv_stride;
    StoreSums(tiles, queries_, grad_scores_, key, factor_, to);
    StoreSums(tiles, grads_, probabilities_, key, 1.0F, to + task_.hidden);
  }

  HWY_INLINE void StoreQueries() const {
    StoreRows<true>(grad_queries_, length_, width_, factor_, task_.grad_qkv, task_.qkv_stride);
  }

 private:
  // Scores and gradients of probabilities, of 32 queries and 32 keys.
  HWY_INLINE void MultiplyTile(AmxTiles& tiles, size_t first, size_t key, float* scores,
                               float* grads) const {
    const size_t words = width_ / 2, depth = words / kTileSide;
    ProductOfTiles(tiles, 2, depth,
                   TilesOf(Along<uint32_t>{AsWords(queries_.rows + first * width_), words}),
                   TokenTiles(keys_, key, words), {scores, kTileBlock, false});
    ProductOfTiles(tiles, 2, depth,
                   TilesOf(Along<uint32_t>{AsWords(grads_.rows + first * width_), words}),
                   TokenTiles(values_, key, words), {grads, kTileBlock, false});
  }

  // The sum over all queries of by^T pairs, for the keys from `key` on.
  HWY_INLINE void StoreSums(AmxTiles& tiles, const QueryFactors& by, const uint32_t* pairs,
                            size_t key, float factor, Bf16* to) const {
    TileProduct(tiles, width_ / kTileSide, 2, padded_ / kTileBlock,
                Along<uint32_t>{by.across, padded_ / 2}, Rows<uint32_t>{pairs, kTileBlock},
                {across_, kTileBlock, false});
    StoreAcross(across_, std::min(kTileBlock, length_ - key), width_, factor, workspace_, to,
                task_.qkv_stride);
  }

  // Asks for what the next task reads and this one writes, two rows of it.
  HWY_INLINE void Fetch(size_t row) const {
    FetchRowsForNext(task_, row, row + 2);
    if (row < length_) FetchGradients(task_, row, std::min<size_t>(2, length_ - row));
  }

  // Memory for pairs of all queries, where their gradients will be.
  HWY_INLINE uint32_t* PairsOfQueries() const { return reinterpret_cast<uint32_t*>(grad_queries_); }

  const AttentionTask<Bf16>& task_;
  size_t length_, padded_, width_;
  float factor_;
  uint32_t* keys_;       // token tiles
  uint32_t* values_;     // token tiles
  uint32_t* key_pairs_;  // [padded / 2, width]
  QueryFactors queries_, grads_;
  float* grad_queries_;      // [padded, width]
  uint32_t* probabilities_;  // [padded / 2, 32], of the keys at hand
  uint32_t* grad_scores_;    // [padded / 2, 32]
  float* across_;            // [width, 32]
  float* workspace_;         // [32, width]
  SavedQuery* saved_;        // [length]
};

HWY_INLINE void BackwardTaskOnTiles(const AttentionTask<Bf16>& task, float* workspace) {
  Carver carver(workspace);
  TextOnTiles text(task, carver);
  AmxTiles tiles;
  for (size_t key = 0; key < task.length; key += kTileBlock) text.AddKeys(tiles, key);
  text.StoreQueries();
  FetchForNext(task, RoundUp(task.length, kTileBlock), kTileBlock);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

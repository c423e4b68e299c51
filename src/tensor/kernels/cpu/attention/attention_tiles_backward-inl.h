// The backward task of attention.cc on AMX; attention_tiles-inl.h says how it works. Included once
// per target by attention.cc.
#if defined(TANDEM_TENSOR_ATTENTION_TILES_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ATTENTION_TILES_BACKWARD_INL_H_
#undef TANDEM_TENSOR_ATTENTION_TILES_BACKWARD_INL_H_
#else
#define TANDEM_TENSOR_ATTENTION_TILES_BACKWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_task.h"
#include "tensor/kernels/cpu/attention/attention_tiles-inl.h"
#include "tensor/kernels/cpu/rows/row_pairs-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/products/tile_product-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// The numbers of a query that the backward pass needs besides its scores.
struct SavedQuery {
  float shift;  // added to the exponents (base 2) of its scores: minus log2 of their sum
  float delta;  // as SavedRow's
  DropoutRow dropout;
};

// A text's queries, or the gradients of its outputs, in the layouts of the two products that they
// are factors of.
struct QueryFactors {
  Bf16* rows;            // [padded, width]
  uint32_t* transposed;  // [width, padded / 2]: pairs of rows
};

HWY_INLINE QueryFactors AllocateQueryFactors(Scratch& scratch, size_t padded, size_t width) {
  return {.rows = scratch.Allocate<Bf16>(padded * width),
          .transposed = scratch.Allocate<uint32_t>(padded / 2 * width)};
}

// `pairs` [padded / 2, width] is working memory.
HWY_INLINE void PackQueryFactors(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                                 uint32_t* pairs, const QueryFactors& to) {
  const size_t width = from.width;
  CopyRows(from, rows, padded, to.rows);
  PackRowPairs({to.rows, width, width}, padded, pairs);
  Transpose({pairs, 4 * width, padded / 2, width}, padded / 2, to.transposed);
}

// Rounds two vectors of 16 to bf16 and stores them as 16 words, `low` in the low halves and `high`
// in the high halves; also each by itself unless `lows` is null.
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

// 32 queries against 32 keys in the backward pass.
struct BackwardTile {
  const float* scores;              // [32, 32]
  const float* grad_probabilities;  // [32, 32]
  const SavedQuery* queries;        // [32]
  size_t rows;                      // how many of the queries the text has
  size_t first_key;
  size_t keys;   // how many of the keys the text has
  float factor;  // scores are multiplied by it before the softmax
  // Results:
  uint32_t* probabilities;  // dropout(P), pairs of queries [16, 32]
  uint32_t* grad_scores;    // gradients of score * factor, pairs of queries [16, 32]
  Bf16* grad_score_rows;    // the same, [32, 32]
};

// BackwardRow for two queries, from `first` on. Queries that the text does not have get zeros.
HWY_INLINE void BackwardTwoRows(const BackwardTile& tile, size_t first) {
  const FloatTag d;
  const auto factors = hn::Set(d, tile.factor * kLog2E);
  FloatVec dropped[2][2], grads[2][2];  // [query][half of the keys]: dropout(P), its gradient
  TANDEM_UNROLL(2)
  for (size_t q = 0; q < 2; ++q) {
    if (first + q >= tile.rows) {
      dropped[q][0] = dropped[q][1] = grads[q][0] = grads[q][1] = hn::Zero(d);
      continue;
    }
    const SavedQuery& query = tile.queries[first + q];
    const size_t row = (first + q) * kTileBlock;
    const auto shift = hn::Set(d, query.shift), delta = hn::Set(d, query.delta);
    FloatVec mask[2] = {hn::Set(d, 1.0F), hn::Set(d, 1.0F)};
    const bool drops = query.dropout.threshold != 0;
    if (drops) ApplyDropoutToPair(mask, query.dropout, static_cast<uint32_t>(tile.first_key));
    TANDEM_UNROLL(2)
    for (size_t half = 0; half < 2; ++half) {
      const size_t j = half * kTileSide;
      // Exponents of huge scores round to values above 0, but no probability is above 1. Min keeps
      // a NaN.
      const auto y = hn::MulAdd(hn::Load(d, tile.scores + row + j), factors, shift);
      auto p = Exp2<true>(d, hn::Min(hn::Zero(d), y));
      if (j + kTileSide > tile.keys) {
        p = hn::IfThenElseZero(hn::FirstN(d, tile.keys > j ? tile.keys - j : 0), p);
      }
      auto g = hn::Load(d, tile.grad_probabilities + row + j);
      dropped[q][half] = p;
      if (drops) {
        g = hn::Mul(g, mask[half]);
        dropped[q][half] = hn::Mul(p, mask[half]);
      }
      grads[q][half] = hn::Mul(p, hn::Sub(g, delta));
    }
  }
  TANDEM_UNROLL(2)
  for (size_t half = 0; half < 2; ++half) {
    const size_t j = half * kTileSide, at = first / 2 * kTileBlock + j;
    Bf16* rows = tile.grad_score_rows + first * kTileBlock + j;
    StorePairs(dropped[0][half], dropped[1][half], tile.probabilities + at);
    StorePairs(grads[0][half], grads[1][half], tile.grad_scores + at, rows, rows + kTileBlock);
  }
}

// The arrays of a text's backward pass.
struct TextArrays {
  uint32_t* keys;       // token tiles of [padded, width]
  uint32_t* values;     // token tiles of [padded, width]
  uint32_t* key_pairs;  // [padded / 2, width]
  QueryFactors queries, grads;
  float* grad_queries;      // [padded, width]
  uint32_t* probabilities;  // [padded / 2, 32], of the current keys
  uint32_t* grad_scores;    // [padded / 2, 32], of the current keys
  float* transposed_sums;   // [width, 32]
  float* sums;              // [32, width]
  SavedQuery* saved;        // [padded]
};

HWY_INLINE TextArrays AllocateTextArrays(size_t padded, size_t width) {
  return AllocateScratch<AttentionScratch>([=](Scratch& scratch) {
    return TextArrays{.keys = scratch.Allocate<uint32_t>(padded / 2 * width),
                      .values = scratch.Allocate<uint32_t>(padded / 2 * width),
                      .key_pairs = scratch.Allocate<uint32_t>(padded / 2 * width),
                      .queries = AllocateQueryFactors(scratch, padded, width),
                      .grads = AllocateQueryFactors(scratch, padded, width),
                      .grad_queries = scratch.Allocate<float>(padded * width),
                      .probabilities = scratch.Allocate<uint32_t>(padded / 2 * kTileBlock),
                      .grad_scores = scratch.Allocate<uint32_t>(padded / 2 * kTileBlock),
                      .transposed_sums = scratch.Allocate<float>(width * kTileBlock),
                      .sums = scratch.Allocate<float>(width * kTileBlock),
                      .saved = scratch.Allocate<SavedQuery>(padded)};
  });
}

// The backward pass over a text. What does not depend on the block of keys is made once, by the
// constructor.
class TextOnTiles {
 public:
  explicit TextOnTiles(const AttentionTask<Bf16>& task)
      : task_(task),
        length_(task.length),
        padded_(RoundUp(task.length, kTileBlock)),
        width_(task.head_width),
        factor_(1.0F / std::sqrt(static_cast<float>(task.head_width))),
        m_(AllocateTextArrays(padded_, width_)) {
    PackTokenTiles(InputRows(task, 1), length_, padded_, m_.keys);
    PackTokenTiles(InputRows(task, 2), length_, padded_, m_.values);
    PackPaddedPairs(InputRows(task, 1), length_, padded_, m_.key_pairs);
    // The gradients of queries are summed later; until then their memory is free to work in.
    auto* pairs = reinterpret_cast<uint32_t*>(m_.grad_queries);
    PackQueryFactors(InputRows(task, 0), length_, padded_, pairs, m_.queries);
    PackQueryFactors({task.grad_out, task.out_stride, width_}, length_, padded_, pairs, m_.grads);
    for (size_t r = 0; r < length_; ++r) {
      m_.saved[r] = {
          -task.log_sums[r] * kLog2E,
          RowDot(m_.grads.rows + r * width_, task.saved_out + r * task.out_stride, width_),
          DropoutOf(task, r)};
    }
  }

  // Stores the gradients of the 32 keys and values from `key` on, and adds what these keys
  // contribute to the gradients of the queries.
  HWY_INLINE void AddKeys(AmxTiles& tiles, size_t key) {
    HWY_ALIGN float scores[2][kTileBlock * kTileBlock];
    HWY_ALIGN float grads[2][kTileBlock * kTileBlock];
    HWY_ALIGN Bf16 grad_rows[kTileBlock * kTileBlock];
    size_t turn = 0;
    MultiplyTile(tiles, 0, key, scores[0], grads[0]);
    for (size_t first = 0; first < length_; first += kTileBlock, turn = 1 - turn) {
      // The next block's products are issued first, so that they run beside this one's
      // exponentials.
      if (first + kTileBlock < length_) {
        MultiplyTile(tiles, first + kTileBlock, key, scores[1 - turn], grads[1 - turn]);
      }
      const BackwardTile tile{scores[turn],
                              grads[turn],
                              m_.saved + first,
                              std::min(kTileBlock, length_ - first),
                              key,
                              std::min(kTileBlock, length_ - key),
                              factor_,
                              m_.probabilities + first / 2 * kTileBlock,
                              m_.grad_scores + first / 2 * kTileBlock,
                              grad_rows};
      for (size_t r = 0; r < kTileBlock; r += 2) {
        if (key == 0) Prefetch(first + r);
        BackwardTwoRows(tile, r);
      }
      TileProduct(tiles, {2, width_ / kTileSide, 1},
                  RowMajor<uint32_t>{AsWords(grad_rows), kTileSide},
                  Rows<uint32_t>{m_.key_pairs + key / 2 * width_, width_},
                  {m_.grad_queries + first * width_, width_, key > 0});
    }
    StoreSums(tiles, m_.queries, m_.grad_scores, key, 1);
    StoreSums(tiles, m_.grads, m_.probabilities, key, 2);
  }

  HWY_INLINE void StoreQueries() const {
    StoreRows<true>(m_.grad_queries, length_, factor_, GradientRows(task_, 0));
  }

 private:
  // Scores of 32 queries against 32 keys, and the gradients of their probabilities.
  HWY_INLINE void MultiplyTile(AmxTiles& tiles, size_t first, size_t key, float* scores,
                               float* grads) const {
    const size_t words = width_ / 2;
    const TileCounts counts{2, words / kTileSide};
    ProductOfTiles(
        tiles, counts,
        TileOperandOf(RowMajor<uint32_t>{AsWords(m_.queries.rows + first * width_), words}),
        TokenTiles(m_.keys, key, words), {scores, kTileBlock, false});
    ProductOfTiles(
        tiles, counts,
        TileOperandOf(RowMajor<uint32_t>{AsWords(m_.grads.rows + first * width_), words}),
        TokenTiles(m_.values, key, words), {grads, kTileBlock, false});
  }

  // Stores the gradients of the keys (part 1) or values (part 2) from `key` on: the sums over all
  // queries of factors^T pairs.
  HWY_INLINE void StoreSums(AmxTiles& tiles, const QueryFactors& factors, const uint32_t* pairs,
                            size_t key, size_t part) const {
    TileProduct(tiles, {width_ / kTileSide, 2, padded_ / kTileBlock},
                RowMajor<uint32_t>{factors.transposed, padded_ / 2},
                Rows<uint32_t>{pairs, kTileBlock}, {m_.transposed_sums, kTileBlock, false});
    const size_t count = std::min(kTileBlock, length_ - key);
    Transpose({m_.transposed_sums, 4 * kTileBlock, width_, count}, width_,
              reinterpret_cast<uint32_t*>(m_.sums));
    StoreRows<true>(m_.sums, count, part == 1 ? factor_ : 1.0F, GradientRows(task_, part, key));
  }

  // Prefetches two rows of the arrays that the next task reads, and two of the array that this task
  // writes.
  HWY_INLINE void Prefetch(size_t row) const {
    PrefetchRowsOfNext(task_, row, row + 2);
    if (row < length_) PrefetchGradients(task_, row, std::min<size_t>(2, length_ - row));
  }

  const AttentionTask<Bf16>& task_;
  size_t length_, padded_, width_;
  float factor_;
  TextArrays m_;
};

HWY_INLINE void BackwardTaskOnTiles(const AttentionTask<Bf16>& task) {
  TextOnTiles text(task);
  AmxTiles tiles;
  for (size_t key = 0; key < task.length; key += kTileBlock) text.AddKeys(tiles, key);
  text.StoreQueries();
  PrefetchNext(task, RoundUp(task.length, kTileBlock), kTileBlock);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

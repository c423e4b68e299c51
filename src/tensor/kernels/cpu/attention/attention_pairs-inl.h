// The tasks of attention.cc with AVX512-BF16, whose instruction vdpbf16ps multiplies pairs of bf16
// values. Included once per target by attention.cc.
//
// A word is a pair of bf16 values that are neighbours along the depth of a product. Where the depth
// runs over channels, rows of queries, keys and gradients are words as they lie in memory. Where it
// runs over tokens, two rows are interleaved. Scores, exponentials and sums are floats;
// probabilities and gradients of scores are rounded to bf16 before they are multiplied.
#if defined(TANDEM_TENSOR_ATTENTION_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ATTENTION_PAIRS_INL_H_
#undef TANDEM_TENSOR_ATTENTION_PAIRS_INL_H_
#else
#define TANDEM_TENSOR_ATTENTION_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention/attention_task.h"
#include "tensor/kernels/cpu/rows/row_pairs-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Stores a block's exponentials as rows of bf16 values.
struct StoreBf16 {
  Bf16* rows;
  size_t stride;
  HWY_INLINE void operator()(size_t row, size_t column, FloatVec v) const {
    StoreRounded(v, rows + row * stride + column);
  }
};

HWY_INLINE void ForwardTaskOnPairs(const AttentionTask<Bf16>& task) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 16);
  const size_t words = width / 2, key_pairs = (length + 1) / 2;
  struct Arrays {
    uint32_t* keys;       // transposed, [words, padded]
    uint32_t* values;     // [key_pairs, width]
    float* block_out;     // [kForwardBlock, width]
    float* scores;        // [kForwardBlock, padded]
    Bf16* probabilities;  // [kForwardBlock, padded]
  };
  const Arrays m = AllocateScratch<AttentionScratch>([&](Scratch& scratch) {
    return Arrays{.keys = scratch.Allocate<uint32_t>(words * padded),
                  .values = scratch.Allocate<uint32_t>(key_pairs * width),
                  .block_out = scratch.Allocate<float>(kForwardBlock * width),
                  .scores = scratch.Allocate<float>(kForwardBlock * padded),
                  .probabilities = scratch.Allocate<Bf16>(kForwardBlock * padded)};
  });
  DropoutRow dropout[kForwardBlock];
  SoftmaxSums sums[kForwardBlock];
  Transpose({task.qkv + task.hidden, stride * sizeof(Bf16), length, words}, padded, m.keys);
  PackRowPairs(InputRows(task, 2), length, m.values);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t begin = 0; begin < length; begin += kForwardBlock) {
    const auto [first, rows] = BlockAt(begin, length);
    PrefetchNext(task, begin, kForwardBlock);
    PrefetchToL2(task.out, task.out_stride, first, first + rows, width);
    for (size_t r = 0; r < rows; ++r) dropout[r] = DropoutOf(task, first + r);
    const ScoreBlock<uint32_t> block{.rows = rows,
                                     .length = length,
                                     .padded = padded,
                                     .depth = words,
                                     .queries = {AsWords(task.qkv + first * stride), stride / 2},
                                     .keys = {m.keys, padded},
                                     .factor = score_scale,
                                     .dropout = dropout,
                                     .wants_log_sums = task.log_sums != nullptr,
                                     .scores = m.scores};
    SoftmaxOfBlock<true>(block, sums, StoreBf16{m.probabilities, padded});
    StoreLogSums(task, sums, first, rows);
    SmallProduct({rows, width, key_pairs}, RowMajor<uint32_t>{AsWords(m.probabilities), padded / 2},
                 {m.values, width}, {m.block_out, width, false});
    StoreScaled<true>(task, m.block_out, sums, first, rows);
  }
}

HWY_INLINE void BackwardTaskOnPairs(const AttentionTask<Bf16>& task) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 16);
  const size_t words = width / 2, key_pairs = (length + 1) / 2;
  struct Arrays {
    uint32_t *key_channels, *value_channels;  // transposed, [words, padded]
    uint32_t* key_rows;                       // [key_pairs, width]
    float *grad_keys, *grad_values;           // [padded, width]
    uint32_t *query_rows, *grad_rows;         // of a block, [kBackwardBlock / 2, width]
    float* grad_queries;                      // of a block, [kBackwardBlock, width]
    float *scores, *grad_probabilities;       // [kBackwardBlock, padded]
    Bf16 *probabilities, *grad_scores;        // [kBackwardBlock, padded]
    uint32_t* row_pairs;                      // [kBackwardBlock / 2, padded]
  };
  const Arrays m = AllocateScratch<AttentionScratch>([&](Scratch& scratch) {
    return Arrays{.key_channels = scratch.Allocate<uint32_t>(words * padded),
                  .value_channels = scratch.Allocate<uint32_t>(words * padded),
                  .key_rows = scratch.Allocate<uint32_t>(key_pairs * width),
                  .grad_keys = scratch.Allocate<float>(padded * width),
                  .grad_values = scratch.Allocate<float>(padded * width),
                  .query_rows = scratch.Allocate<uint32_t>(kBackwardBlock / 2 * width),
                  .grad_rows = scratch.Allocate<uint32_t>(kBackwardBlock / 2 * width),
                  .grad_queries = scratch.Allocate<float>(kBackwardBlock * width),
                  .scores = scratch.Allocate<float>(kBackwardBlock * padded),
                  .grad_probabilities = scratch.Allocate<float>(kBackwardBlock * padded),
                  .probabilities = scratch.Allocate<Bf16>(kBackwardBlock * padded),
                  .grad_scores = scratch.Allocate<Bf16>(kBackwardBlock * padded),
                  .row_pairs = scratch.Allocate<uint32_t>(kBackwardBlock / 2 * padded)};
  });
  const Bf16* keys = task.qkv + task.hidden;
  const size_t row_bytes = stride * sizeof(Bf16);
  Transpose({keys, row_bytes, length, words}, padded, m.key_channels);
  Transpose({keys + task.hidden, row_bytes, length, words}, padded, m.value_channels);
  PackRowPairs(InputRows(task, 1), length, m.key_rows);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t first = 0; first < length; first += kBackwardBlock) {
    const size_t rows = std::min(kBackwardBlock, length - first), pairs = (rows + 1) / 2;
    PrefetchNext(task, first, kBackwardBlock);
    PrefetchGradients(task, first, rows);
    const Bf16* queries = task.qkv + first * stride;
    const Bf16* grad = task.grad_out + first * task.out_stride;
    const Bf16* out = task.saved_out + first * task.out_stride;
    PackRowPairs(InputRows(task, 0, first), rows, m.query_rows);
    PackRowPairs({grad, task.out_stride, width}, rows, m.grad_rows);
    SmallProduct({rows, padded, words}, RowMajor<uint32_t>{AsWords(queries), stride / 2},
                 {m.key_channels, padded}, {m.scores, padded, false});
    SmallProduct({rows, padded, words}, RowMajor<uint32_t>{AsWords(grad), task.out_stride / 2},
                 {m.value_channels, padded}, {m.grad_probabilities, padded, false});
    for (size_t r = 0; r < rows; ++r) {
      const float delta = RowDot(grad + r * task.out_stride, out + r * task.out_stride, width);
      Bf16* probability_row = m.probabilities + r * padded;
      Bf16* grad_row = m.grad_scores + r * padded;
      BackwardRow<true>({m.scores + r * padded, length, padded, score_scale},
                        m.grad_probabilities + r * padded, {task.log_sums[first + r], delta},
                        DropoutOf(task, first + r),
                        [=](size_t j, FloatVec probabilities, FloatVec grads) HWY_ATTR {
                          StoreRounded(probabilities, probability_row + j);
                          StoreRounded(grads, grad_row + j);
                        });
    }
    PackRowPairs({m.probabilities, padded, padded}, rows, m.row_pairs);
    SmallProduct({length, width, pairs}, Transposed<uint32_t>{m.row_pairs, padded},
                 {m.grad_rows, width}, {m.grad_values, width, first > 0});
    PackRowPairs({m.grad_scores, padded, padded}, rows, m.row_pairs);
    SmallProduct({length, width, pairs}, Transposed<uint32_t>{m.row_pairs, padded},
                 {m.query_rows, width}, {m.grad_keys, width, first > 0});
    SmallProduct({rows, width, key_pairs}, RowMajor<uint32_t>{AsWords(m.grad_scores), padded / 2},
                 {m.key_rows, width}, {m.grad_queries, width, false});
    StoreRows<true>(m.grad_queries, rows, score_scale, GradientRows(task, 0, first));
  }
  StoreRows<true>(m.grad_keys, length, score_scale, GradientRows(task, 1));
  StoreRows<true>(m.grad_values, length, 1.0F, GradientRows(task, 2));
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

// The tasks of attention.cc on the processor's products of bf16 pairs. Included once per target by
// attention.cc.
//
// A word is two bf16 values that follow each other along the depth of a product. Where that is
// along the channels, rows of queries, keys and gradients are words as they lie in memory; where it
// is along the tokens, two rows are interleaved. Scores, exponentials and sums are floats;
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

#include "tensor/kernels/cpu/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention_task.h"
#include "tensor/kernels/cpu/row_pairs-inl.h"
#include "tensor/kernels/cpu/small_product-inl.h"
#include "tensor/kernels/cpu/transpose-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

HWY_INLINE uint32_t* TakeWords(Carver& carver, size_t count) {
  return reinterpret_cast<uint32_t*>(carver.Take(count));
}
// `count` bf16 values, an even number.
HWY_INLINE Bf16* TakeHalves(Carver& carver, size_t count) {
  return reinterpret_cast<Bf16*>(carver.Take(count / 2));
}

// Rows of 16 floats rounded to bf16 values that follow each other.
struct StoreHalves {
  Bf16* rows;
  size_t stride;
  HWY_INLINE void operator()(size_t row, size_t column, FloatVec v) const {
    StoreRounded(v, rows + row * stride + column);
  }
};

HWY_INLINE void ForwardTaskOnPairs(const AttentionTask<Bf16>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 16);
  const size_t words = width / 2, key_pairs = (length + 1) / 2;
  Carver carver(workspace);
  uint32_t* keys = TakeWords(carver, words * padded);
  uint32_t* values = TakeWords(carver, key_pairs * width);
  float* mixed = carver.Take(kForwardBlock * width);
  float* scores = carver.Take(kForwardBlock * padded);
  Bf16* probabilities = TakeHalves(carver, kForwardBlock * padded);
  DropoutRow dropout[kForwardBlock];
  SoftmaxSums sums[kForwardBlock];
  Transpose({task.qkv + task.hidden, stride * sizeof(Bf16), length, words}, padded, keys);
  PackRowPairs(task.qkv + 2 * task.hidden, stride, length, width, values);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t begin = 0; begin < length; begin += kForwardBlock) {
    const auto [first, rows] = BlockAt(begin, length);
    FetchForNext(task, begin, kForwardBlock);
    FetchForLater(task.out, task.out_stride, first, first + rows, width);
    for (size_t r = 0; r < rows; ++r) dropout[r] = DropoutOf(task, first + r);
    const ScoreBlock<uint32_t> block{.rows = rows,
                                     .length = length,
                                     .padded = padded,
                                     .depth = words,
                                     .queries = {AsWords(task.qkv + first * stride), stride / 2},
                                     .keys = {keys, padded},
                                     .factor = score_scale,
                                     .dropout = dropout,
                                     .wants_log_sums = task.log_sums != nullptr,
                                     .scores = scores};
    SoftmaxOfBlock<true>(block, sums, StoreHalves{probabilities, padded});
    StoreLogSums(task, sums, first, rows);
    SmallProduct(rows, width, key_pairs, Along<uint32_t>{AsWords(probabilities), padded / 2},
                 {values, width}, {mixed, width, false});
    StoreScaled<true>(task, mixed, sums, first, rows);
  }
}

HWY_INLINE void BackwardTaskOnPairs(const AttentionTask<Bf16>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 16);
  const size_t words = width / 2, key_pairs = (length + 1) / 2;
  Carver carver(workspace);
  uint32_t* key_channels = TakeWords(carver, words * padded);
  uint32_t* value_channels = TakeWords(carver, words * padded);
  uint32_t* key_rows = TakeWords(carver, key_pairs * width);
  float* grad_keys = carver.Take(padded * width);
  float* grad_values = carver.Take(padded * width);
  uint32_t* query_rows = TakeWords(carver, kBackwardBlock / 2 * width);
  uint32_t* grad_rows = TakeWords(carver, kBackwardBlock / 2 * width);
  float* grad_queries = carver.Take(kBackwardBlock * width);
  float* scores = carver.Take(kBackwardBlock * padded);
  float* grad_probabilities = carver.Take(kBackwardBlock * padded);
  Bf16* probabilities = TakeHalves(carver, kBackwardBlock * padded);
  Bf16* grad_scores = TakeHalves(carver, kBackwardBlock * padded);
  uint32_t* row_pairs = TakeWords(carver, kBackwardBlock / 2 * padded);
  const Bf16* keys = task.qkv + task.hidden;
  const size_t row_bytes = stride * sizeof(Bf16);
  Transpose({keys, row_bytes, length, words}, padded, key_channels);
  Transpose({keys + task.hidden, row_bytes, length, words}, padded, value_channels);
  PackRowPairs(keys, stride, length, width, key_rows);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t first = 0; first < length; first += kBackwardBlock) {
    const size_t rows = std::min(kBackwardBlock, length - first), pairs = (rows + 1) / 2;
    FetchForNext(task, first, kBackwardBlock);
    FetchGradients(task, first, rows);
    const Bf16* queries = task.qkv + first * stride;
    const Bf16* grad = task.grad_out + first * task.out_stride;
    const Bf16* out = task.saved_out + first * task.out_stride;
    PackRowPairs(queries, stride, rows, width, query_rows);
    PackRowPairs(grad, task.out_stride, rows, width, grad_rows);
    SmallProduct(rows, padded, words, Along<uint32_t>{AsWords(queries), stride / 2},
                 {key_channels, padded}, {scores, padded, false});
    SmallProduct(rows, padded, words, Along<uint32_t>{AsWords(grad), task.out_stride / 2},
                 {value_channels, padded}, {grad_probabilities, padded, false});
    for (size_t r = 0; r < rows; ++r) {
      const float delta = RowDot(grad + r * task.out_stride, out + r * task.out_stride, width);
      Bf16* kept_row = probabilities + r * padded;
      Bf16* grad_row = grad_scores + r * padded;
      BackwardRow<true>(scores + r * padded, grad_probabilities + r * padded, length, padded,
                        {score_scale, task.log_sums[first + r], delta}, DropoutOf(task, first + r),
                        [=](size_t j, FloatVec kept_part, FloatVec grad_part) HWY_ATTR {
                          StoreRounded(kept_part, kept_row + j);
                          StoreRounded(grad_part, grad_row + j);
                        });
    }
    PackRowPairs(probabilities, padded, rows, padded, row_pairs);
    SmallProduct(length, width, pairs, Across<uint32_t>{row_pairs, padded}, {grad_rows, width},
                 {grad_values, width, first > 0});
    PackRowPairs(grad_scores, padded, rows, padded, row_pairs);
    SmallProduct(length, width, pairs, Across<uint32_t>{row_pairs, padded}, {query_rows, width},
                 {grad_keys, width, first > 0});
    SmallProduct(rows, width, key_pairs, Along<uint32_t>{AsWords(grad_scores), padded / 2},
                 {key_rows, width}, {grad_queries, width, false});
    StoreRows<true>(grad_queries, rows, width, score_scale, task.grad_qkv + first * stride, stride);
  }
  StoreRows<true>(grad_keys, length, width, score_scale, task.grad_qkv + task.hidden, stride);
  StoreRows<true>(grad_values, length, width, 1.0F, task.grad_qkv + 2 * task.hidden, stride);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

// The tasks of attention.cc on the processor's products of bf16 pairs: twice the rate of its float
// products. Included once per target by attention.cc.
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
#include <cstring>

#include "tensor/kernels/cpu/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention_task.h"
#include "tensor/kernels/cpu/small_product-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

HWY_INLINE uint32_t* TakeWords(Carver& carver, size_t count) {
  return reinterpret_cast<uint32_t*>(carver.Take(count));
}

// Rows of bf16 values as words of two channels each.
HWY_INLINE const uint32_t* AsWords(const Bf16* rows) {
  return reinterpret_cast<const uint32_t*>(rows);  // read with memcpy only
}

// [length] rows of 2 * words channels to [words, padded]: word c of token j at (c, j). Tokens from
// length on are zero.
HWY_INLINE void PackChannels(const Bf16* from, size_t stride, size_t length, size_t words,
                             size_t padded, uint32_t* HWY_RESTRICT to) {
  for (size_t j = 0; j < length; ++j) {
    for (size_t c = 0; c < words; ++c) {
      std::memcpy(to + c * padded + j, from + j * stride + 2 * c, sizeof(uint32_t));
    }
  }
  for (size_t c = 0; c < words; ++c) std::fill(to + c * padded + length, to + (c + 1) * padded, 0U);
}

HWY_INLINE WordVec WidenHalves(const Bf16* from) {
  const hn::Rebind<uint16_t, FloatTag> d16;
  return hn::PromoteTo(WordTag(), hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
}

// Rows 2 i and 2 i + 1 to row i of words, [ceil(rows / 2), width]; a row that is missing is zero.
HWY_INLINE void PackRowPairs(const Bf16* from, size_t stride, size_t rows, size_t width,
                             uint32_t* HWY_RESTRICT to) {
  const WordTag d;
  for (size_t r = 0; r < rows; r += 2) {
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      const Bf16* low = from + r * stride + c;
      const auto high = r + 1 < rows ? WidenHalves(low + stride) : hn::Zero(d);
      hn::StoreU(hn::Or(WidenHalves(low), hn::ShiftLeft<16>(high)), d, to + r / 2 * width + c);
    }
  }
}

// Floats rounded to bf16 in the low halves of words.
HWY_INLINE WordVec RoundToHalves(FloatVec v) {
  __m256i halves;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(v.raw));
  return WordVec{_mm512_cvtepu16_epi32(halves)};
}

// A row of floats to bf16 values that follow each other, count / 2 words.
HWY_INLINE void RoundRow(const float* from, size_t count, uint32_t* to) {
  const FloatTag d;
  const hn::Rebind<uint16_t, FloatTag> d16;
  auto* halves = reinterpret_cast<uint16_t*>(to);
  for (size_t j = 0; j < count; j += hn::Lanes(d)) {
    const auto rounded = RoundToHalves(hn::LoadU(d, from + j));
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(hn::RebindToSigned<FloatTag>(), rounded)), d16,
               halves + j);
  }
}

// Rows 2 i and 2 i + 1 of floats [rows, count] to row i of words, as PackRowPairs.
HWY_INLINE void RoundRowPairs(const float* from, size_t rows, size_t count,
                              uint32_t* HWY_RESTRICT to) {
  const FloatTag d;
  for (size_t r = 0; r < rows; r += 2) {
    const float* low = from + r * count;
    for (size_t j = 0; j < count; j += hn::Lanes(d)) {
      auto word = RoundToHalves(hn::LoadU(d, low + j));
      if (r + 1 < rows) {
        const auto high = RoundToHalves(hn::LoadU(d, low + count + j));
        word = hn::Or(word, hn::ShiftLeft<16>(high));
      }
      hn::StoreU(word, WordTag(), to + r / 2 * count + j);
    }
  }
}

HWY_INLINE void ForwardTaskOnPairs(const AttentionTask<Bf16>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp16(length);
  const size_t words = width / 2, key_pairs = (length + 1) / 2;
  Carver carver(workspace);
  uint32_t* keys = TakeWords(carver, words * padded);
  uint32_t* values = TakeWords(carver, key_pairs * width);
  float* mixed = carver.Take(kQueryBlock * width);
  float* scores = carver.Take(kQueryBlock * padded);
  uint32_t* probabilities = TakeWords(carver, kQueryBlock * padded / 2);
  float* scales = carver.Take(kQueryBlock);
  PackChannels(task.qkv + task.hidden, stride, length, words, padded, keys);
  PackRowPairs(task.qkv + 2 * task.hidden, stride, length, width, values);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t first = 0; first < length; first += kQueryBlock) {
    const size_t rows = std::min(kQueryBlock, length - first);
    SmallProduct(rows, padded, words,
                 Strided<uint32_t>{AsWords(task.qkv + first * stride), stride / 2, 1},
                 {keys, padded}, {scores, padded, false});
    for (size_t r = 0; r < rows; ++r) {
      float log_sum = 0;
      scales[r] = SoftmaxRow(scores + r * padded, length, padded, score_scale,
                             DropoutOf(task, first + r), &log_sum);
      if (task.log_sums) task.log_sums[first + r] = log_sum;
      RoundRow(scores + r * padded, padded, probabilities + r * padded / 2);
    }
    SmallProduct(rows, width, key_pairs, Strided<uint32_t>{probabilities, padded / 2, 1},
                 {values, width}, {mixed, width, false});
    StoreScaled(task, mixed, scales, first, rows);
  }
}

HWY_INLINE void BackwardTaskOnPairs(const AttentionTask<Bf16>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp16(length);
  const size_t words = width / 2, key_pairs = (length + 1) / 2;
  Carver carver(workspace);
  uint32_t* key_channels = TakeWords(carver, words * padded);
  uint32_t* value_channels = TakeWords(carver, words * padded);
  uint32_t* key_rows = TakeWords(carver, key_pairs * width);
  float* grad_keys = carver.Take(padded * width);
  float* grad_values = carver.Take(padded * width);
  uint32_t* query_rows = TakeWords(carver, kQueryBlock / 2 * width);
  uint32_t* grad_rows = TakeWords(carver, kQueryBlock / 2 * width);
  float* grad_queries = carver.Take(kQueryBlock * width);
  float* scores = carver.Take(kQueryBlock * padded);
  float* grad_scores = carver.Take(kQueryBlock * padded);
  uint32_t* row_pairs = TakeWords(carver, kQueryBlock / 2 * padded);
  uint32_t* rounded = TakeWords(carver, kQueryBlock * padded / 2);
  const Bf16* keys = task.qkv + task.hidden;
  PackChannels(keys, stride, length, words, padded, key_channels);
  PackChannels(keys + task.hidden, stride, length, words, padded, value_channels);
  PackRowPairs(keys, stride, length, width, key_rows);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t first = 0; first < length; first += kQueryBlock) {
    const size_t rows = std::min(kQueryBlock, length - first), pairs = (rows + 1) / 2;
    const Bf16* queries = task.qkv + first * stride;
    const Bf16* grad = task.grad_out + first * task.out_stride;
    const Bf16* out = task.saved_out + first * task.out_stride;
    PackRowPairs(queries, stride, rows, width, query_rows);
    PackRowPairs(grad, task.out_stride, rows, width, grad_rows);
    SmallProduct(rows, padded, words, Strided<uint32_t>{AsWords(queries), stride / 2, 1},
                 {key_channels, padded}, {scores, padded, false});
    SmallProduct(rows, padded, words, Strided<uint32_t>{AsWords(grad), task.out_stride / 2, 1},
                 {value_channels, padded}, {grad_scores, padded, false});
    for (size_t r = 0; r < rows; ++r) {
      const float delta = RowDot(grad + r * task.out_stride, out + r * task.out_stride, width);
      BackwardRow(scores + r * padded, grad_scores + r * padded, length, padded,
                  {score_scale, task.log_sums[first + r], delta}, DropoutOf(task, first + r));
      RoundRow(grad_scores + r * padded, padded, rounded + r * padded / 2);
    }
    RoundRowPairs(scores, rows, padded, row_pairs);
    SmallProduct(length, width, pairs, Strided<uint32_t>{row_pairs, 1, padded}, {grad_rows, width},
                 {grad_values, width, first > 0});
    RoundRowPairs(grad_scores, rows, padded, row_pairs);
    SmallProduct(length, width, pairs, Strided<uint32_t>{row_pairs, 1, padded}, {query_rows, width},
                 {grad_keys, width, first > 0});
    SmallProduct(rows, width, key_pairs, Strided<uint32_t>{rounded, padded / 2, 1},
                 {key_rows, width}, {grad_queries, width, false});
    StoreRows(grad_queries, rows, width, score_scale, task.grad_qkv + first * stride, stride);
  }
  StoreRows(grad_keys, length, width, score_scale, task.grad_qkv + task.hidden, stride);
  StoreRows(grad_values, length, width, 1.0F, task.grad_qkv + 2 * task.hidden, stride);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

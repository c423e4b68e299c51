// What attention does to rows, whatever multiplies: loads and stores, softmax, and the row of the
// backward pass. Included once per target by attention.cc.
#if defined(TANDEM_TENSOR_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ATTENTION_ROWS_INL_H_
#undef TANDEM_TENSOR_ATTENTION_ROWS_INL_H_
#else
#define TANDEM_TENSOR_ATTENTION_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tensor/kernels/cpu/attention_task.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Hands out consecutive pieces of a task's workspace.
class Carver {
 public:
  explicit Carver(float* next) : next_(next) {}
  float* Take(size_t count) {
    float* piece = next_;
    next_ += count;
    return piece;
  }

 private:
  float* next_;
};

// Asks for the row that is read some rows later. The rows of one head lie a page or so apart, where
// processors do not foresee them.
template <typename A>
HWY_INLINE void FetchAhead(const A* from, size_t stride, size_t row, size_t rows, size_t width) {
  constexpr size_t kAhead = 16, kLine = 64 / sizeof(A);
  if (row + kAhead >= rows) return;
  const A* ahead = from + (row + kAhead) * stride;
  for (size_t c = 0; c < width; c += kLine) hwy::Prefetch(ahead + c);
}

// Asks for rows first .. end, [width] each, in the second-level cache: so many lines would drive
// others out of the first.
template <typename A>
HWY_INLINE void FetchForLater(const A* rows, size_t stride, size_t first, size_t end,
                              size_t width) {
  if (rows == nullptr) return;
  constexpr size_t kLine = 64 / sizeof(A);
  for (size_t r = first; r < end; ++r) {
    for (size_t c = 0; c < width; c += kLine) __builtin_prefetch(rows + r * stride + c, 0, 2);
  }
}

// Asks for rows begin .. end of what the next task reads; those that it does not have are left out.
template <typename A>
HWY_INLINE void FetchRowsForNext(const AttentionTask<A>& task, size_t begin, size_t end) {
  const NextTask<A>& next = task.next;
  if (begin >= next.length) return;
  end = std::min(end, next.length);
  const size_t width = task.head_width;
  for (size_t part = 0; part < 3; ++part) {
    FetchForLater(next.qkv + part * task.hidden, task.qkv_stride, begin, end, width);
  }
  FetchForLater(next.saved_out, task.out_stride, begin, end, width);
  FetchForLater(next.grad_out, task.out_stride, begin, end, width);
}

// Asks, block of queries after block, for as many rows of what the next task reads.
template <typename A>
HWY_INLINE void FetchForNext(const AttentionTask<A>& task, size_t begin, size_t block) {
  const bool last = begin + block >= task.length;
  FetchRowsForNext(task, begin, last ? task.next.length : begin + block);
}

// Asks for what a block of queries writes in the backward pass: their gradients at its end, and in
// time those of as many keys and values.
template <typename A>
HWY_INLINE void FetchGradients(const AttentionTask<A>& task, size_t first, size_t rows) {
  for (size_t part = 0; part < 3; ++part) {
    FetchForLater(task.grad_qkv + part * task.hidden, task.qkv_stride, first, first + rows,
                  task.head_width);
  }
}

// `rows` [rows, width] of the `available` ones as floats, row stride `stride` in `from`.
template <typename A>
HWY_INLINE void LoadRows(const A* from, size_t stride, size_t rows, size_t available, size_t width,
                         float* to) {
  const FloatTag d;
  for (size_t r = 0; r < rows; ++r) {
    FetchAhead(from, stride, r, available, width);
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      hn::StoreU(LoadFloat(d, from + r * stride + c), d, to + r * width + c);
    }
  }
}

// The way back: rows times `factor`.
template <bool kNatively = false, typename A>
HWY_INLINE void StoreRows(const float* from, size_t length, size_t width, float factor, A* to,
                          size_t stride) {
  const FloatTag d;
  const auto f = hn::Set(d, factor);
  for (size_t r = 0; r < length; ++r) {
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      StoreAs<kNatively>(hn::Mul(hn::LoadU(d, from + r * width + c), f), d, to + r * stride + c);
    }
  }
}

template <typename A>
HWY_INLINE DropoutRow DropoutOf(const AttentionTask<A>& task, size_t query) {
  if (task.threshold == 0) return {};
  return {RowKey(task.site_key, static_cast<uint64_t>(task.position_keys[query])), task.threshold,
          task.keep_scale};
}

// Entries length .. padded become minus infinity.
HWY_INLINE void MaskPadding(float* scores, size_t length, size_t padded) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  for (size_t j = length / lanes * lanes; j < padded; j += lanes) {
    const auto inside = hn::FirstN(d, length > j ? length - j : 0);
    hn::StoreU(hn::IfThenElse(inside, hn::LoadU(d, scores + j), hn::Set(d, -INFINITY)), d,
               scores + j);
  }
}

// What becomes of a row of scores.
struct SoftmaxSums {
  float scale;    // 1 / sum of the exponentials
  float log_sum;  // of the exponentials of the scores times their factor; only if asked for
};

// scores [padded] become dropout(exp((score - max) * factor)), handed to `store` vector by vector
// with its first entry's number; entries from length on are 0.
template <bool kForBf16, typename Store>
HWY_INLINE SoftmaxSums SoftmaxRow(float* scores, size_t length, size_t padded, float factor,
                                  const DropoutRow& dropout, bool wants_log_sum,
                                  const Store& store) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  MaskPadding(scores, length, padded);
  auto high = hn::LoadU(d, scores);
  for (size_t j = lanes; j < padded; j += lanes) high = hn::Max(high, hn::LoadU(d, scores + j));
  const auto maximum = hn::MaxOfLanes(d, high);
  const auto factors = hn::Set(d, factor * kLog2E);
  auto total = hn::Zero(d);
  for (size_t j = 0; j < padded; j += lanes) {
    // Not score * factor - max * factor in one: scores so large that this rounds would overflow.
    const auto below = hn::Sub(hn::LoadU(d, scores + j), maximum);
    const auto e = Exp2<kForBf16>(d, hn::Mul(below, factors));
    total = hn::Add(total, e);
    store(j, dropout.threshold == 0 ? e : ApplyDropout(e, dropout, static_cast<uint32_t>(j)));
  }
  const float sum = hn::GetLane(hn::SumOfLanes(d, total));
  if (!wants_log_sum) return {1.0F / sum, 0};
  return {1.0F / sum, factor * hn::GetLane(maximum) + std::log(sum)};
}

template <typename A>
HWY_INLINE void StoreLogSums(const AttentionTask<A>& task, const SoftmaxSums* sums, size_t first,
                             size_t rows) {
  if (task.log_sums == nullptr) return;
  for (size_t r = 0; r < rows; ++r) task.log_sums[first + r] = sums[r].log_sum;
}

// Rows of the block at `first`, each times its own factor, to the task's output.
template <bool kNatively = false, typename A>
HWY_INLINE void StoreScaled(const AttentionTask<A>& task, const float* mixed,
                            const SoftmaxSums* sums, size_t first, size_t rows) {
  const FloatTag d;
  for (size_t r = 0; r < rows; ++r) {
    const auto scale = hn::Set(d, sums[r].scale);
    for (size_t c = 0; c < task.head_width; c += hn::Lanes(d)) {
      StoreAs<kNatively>(hn::Mul(hn::LoadU(d, mixed + r * task.head_width + c), scale), d,
                         task.out + (first + r) * task.out_stride + c);
    }
  }
}

// What the backward pass knows of a row besides its scores.
struct SavedRow {
  float factor;  // of the scores
  float log_sum;
  float delta;  // gradient of the output times output
};

// One row of the backward pass, from scores and grad_probabilities. Hands to `store`, vector by
// vector with its first entry's number, dropout(P), for the values' gradient, and
// P (dropout'(dP) - delta), the gradient of the scores times their factor.
template <bool kForBf16, typename Store>
HWY_INLINE void BackwardRow(float* HWY_RESTRICT scores,
                            const float* HWY_RESTRICT grad_probabilities, size_t length,
                            size_t padded, const SavedRow& saved, const DropoutRow& dropout,
                            const Store& store) {
  const FloatTag d;
  MaskPadding(scores, length, padded);
  const auto factors = hn::Set(d, saved.factor * kLog2E);
  const auto shift = hn::Set(d, -saved.log_sum * kLog2E);
  const auto deltas = hn::Set(d, saved.delta);
  for (size_t j = 0; j < padded; j += hn::Lanes(d)) {
    // No probability is above 1, however the exponents of huge scores are rounded; a NaN stays.
    const auto y = hn::MulAdd(hn::LoadU(d, scores + j), factors, shift);
    const auto p = Exp2<kForBf16>(d, hn::Min(hn::Zero(d), y));
    auto g = hn::LoadU(d, grad_probabilities + j);
    auto kept = p;
    if (dropout.threshold != 0) {
      const auto mask = ApplyDropout(hn::Set(d, 1.0F), dropout, static_cast<uint32_t>(j));
      g = hn::Mul(g, mask);
      kept = hn::Mul(p, mask);
    }
    store(j, kept, hn::Mul(p, hn::Sub(g, deltas)));
  }
}

template <typename A>
HWY_INLINE float RowDot(const A* a, const A* b, size_t width) {
  const FloatTag d;
  auto sum = hn::Zero(d);
  for (size_t c = 0; c < width; c += hn::Lanes(d)) {
    sum = hn::MulAdd(LoadFloat(d, a + c), LoadFloat(d, b + c), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

// Steps of attention that all its implementations share: loads and stores of rows, prefetches, the
// softmax of a row of scores, and the gradient of a row of scores. Included once per target by
// attention.cc.
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

#include "tensor/kernels/cpu/attention/attention_task.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Prefetches the row that will be read a few rows later. The rows of a head lie about a page apart,
// where hardware prefetchers do not find them.
template <typename A>
HWY_INLINE void PrefetchAhead(const A* from, size_t stride, size_t row, size_t rows, size_t width) {
  constexpr size_t kAhead = 16, kLine = 64 / sizeof(A);
  if (row + kAhead >= rows) return;
  const A* ahead = from + (row + kAhead) * stride;
  for (size_t c = 0; c < width; c += kLine) hwy::Prefetch(ahead + c);
}

// Prefetches rows first .. end, [width] each, to the second-level cache: so many lines would evict
// others from the first.
template <typename A>
HWY_INLINE void PrefetchToL2(const A* rows, size_t stride, size_t first, size_t end, size_t width) {
  if (rows == nullptr) return;
  constexpr size_t kLine = 64 / sizeof(A);
  for (size_t r = first; r < end; ++r) {
    for (size_t c = 0; c < width; c += kLine) __builtin_prefetch(rows + r * stride + c, 0, 2);
  }
}

// Prefetches rows begin .. end of the next task's inputs, as far as that task has them.
template <typename A>
HWY_INLINE void PrefetchRowsOfNext(const AttentionTask<A>& task, size_t begin, size_t end) {
  const NextTask<A>& next = task.next;
  if (begin >= next.length) return;
  end = std::min(end, next.length);
  const size_t width = task.head_width;
  for (size_t part = 0; part < 3; ++part) {
    PrefetchToL2(next.qkv + part * task.hidden, task.qkv_stride, begin, end, width);
  }
  PrefetchToL2(next.saved_out, task.out_stride, begin, end, width);
  PrefetchToL2(next.grad_out, task.out_stride, begin, end, width);
}

// Kernels call this for every block of queries. It prefetches as many rows of the next task's
// inputs as the block has, and with the last block all rows that are left.
template <typename A>
HWY_INLINE void PrefetchNext(const AttentionTask<A>& task, size_t begin, size_t block) {
  const bool last = begin + block >= task.length;
  PrefetchRowsOfNext(task, begin, last ? task.next.length : begin + block);
}

// Prefetches the rows of grad_qkv that belong to a block of queries. The backward pass writes the
// queries' gradients at the end of the block, those of keys and values at the end of the task.
template <typename A>
HWY_INLINE void PrefetchGradients(const AttentionTask<A>& task, size_t first, size_t rows) {
  for (size_t part = 0; part < 3; ++part) {
    PrefetchToL2(task.grad_qkv + part * task.hidden, task.qkv_stride, first, first + rows,
                 task.head_width);
  }
}

// Converts the first `rows` of the `available` rows to floats, [rows, width] without gaps.
template <typename A>
HWY_INLINE void LoadRows(const StridedRows<const A>& from, size_t rows, size_t available,
                         float* to) {
  const FloatTag d;
  for (size_t r = 0; r < rows; ++r) {
    PrefetchAhead(from.data, from.stride, r, available, from.width);
    for (size_t c = 0; c < from.width; c += hn::Lanes(d)) {
      hn::StoreU(LoadFloat(d, from.data + r * from.stride + c), d, to + r * from.width + c);
    }
  }
}

// The inverse of LoadRows: stores `from` [rows, width] times `factor`.
template <bool kNativeBf16 = false, typename A>
HWY_INLINE void StoreRows(const float* from, size_t rows, float factor, const StridedRows<A>& to) {
  const FloatTag d;
  const auto f = hn::Set(d, factor);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < to.width; c += hn::Lanes(d)) {
      StoreAs<kNativeBf16>(hn::Mul(hn::LoadU(d, from + r * to.width + c), f), d,
                           to.data + r * to.stride + c);
    }
  }
}

// One head's rows of queries (part 0), keys (1) and values (2), and of their gradients, from token
// `first` on.
template <typename A>
HWY_INLINE StridedRows<const A> InputRows(const AttentionTask<A>& task, size_t part,
                                          size_t first = 0) {
  return {task.qkv + part * task.hidden + first * task.qkv_stride, task.qkv_stride,
          task.head_width};
}
template <typename A>
HWY_INLINE StridedRows<A> GradientRows(const AttentionTask<A>& task, size_t part,
                                       size_t first = 0) {
  return {task.grad_qkv + part * task.hidden + first * task.qkv_stride, task.qkv_stride,
          task.head_width};
}

// The dropout of a query's probabilities.
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

// The softmax of a row is its exponentials times `scale`.
struct SoftmaxSums {
  float scale;    // 1 / the sum of the exponentials
  float log_sum;  // log of the sum of exp(score * factor); 0 unless it was asked for
};

// Scores of one query against the keys of a text.
struct ScoreRow {
  float* scores;  // [padded]; entries from `length` on become minus infinity
  size_t length;
  size_t padded;  // a multiple of 16
  float factor;   // what scores are multiplied by before the softmax: 1 / sqrt(head width)
};

// Calls store(j, v) for every vector of dropout(exp((score - max) * factor)), j the index of its
// first entry. Entries from `length` on are 0.
template <bool kForBf16, typename Store>
HWY_INLINE SoftmaxSums SoftmaxRow(const ScoreRow& row, const DropoutRow& dropout,
                                  bool wants_log_sum, const Store& store) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d), padded = row.padded;
  float* scores = row.scores;
  const float factor = row.factor;
  MaskPadding(scores, row.length, padded);
  auto high = hn::LoadU(d, scores);
  for (size_t j = lanes; j < padded; j += lanes) high = hn::Max(high, hn::LoadU(d, scores + j));
  const auto maximum = hn::MaxOfLanes(d, high);
  const auto factors = hn::Set(d, factor * kLog2E);
  auto total = hn::Zero(d);
  for (size_t j = 0; j < padded; j += lanes) {
    // Subtracts before it multiplies: score * factor - max * factor would overflow for huge scores.
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

// Stores the block of output rows that begins at query `first`, each row times its sums' scale.
template <bool kNativeBf16 = false, typename A>
HWY_INLINE void StoreScaled(const AttentionTask<A>& task, const float* block_out,
                            const SoftmaxSums* sums, size_t first, size_t rows) {
  const FloatTag d;
  for (size_t r = 0; r < rows; ++r) {
    const auto scale = hn::Set(d, sums[r].scale);
    for (size_t c = 0; c < task.head_width; c += hn::Lanes(d)) {
      StoreAs<kNativeBf16>(hn::Mul(hn::LoadU(d, block_out + r * task.head_width + c), scale), d,
                           task.out + (first + r) * task.out_stride + c);
    }
  }
}

// The numbers of a query that the backward pass needs besides its scores.
struct SavedRow {
  float log_sum;  // as SoftmaxSums
  float delta;    // the dot product of the output's row and its gradient
};

// The gradient of a row of scores, from the scores and the gradients of the probabilities after
// dropout. Calls store(j, probabilities, grad_scores) for every vector, j the index of its first
// entry: dropout(P), which the values' gradient is made of, and P (dropout'(dP) - delta), the
// gradient of score * factor.
template <bool kForBf16, typename Store>
HWY_INLINE void BackwardRow(const ScoreRow& row, const float* HWY_RESTRICT grad_probabilities,
                            const SavedRow& saved, const DropoutRow& dropout, const Store& store) {
  const FloatTag d;
  float* HWY_RESTRICT scores = row.scores;
  const size_t padded = row.padded;
  MaskPadding(scores, row.length, padded);
  const auto factors = hn::Set(d, row.factor * kLog2E);
  const auto shift = hn::Set(d, -saved.log_sum * kLog2E);
  const auto deltas = hn::Set(d, saved.delta);
  for (size_t j = 0; j < padded; j += hn::Lanes(d)) {
    // Exponents of huge scores round to values above 0, but no probability is above 1.
    const auto y = hn::MulAdd(hn::LoadU(d, scores + j), factors, shift);
    const auto p = Exp2<kForBf16>(d, AtMostZero(d, y));
    auto g = hn::LoadU(d, grad_probabilities + j);
    auto dropped = p;
    if (dropout.threshold != 0) {
      const auto mask = ApplyDropout(hn::Set(d, 1.0F), dropout, static_cast<uint32_t>(j));
      g = hn::Mul(g, mask);
      dropped = hn::Mul(p, mask);
    }
    store(j, dropped, hn::Mul(p, hn::Sub(g, deltas)));
  }
}

// The dot product of two rows.
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

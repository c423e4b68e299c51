// The steps of general attention that all its implementations share: how a query's scores against a
// span of keys become probabilities, and the gradient of that. Included once per target by
// general_attention.cc.
#if defined(TANDEM_TENSOR_GENERAL_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_GENERAL_ATTENTION_ROWS_INL_H_
#undef TANDEM_TENSOR_GENERAL_ATTENTION_ROWS_INL_H_
#else
#define TANDEM_TENSOR_GENERAL_ATTENTION_ROWS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_task.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The products of a query with the keys of a span.
struct SpanRow {
  float* products;     // [size], overwritten with exponents or parts of them
  size_t size;         // a multiple of kKeyUnit
  TokenRange visible;  // the span's keys that the query reads
  const float* bias;   // [size], or null: none
  uint32_t first_key;  // the span's first key; a multiple of kKeyUnit
};

// Prefetches rows begin .. end of what the next task reads, as far as it has them: those of one
// query head, and with the first head those of keys and values.
template <typename A>
HWY_INLINE void PrefetchUpcoming(const GeneralTask<A>& task, size_t head, size_t begin,
                                 size_t end) {
  const UpcomingTask<A>& next = task.next;
  const size_t width = task.width, at = head * width;
  end = std::min(end, next.length);
  if (begin >= end) return;
  PrefetchToL2(next.queries + at, task.qkv_stride, begin, end, width);
  if (next.grad_out != nullptr) {
    PrefetchToL2(next.saved_out + at, task.out_stride, begin, end, width);
    PrefetchToL2(next.grad_out + at, task.out_stride, begin, end, width);
  }
  if (head > 0) return;
  PrefetchToL2(next.keys, task.qkv_stride, begin, end, width);
  PrefetchToL2(next.values, task.qkv_stride, begin, end, width);
}

// Serves a block of queries of a head that reads a chunk, `place` queries after the first one that
// does: prefetches the head's next queries, and a share of the next chunk, or after the last chunk
// a share of the next task.
template <typename A>
HWY_INLINE void PrefetchBehind(const GeneralTask<A>& task, size_t head, TokenRange block,
                               TokenRange chunk, size_t place) {
  const size_t width = task.width, stride = task.qkv_stride, rows = block.size();
  PrefetchToL2(task.queries + head * width, stride, block.end,
               std::min(block.end + rows, task.range.end), width);
  if (chunk.end >= task.mask.KeysOf(task.range, task.length).end) {
    return PrefetchUpcoming(task, head, place, place + rows);
  }
  if (head > 0) return;
  const size_t begin = chunk.end + place;
  const size_t end = std::min({begin + rows, chunk.end + chunk.size(), task.length});
  PrefetchToL2(task.keys, stride, begin, end, width);
  PrefetchToL2(task.values, stride, begin, end, width);
}

template <typename A>
HWY_INLINE DropoutRow DropoutOf(const GeneralTask<A>& task, uint64_t site_key, size_t query) {
  if (!task.dropout.active()) return {};
  return {RowKey(site_key, static_cast<uint64_t>(task.position_keys[query])),
          KeepThreshold(task.dropout.rate), KeepScale(task.dropout.rate)};
}

// The row of query `query` in a span of keys, for query head `head` of the group.
template <typename A>
HWY_INLINE SpanRow RowOf(const GeneralTask<A>& task, size_t head, size_t query, TokenRange span,
                         float* products) {
  const TokenRange keys = task.mask.KeysOf(query, task.length);
  const size_t begin = std::clamp(keys.begin, span.begin, span.end);
  const size_t end = std::clamp(keys.end, begin, span.end);
  const float* bias = task.bias == nullptr ? nullptr
                                           : task.bias + head * task.bias_stride +
                                                 static_cast<ptrdiff_t>(span.begin - query);
  return {products,
          span.size(),
          {begin - span.begin, end - span.begin},
          bias,
          static_cast<uint32_t>(span.begin)};
}

// products become cap_out tanh(cap_in products).
inline HWY_NOINLINE void CapProducts(float* products, size_t size, const ScoreUnits& units) {
  const FloatTag d;
  const auto in = hn::Set(d, units.cap_in), out = hn::Set(d, units.cap_out);
  for (size_t j = 0; j < size; j += hn::Lanes(d)) {
    const auto x = hn::Mul(hn::LoadU(d, products + j), in);
    const auto capped = hn::Mul(out, hn::Tanh(d, x));
    hn::StoreU(hn::IfThenElse(hn::IsNaN(x), x, capped), d, products + j);
  }
}

// Products outside the visible part become minus infinity.
HWY_INLINE void HideKeys(const SpanRow& row) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto hidden = hn::Set(d, -INFINITY);
  for (size_t j = 0; j < row.visible.begin; j += lanes) {
    const auto first = hn::FirstN(d, row.visible.begin - j);
    hn::StoreU(hn::IfThenElse(first, hidden, hn::LoadU(d, row.products + j)), d, row.products + j);
  }
  for (size_t j = row.visible.end / lanes * lanes; j < row.size; j += lanes) {
    const auto inside = hn::FirstN(d, row.visible.end > j ? row.visible.end - j : 0);
    hn::StoreU(hn::IfThenElse(inside, hn::LoadU(d, row.products + j), hidden), d, row.products + j);
  }
}

// Caps the products and adds the bias, as far as the task has them, and hides the keys that the
// query does not read. Returns what the results are to be multiplied by to become exponents.
HWY_INLINE float PrepareRow(const SpanRow& row, const ScoreUnits& units) {
  const FloatTag d;
  float factor = units.factor;
  if (units.cap_in > 0) CapProducts(row.products, row.size, units);
  if (row.bias != nullptr) {
    const auto factors = hn::Set(d, factor);
    for (size_t j = 0; j < row.size; j += hn::Lanes(d)) {
      const auto bias = hn::LoadU(d, row.bias + j);
      const auto product = hn::LoadU(d, row.products + j);
      hn::StoreU(hn::MulAdd(product, factors, bias), d, row.products + j);
    }
    factor = 1;
  }
  HideKeys(row);
  return factor;
}

// A query's softmax over the spans so far.
struct RunningSums {
  // The number that is subtracted from scores before exponentials are taken, in the units that
  // PrepareRow leaves: the maximum; or 0, as long as all scores are so small that they need no
  // shift.
  float shift = -std::numeric_limits<float>::infinity();
  float sum = 0;  // of the exponentials
};

// Adds a span to a query's sums. Calls store(j, v) for every vector of the span's exponentials
// after dropout, j the index of its first key. Returns what the sums of earlier spans, also those
// of values, are to be multiplied by: below 1 where the maximum rose.
template <bool kForBf16, typename Store>
HWY_INLINE float AddSpan(const SpanRow& row, const ScoreUnits& units, const DropoutRow& dropout,
                         RunningSums& sums, const Store& store) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const float factor = PrepareRow(row, units);
  auto high = hn::Set(d, sums.shift);
  for (size_t j = 0; j < row.size; j += lanes) {
    high = hn::Max(high, hn::LoadU(d, row.products + j));
  }
  const float before = sums.shift;
  sums.shift = hn::GetLane(hn::MaxOfLanes(d, high));
  // Where nothing is visible yet the maximum is minus infinity, and exponentials shall be 0.
  const bool nothing = sums.shift == -std::numeric_limits<float>::infinity();
  const auto shift = hn::Set(d, nothing ? 0 : sums.shift);
  const auto factors = hn::Set(d, factor);
  auto total = hn::Zero(d);
  DropoutOfRow drop(dropout);
  for (size_t j = 0; j < row.size; j += lanes) {
    // Subtracts before it multiplies: products times the factor would overflow for huge products.
    const auto below = hn::Sub(hn::LoadU(d, row.products + j), shift);
    const auto e = Exp2<kForBf16>(d, hn::Mul(below, factors));
    total = hn::Add(total, e);
    store(j, dropout.threshold == 0 ? e : drop.Apply(e, row.first_key + j));
  }
  const float rescale =
      before == sums.shift || nothing ? 1 : std::exp2((before - sums.shift) * factor);
  sums.sum = sums.sum * rescale + hn::GetLane(hn::SumOfLanes(d, total));
  return rescale;
}

// The lanes of the vector at `j` whose keys the query reads.
HWY_INLINE hn::Mask<FloatTag> VisibleLanes(const TokenRange& visible, size_t j) {
  const FloatTag d;
  const auto before = hn::FirstN(d, visible.begin > j ? visible.begin - j : 0);
  return hn::AndNot(before, hn::FirstN(d, visible.end > j ? visible.end - j : 0));
}

// AddSpan for a query whose exponentials are unshifted (attention_scores-inl.h), in one pass:
// returns their sum. Raises `largest` to the magnitude of what is multiplied by `factor` to give
// exponents; the results are valid only where the caller finds it small enough.
template <bool kForBf16, typename Store>
HWY_INLINE float AddUnshifted(const SpanRow& row, const ScoreUnits& units,
                              const DropoutRow& dropout, WordVec& largest, const Store& store) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  if (units.cap_in > 0) CapProducts(row.products, row.size, units);
  const auto factors = hn::Set(d, units.factor);
  auto total = hn::Zero(d);
  DropoutOfRow drop(dropout);
  for (size_t j = 0; j < row.size; j += lanes) {
    auto x = hn::LoadU(d, row.products + j);
    if (row.bias != nullptr) {
      x = hn::MulAdd(x, factors, hn::LoadU(d, row.bias + j));
    }
    const bool whole = j >= row.visible.begin && j + lanes <= row.visible.end;
    if (!whole) x = hn::IfThenElseZero(VisibleLanes(row.visible, j), x);
    largest = MaxMagnitude(largest, x);
    auto e = Exp2InRange<kForBf16>(d, row.bias != nullptr ? x : hn::Mul(x, factors));
    if (!whole) e = hn::IfThenElseZero(VisibleLanes(row.visible, j), e);
    total = hn::Add(total, e);
    store(j, dropout.threshold == 0 ? e : drop.Apply(e, row.first_key + j));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

// Says whether exponents of values of these magnitudes times `factor` may stay unshifted.
HWY_INLINE bool FitsUnshifted(WordVec largest, float factor) {
  return MayStayUnshifted(largest, factor / kLog2E);
}

// The log (base 2) of the sum of a query's exponentials, and the factor that makes them
// probabilities.
HWY_INLINE float LogSum(const RunningSums& sums, const ScoreUnits& units, bool has_bias) {
  return sums.shift * (has_bias ? 1 : units.factor) + std::log2(sums.sum);
}

// Multiplies `row` [width] by a factor.
HWY_INLINE void ScaleRow(float* row, size_t width, float factor) {
  const FloatTag d;
  const auto f = hn::Set(d, factor);
  for (size_t c = 0; c < width; c += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + c), f), d, row + c);
  }
}

// The gradients of a query's products in a span of keys, before they are multiplied by the scale:
// calls store(j, probabilities, gradients) for every vector, j the index of its first key;
// probabilities after dropout, which the values' gradient is made of. Adds the gradients of the
// biases to `grad_bias` [size] unless it is null.
template <bool kForBf16, typename Store>
HWY_INLINE void SpanGradients(const SpanRow& row, const ScoreUnits& units,
                              const float* grad_probabilities, const SavedRow& saved,
                              const DropoutRow& dropout, float* grad_bias, const Store& store) {
  const FloatTag d;
  const auto factors = hn::Set(d, PrepareRow(row, units));
  const auto shift = hn::Set(d, -saved.log_sum), delta = hn::Set(d, saved.delta);
  const auto to_tanh = hn::Set(d, units.cap_in > 0 ? 1 / units.cap_out : 0);
  DropoutOfRow drop(dropout);
  for (size_t j = 0; j < row.size; j += hn::Lanes(d)) {
    const auto prepared = hn::LoadU(d, row.products + j);
    // Exponents of huge scores round to values above 0, but no probability is above 1.
    const auto y = hn::MulAdd(prepared, factors, shift);
    const auto p = Exp2<kForBf16>(d, AtMostZero(d, y));
    auto g = hn::LoadU(d, grad_probabilities + j);
    auto dropped = p;
    if (dropout.threshold != 0) {
      const auto mask = drop.Apply(hn::Set(d, 1.0F), row.first_key + j);
      g = hn::Mul(g, mask);
      dropped = hn::Mul(p, mask);
    }
    auto grad = hn::Mul(p, hn::Sub(g, delta));
    if (grad_bias != nullptr) {
      hn::StoreU(hn::Add(hn::LoadU(d, grad_bias + j), grad), d, grad_bias + j);
    }
    if (units.cap_in > 0) {
      const auto capped =
          row.bias == nullptr ? prepared : hn::Sub(prepared, hn::LoadU(d, row.bias + j));
      // Hidden keys are at minus infinity.
      const auto tanh = hn::Max(hn::Mul(capped, to_tanh), hn::Set(d, -1.0F));
      grad = hn::Mul(grad, hn::NegMulAdd(tanh, tanh, hn::Set(d, 1.0F)));
    }
    store(j, dropped, grad);
  }
}

// Adds the gradients of a head's biases by distance to those of the buckets. `distances`
// [2 length - 1] begins at distance 1 - length.
template <typename A>
HWY_INLINE void SumBuckets(const GeneralTask<A>& task, size_t head, const float* distances) {
  double* sums = task.grad_bias + head * task.bucket_count;
  std::fill_n(sums, task.bucket_count, 0.0);
  const int32_t* buckets = task.buckets - (task.length - 1);
  for (size_t i = 0; i + 1 < 2 * task.length; ++i) sums[buckets[i]] += distances[i];
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

#include "tensor/kernels/cpu/rows/rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/rows/rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/rows/gelu-inl.h"
#include "tensor/kernels/cpu/rows/row_dropout-inl.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

template <bool kNativeBf16, typename A>
void GeluForwardT(const A* HWY_RESTRICT in, A* HWY_RESTRICT activated, size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto x = LoadFloat(d, in + i);
    StoreAs<kNativeBf16>(Gelu<kIsBf16<A>>(x).Value(), d, activated + i);
  }
}

template <bool kNativeBf16, typename A>
void GeluBackwardT(const A* HWY_RESTRICT in, A* HWY_RESTRICT grad, A* HWY_RESTRICT activated,
                   size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Gelu<kIsBf16<A>> gelu(LoadFloat(d, in + i));
    StoreAs<kNativeBf16>(gelu.Value(), d, activated + i);
    StoreAs<kNativeBf16>(hn::Mul(LoadFloat(d, grad + i), gelu.Slope()), d, grad + i);
  }
}

template <bool kNativeBf16, typename A>
void ResidualNormForwardT(const ResidualNormForward<A>& args, size_t rows, size_t width) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float sum_row[kMaxWidth];
  for (size_t r = 0; r < rows; ++r) {
    const DropoutRow dropout = RowOf(args.dropout, r);
    const float* HWY_RESTRICT branch = args.branch + r * width;
    const A* HWY_RESTRICT residual = args.residual ? args.residual + r * width : nullptr;
    DropoutOfRow row_dropout(dropout);
    auto total = hn::Zero(d);
    for (size_t c = 0; c < width; c += lanes) {
      auto v = LoadFloat(d, branch + c);
      if (dropout.threshold != 0) v = row_dropout.Apply(v, c);
      if (residual) v = hn::Add(v, LoadFloat(d, residual + c));
      hn::StoreU(v, d, sum_row + c);
      total = hn::Add(total, v);
    }
    const float mean = hn::GetLane(hn::SumOfLanes(d, total)) / static_cast<float>(width);
    const auto mean_vector = hn::Set(d, mean);
    auto squares = hn::Zero(d);
    for (size_t c = 0; c < width; c += lanes) {
      const auto v = hn::Sub(hn::LoadU(d, sum_row + c), mean_vector);
      squares = hn::MulAdd(v, v, squares);
    }
    const float variance = hn::GetLane(hn::SumOfLanes(d, squares)) / static_cast<float>(width);
    const float inverse = 1.0F / std::sqrt(variance + args.epsilon);
    const auto inverse_vector = hn::Set(d, inverse);
    if (args.inverse_deviation) args.inverse_deviation[r] = inverse;
    for (size_t c = 0; c < width; c += lanes) {
      const auto v = hn::Mul(hn::Sub(hn::LoadU(d, sum_row + c), mean_vector), inverse_vector);
      if (args.normalized) StoreAs<kNativeBf16>(v, d, args.normalized + r * width + c);
      const auto out = hn::MulAdd(v, hn::LoadU(d, args.gamma + c), hn::LoadU(d, args.beta + c));
      StoreAs<kNativeBf16>(out, d, args.out + r * width + c);
    }
  }
}

template <bool kNativeBf16, typename A>
void ResidualNormBackwardT(const ResidualNormBackward<A>& args, size_t rows, size_t width) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto inverse_width = hn::Set(d, 1.0F / static_cast<float>(width));
  const auto normalized_at = [&args, d](const A* row, size_t c) HWY_ATTR {
    const auto x = LoadFloat(d, row + c);
    if (args.inverse_gamma == nullptr) return x;
    return hn::Mul(hn::Sub(x, hn::LoadU(d, args.beta + c)), hn::LoadU(d, args.inverse_gamma + c));
  };
  for (size_t r = 0; r < rows; ++r) {
    const DropoutRow dropout = RowOf(args.dropout, r);
    const A* HWY_RESTRICT grad_out = args.grad_out + r * width;
    const A* HWY_RESTRICT normalized = args.normalized + r * width;
    A* HWY_RESTRICT grad_residual = args.grad_residual + r * width;
    A* HWY_RESTRICT grad_branch = args.grad_branch ? args.grad_branch + r * width : nullptr;
    auto sum = hn::Zero(d);
    auto product = hn::Zero(d);
    for (size_t c = 0; c < width; c += lanes) {
      const auto g = LoadFloat(d, grad_out + c);
      const auto x = normalized_at(normalized, c);
      hn::StoreU(hn::Add(hn::LoadU(d, args.grad_beta + c), g), d, args.grad_beta + c);
      hn::StoreU(hn::MulAdd(g, x, hn::LoadU(d, args.grad_gamma + c)), d, args.grad_gamma + c);
      const auto scaled = hn::Mul(g, hn::LoadU(d, args.gamma + c));
      sum = hn::Add(sum, scaled);
      product = hn::MulAdd(scaled, x, product);
    }
    const auto mean = hn::Mul(hn::SumOfLanes(d, sum), inverse_width);
    const auto slope = hn::Mul(hn::SumOfLanes(d, product), inverse_width);
    const auto inverse = hn::Set(d, args.inverse_deviation[r]);
    DropoutOfRow row_dropout(dropout);
    for (size_t c = 0; c < width; c += lanes) {
      const auto scaled = hn::Mul(LoadFloat(d, grad_out + c), hn::LoadU(d, args.gamma + c));
      const auto x = normalized_at(normalized, c);
      const auto g = hn::Mul(hn::NegMulAdd(x, slope, hn::Sub(scaled, mean)), inverse);
      StoreAs<kNativeBf16>(g, d, grad_residual + c);
      auto branch = g;
      if (dropout.threshold != 0) branch = row_dropout.Apply(g, c);
      if (grad_branch) StoreAs<kNativeBf16>(branch, d, grad_branch + c);
      if (args.grad_bias) {
        hn::StoreU(hn::Add(hn::LoadU(d, args.grad_bias + c), branch), d, args.grad_bias + c);
      }
    }
  }
}

template <bool kNativeBf16, typename A>
void DropoutT(const A* in, A* out, const RowDropout& dropout, size_t rows, size_t width) {
  const FloatTag d;
  for (size_t r = 0; r < rows; ++r) {
    const DropoutRow row = RowOf(dropout, r);
    DropoutOfRow row_dropout(row);
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      auto v = LoadFloat(d, in + r * width + c);
      if (row.threshold != 0) v = row_dropout.Apply(v, c);
      StoreAs<kNativeBf16>(v, d, out + r * width + c);
    }
  }
}

void EmbeddingSumT(const EmbeddingRows& args, float* out, size_t rows, size_t width) {
  const FloatTag d;
  for (size_t r = 0; r < rows; ++r) {
    const float* word = args.word + static_cast<size_t>(args.ids[r]) * width;
    const float* position =
        args.position ? args.position + static_cast<size_t>(args.positions[r]) * width : nullptr;
    const float* type =
        args.types ? args.type + static_cast<size_t>(args.types[r]) * width : args.type;
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      auto v = hn::LoadU(d, word + c);
      if (type) v = hn::Add(v, hn::LoadU(d, type + c));
      if (position) v = hn::Add(v, hn::LoadU(d, position + c));
      hn::StoreU(v, d, out + r * width + c);
    }
  }
}

template <typename A>
void EmbeddingScatterT(const EmbeddingScatter<A>& args, size_t rows, size_t width, size_t first,
                       size_t count) {
  const FloatTag d;
  for (size_t r = 0; r < rows; ++r) {
    float* word = args.word + static_cast<size_t>(args.word_rows[r]) * width;
    float* position =
        args.position ? args.position + static_cast<size_t>(args.positions[r]) * width : nullptr;
    for (size_t c = first; c < first + count; c += hn::Lanes(d)) {
      const auto v = LoadFloat(d, args.in + r * width + c);
      hn::StoreU(hn::Add(hn::LoadU(d, word + c), v), d, word + c);
      if (position) hn::StoreU(hn::Add(hn::LoadU(d, position + c), v), d, position + c);
    }
  }
}

// Adds the sums of kVectors * lanes columns to `sums`.
template <size_t kVectors, typename A>
HWY_INLINE void AddColumnsOf(const A* in, float* sums, size_t rows, size_t width) {
  const FloatTag d;
  FloatVec sum[kVectors];
  for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::LoadU(d, sums + v * hn::Lanes(d));
  for (size_t r = 0; r < rows; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      sum[v] = hn::Add(sum[v], LoadFloat(d, in + r * width + v * hn::Lanes(d)));
    }
  }
  for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, sums + v * hn::Lanes(d));
}

template <typename A>
void ColumnSumsT(const A* in, float* sums, size_t rows, size_t width) {
  // Eight vectors cover whole cache lines of a row. Their additions are independent of each other,
  // and enough to hide the latency of one addition.
  constexpr size_t kAtOnce = 8;
  const size_t lanes = hn::Lanes(FloatTag());
  size_t c = 0;
  for (; c + kAtOnce * lanes <= width; c += kAtOnce * lanes) {
    AddColumnsOf<kAtOnce>(in + c, sums + c, rows, width);
  }
  for (; c < width; c += lanes) AddColumnsOf<1>(in + c, sums + c, rows, width);
}

template <bool kNativeBf16, typename A>
void AddRowsT(const float* a, const A* b, A* out, size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    StoreAs<kNativeBf16>(hn::Add(hn::LoadU(d, a + i), LoadFloat(d, b + i)), d, out + i);
  }
}

void AddScaledT(const float* x, float factor, float* y, size_t count) {
  const FloatTag d;
  const auto f = hn::Set(d, factor);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), f, hn::LoadU(d, y + i)), d, y + i);
  }
  for (; i < count; ++i) y[i] += factor * x[i];
}

template <bool kNativeBf16, typename From, typename To>
void ConvertT(const From* in, To* out, size_t count) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += hn::Lanes(d))
    StoreAs<kNativeBf16>(LoadFloat(d, in + i), d, out + i);
}

// Highway's dispatch tables hold plain functions: one for each type, and for bf16 one for each way
// to round.
#define TANDEM_PER_TYPE(A, Suffix, natively)                                                  \
  void GeluForward##Suffix(const A* in, A* activated, size_t count) {                         \
    GeluForwardT<natively>(in, activated, count);                                             \
  }                                                                                           \
  void GeluBackward##Suffix(const A* in, A* grad, A* activated, size_t count) {               \
    GeluBackwardT<natively>(in, grad, activated, count);                                      \
  }                                                                                           \
  void NormForward##Suffix(const ResidualNormForward<A>& args, size_t rows, size_t width) {   \
    ResidualNormForwardT<natively>(args, rows, width);                                        \
  }                                                                                           \
  void NormBackward##Suffix(const ResidualNormBackward<A>& args, size_t rows, size_t width) { \
    ResidualNormBackwardT<natively>(args, rows, width);                                       \
  }                                                                                           \
  void Dropout##Suffix(const A* in, A* out, const RowDropout& dropout, size_t rows,           \
                       size_t width) {                                                        \
    DropoutT<natively>(in, out, dropout, rows, width);                                        \
  }                                                                                           \
  void AddRows##Suffix(const float* a, const A* b, A* out, size_t count) {                    \
    AddRowsT<natively>(a, b, out, count);                                                     \
  }
TANDEM_PER_TYPE(float, Float, false)
TANDEM_PER_TYPE(Bf16, Bf16, false)
TANDEM_PER_TYPE(Bf16, NativeBf16, true)
#undef TANDEM_PER_TYPE

void ColumnSumsFloat(const float* in, float* sums, size_t rows, size_t width) {
  ColumnSumsT(in, sums, rows, width);
}
void ColumnSumsBf16(const Bf16* in, float* sums, size_t rows, size_t width) {
  ColumnSumsT(in, sums, rows, width);
}
void ScatterFloat(const EmbeddingScatter<float>& args, size_t rows, size_t width, size_t first,
                  size_t count) {
  EmbeddingScatterT(args, rows, width, first, count);
}
void ScatterBf16(const EmbeddingScatter<Bf16>& args, size_t rows, size_t width, size_t first,
                 size_t count) {
  EmbeddingScatterT(args, rows, width, first, count);
}
void ToBf16T(const float* in, Bf16* out, size_t count) { ConvertT<false>(in, out, count); }
void ToNativeBf16T(const float* in, Bf16* out, size_t count) { ConvertT<true>(in, out, count); }
void ToFloatT(const Bf16* in, float* out, size_t count) { ConvertT<false>(in, out, count); }

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

#define TANDEM_EXPORT(Suffix)       \
  HWY_EXPORT(GeluForward##Suffix);  \
  HWY_EXPORT(GeluBackward##Suffix); \
  HWY_EXPORT(NormForward##Suffix);  \
  HWY_EXPORT(NormBackward##Suffix); \
  HWY_EXPORT(Dropout##Suffix);      \
  HWY_EXPORT(AddRows##Suffix);
TANDEM_EXPORT(Float)
TANDEM_EXPORT(Bf16)
TANDEM_EXPORT(NativeBf16)
#undef TANDEM_EXPORT
HWY_EXPORT(ColumnSumsFloat);
HWY_EXPORT(ColumnSumsBf16);
HWY_EXPORT(EmbeddingSumT);
HWY_EXPORT(ScatterFloat);
HWY_EXPORT(ScatterBf16);
HWY_EXPORT(AddScaledT);
HWY_EXPORT(ToBf16T);
HWY_EXPORT(ToNativeBf16T);
HWY_EXPORT(ToFloatT);

template <typename A>
void RunGeluForward(const A* in, A* activated, size_t count) {
  TANDEM_CALL_FOR_TYPE(GeluForward, in, activated, count);
}
template <typename A>
void RunGeluBackward(const A* in, A* grad, A* activated, size_t count) {
  TANDEM_CALL_FOR_TYPE(GeluBackward, in, grad, activated, count);
}
template <typename A>
void RunResidualNormForward(const ResidualNormForward<A>& args, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(NormForward, args, rows, width);
}
template <typename A>
void RunResidualNormBackward(const ResidualNormBackward<A>& args, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(NormBackward, args, rows, width);
}
template <typename A>
void RunDropout(const A* in, A* out, const RowDropout& dropout, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(Dropout, in, out, dropout, rows, width);
}
template <typename A>
void AddRows(const float* a, const A* b, A* out, size_t count) {
  TANDEM_CALL_FOR_TYPE(AddRows, a, b, out, count);
}

#define TANDEM_INSTANTIATE(A)                                                            \
  template void RunGeluForward(const A*, A*, size_t);                                    \
  template void RunGeluBackward(const A*, A*, A*, size_t);                               \
  template void RunResidualNormForward(const ResidualNormForward<A>&, size_t, size_t);   \
  template void RunResidualNormBackward(const ResidualNormBackward<A>&, size_t, size_t); \
  template void RunDropout(const A*, A*, const RowDropout&, size_t, size_t);             \
  template void AddRows(const float*, const A*, A*, size_t)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

template <>
void AddColumnSums(const float* in, float* sums, size_t rows, size_t width) {
  HWY_DYNAMIC_DISPATCH(ColumnSumsFloat)(in, sums, rows, width);
}
template <>
void AddColumnSums(const Bf16* in, float* sums, size_t rows, size_t width) {
  HWY_DYNAMIC_DISPATCH(ColumnSumsBf16)(in, sums, rows, width);
}
void RunEmbeddingSum(const EmbeddingRows& args, float* out, size_t rows, size_t width) {
  HWY_DYNAMIC_DISPATCH(EmbeddingSumT)(args, out, rows, width);
}
template <>
void RunEmbeddingScatter(const EmbeddingScatter<float>& args, size_t rows, size_t width,
                         size_t first, size_t count) {
  HWY_DYNAMIC_DISPATCH(ScatterFloat)(args, rows, width, first, count);
}
template <>
void RunEmbeddingScatter(const EmbeddingScatter<Bf16>& args, size_t rows, size_t width,
                         size_t first, size_t count) {
  HWY_DYNAMIC_DISPATCH(ScatterBf16)(args, rows, width, first, count);
}
void AddScaled(const float* x, float factor, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddScaledT)(x, factor, y, count);
}
void ToBf16(const float* in, Bf16* out, size_t count) {
  if (RoundsNatively()) {
    HWY_DYNAMIC_DISPATCH(ToNativeBf16T)(in, out, count);
  } else {
    HWY_DYNAMIC_DISPATCH(ToBf16T)(in, out, count);
  }
}
void ToFloat(const Bf16* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(ToFloatT)(in, out, count);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

#include "tensor/kernels/cpu/rows/norm_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/rows/norm_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/rows/norm_rows-inl.h"
#include "tensor/kernels/cpu/rows/row_dropout-inl.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

template <bool kNativeBf16, typename A>
void NormT(const NormForward<A>& args, size_t rows, size_t width) {
  const FloatTag d;
  HWY_ALIGN float row[kMaxWidth];
  for (size_t r = 0; r < rows; ++r) {
    LoadRow(args.x + r * width, width, row);
    const StatisticsOfRow statistics = StatisticsOf(row, width, args.norm);
    if (args.statistics.mean) args.statistics.mean[r] = statistics.mean;
    if (args.statistics.inverse_deviation) {
      args.statistics.inverse_deviation[r] = statistics.inverse_deviation;
    }
    if (args.out == nullptr) continue;
    const DropoutRow dropout = RowOf(args.dropout, r);
    DropoutOfRow row_dropout(dropout);
    const A* residual = args.residual ? args.residual + r * width : nullptr;
    A* out = args.out + r * width;
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      auto v = NormValue(hn::LoadU(d, row + c), statistics, args.norm, c);
      if (dropout.threshold != 0) v = row_dropout.Apply(v, c);
      if (residual) v = hn::Add(v, LoadFloat(d, residual + c));
      StoreAs<kNativeBf16>(v, d, out + c);
    }
  }
}

template <bool kNativeBf16, typename A>
void NormBackwardT(const NormBackward<A>& args, size_t rows, size_t width) {
  const FloatTag d;
  HWY_ALIGN float row[kMaxWidth];
  HWY_ALIGN float grad[kMaxWidth];
  for (size_t r = 0; r < rows; ++r) {
    const DropoutRow dropout = RowOf(args.dropout, r);
    DropoutOfRow row_dropout(dropout);
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      auto g = hn::LoadU(d, args.grad_out + r * width + c);
      if (dropout.threshold != 0) g = row_dropout.Apply(g, c);
      hn::StoreU(g, d, grad + c);
    }
    LoadRow(args.x + r * width, width, row);
    NormGradientOfRow(row, {args.statistics.mean[r], args.statistics.inverse_deviation[r]},
                      args.norm, width, grad, args.grad_gamma, args.grad_beta);
    const A* other = args.other_grad_x ? args.other_grad_x + r * width : nullptr;
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      auto g = hn::LoadU(d, grad + c);
      if (other) g = hn::Add(g, LoadFloat(d, other + c));
      if (args.grad_bias) AddToSums(g, args.grad_bias + c);
      StoreAs<kNativeBf16>(g, d, args.grad_x + r * width + c);
    }
  }
}

template <bool kNativeBf16, typename A>
void BranchSumT(const BranchSum<A>& args, size_t rows, size_t width) {
  const FloatTag d;
  const auto factor = hn::Set(d, args.factor);
  for (size_t r = 0; r < rows; ++r) {
    const DropoutRow dropout = RowOf(args.dropout, r);
    DropoutOfRow row_dropout(dropout);
    const A* residual = args.residual ? args.residual + r * width : nullptr;
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      auto v = hn::Mul(factor, hn::LoadU(d, args.branch + r * width + c));
      if (dropout.threshold != 0) v = row_dropout.Apply(v, c);
      if (residual) v = hn::Add(v, LoadFloat(d, residual + c));
      StoreAs<kNativeBf16>(v, d, args.out + r * width + c);
    }
  }
}

// These are plain functions for Highway's dispatch tables, as in rows.cc.
#define TANDEM_PER_TYPE(A, Suffix, natively)                                          \
  void Norm##Suffix(const NormForward<A>& args, size_t rows, size_t width) {          \
    NormT<natively>(args, rows, width);                                               \
  }                                                                                   \
  void NormBackward##Suffix(const NormBackward<A>& args, size_t rows, size_t width) { \
    NormBackwardT<natively>(args, rows, width);                                       \
  }                                                                                   \
  void BranchSum##Suffix(const BranchSum<A>& args, size_t rows, size_t width) {       \
    BranchSumT<natively>(args, rows, width);                                          \
  }
TANDEM_PER_TYPE(float, Float, false)
TANDEM_PER_TYPE(Bf16, Bf16, false)
TANDEM_PER_TYPE(Bf16, NativeBf16, true)
#undef TANDEM_PER_TYPE

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

#define TANDEM_EXPORT(Suffix)       \
  HWY_EXPORT(Norm##Suffix);         \
  HWY_EXPORT(NormBackward##Suffix); \
  HWY_EXPORT(BranchSum##Suffix);
TANDEM_EXPORT(Float)
TANDEM_EXPORT(Bf16)
TANDEM_EXPORT(NativeBf16)
#undef TANDEM_EXPORT

template <typename A>
void RunNorm(const NormForward<A>& args, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(Norm, args, rows, width);
}
template <typename A>
void RunNormBackward(const NormBackward<A>& args, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(NormBackward, args, rows, width);
}
template <typename A>
void RunBranchSum(const BranchSum<A>& args, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(BranchSum, args, rows, width);
}

#define TANDEM_INSTANTIATE(A)                                            \
  template void RunNorm(const NormForward<A>&, size_t, size_t);          \
  template void RunNormBackward(const NormBackward<A>&, size_t, size_t); \
  template void RunBranchSum(const BranchSum<A>&, size_t, size_t)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

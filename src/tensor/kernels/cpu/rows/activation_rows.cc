#include "tensor/kernels/cpu/rows/activation_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/rows/activation_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/rows/activation-inl.h"
#include "tensor/kernels/cpu/rows/row_dropout-inl.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

template <bool kNativeBf16, template <bool> class Function, typename A>
void ActivationOf(const ActivationForward<A>& args, size_t rows, size_t width) {
  const FloatTag d;
  const size_t stride = args.gated ? 2 * width : width;
  for (size_t r = 0; r < rows; ++r) {
    const DropoutRow dropout = RowOf(args.dropout, r);
    DropoutOfRow row_dropout(dropout);
    const A* before = args.before + r * stride;
    A* inner = args.inner + r * width;
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      auto v = Function<kIsBf16<A>>(LoadFloat(d, before + c)).Value();
      if (args.gated) v = hn::Mul(v, LoadFloat(d, before + width + c));
      if (dropout.threshold != 0) v = row_dropout.Apply(v, c);
      StoreAs<kNativeBf16>(v, d, inner + c);
    }
  }
}

template <bool kNativeBf16, template <bool> class Function, typename A>
void ActivationGradientOf(const ActivationBackward<A>& args, size_t rows, size_t width) {
  const FloatTag d;
  const size_t stride = args.gated ? 2 * width : width;
  for (size_t r = 0; r < rows; ++r) {
    const DropoutRow dropout = RowOf(args.dropout, r);
    DropoutOfRow grad_dropout(dropout), inner_dropout(dropout);
    const A* before = args.before + r * stride;
    A* grad_before = args.grad_before + r * stride;
    A* inner = args.inner ? args.inner + r * width : nullptr;
    for (size_t c = 0; c < width; c += hn::Lanes(d)) {
      const Function<kIsBf16<A>> function(LoadFloat(d, before + c));
      auto value = function.Value();
      auto grad = LoadFloat(d, args.grad_inner + r * width + c);
      if (dropout.threshold != 0) grad = grad_dropout.Apply(grad, c);
      if (args.gated) {
        const auto factor = LoadFloat(d, before + width + c);
        StoreAs<kNativeBf16>(hn::Mul(grad, value), d, grad_before + width + c);
        grad = hn::Mul(grad, factor);
        value = hn::Mul(value, factor);
      }
      StoreAs<kNativeBf16>(hn::Mul(grad, function.Slope()), d, grad_before + c);
      if (inner == nullptr) continue;
      if (dropout.threshold != 0) value = inner_dropout.Apply(value, c);
      StoreAs<kNativeBf16>(value, d, inner + c);
    }
  }
}

template <bool kNativeBf16, typename A>
void ForwardT(const ActivationForward<A>& args, size_t rows, size_t width) {
  switch (args.activation) {
    case Activation::kGelu:
      return ActivationOf<kNativeBf16, Gelu>(args, rows, width);
    case Activation::kGeluTanh:
      return ActivationOf<kNativeBf16, GeluTanh>(args, rows, width);
    case Activation::kRelu:
      return ActivationOf<kNativeBf16, Relu>(args, rows, width);
    case Activation::kSilu:
      return ActivationOf<kNativeBf16, Silu>(args, rows, width);
  }
}

template <bool kNativeBf16, typename A>
void BackwardT(const ActivationBackward<A>& args, size_t rows, size_t width) {
  switch (args.activation) {
    case Activation::kGelu:
      return ActivationGradientOf<kNativeBf16, Gelu>(args, rows, width);
    case Activation::kGeluTanh:
      return ActivationGradientOf<kNativeBf16, GeluTanh>(args, rows, width);
    case Activation::kRelu:
      return ActivationGradientOf<kNativeBf16, Relu>(args, rows, width);
    case Activation::kSilu:
      return ActivationGradientOf<kNativeBf16, Silu>(args, rows, width);
  }
}

// These are plain functions for Highway's dispatch tables, as in rows.cc.
#define TANDEM_PER_TYPE(A, Suffix, natively)                                            \
  void Forward##Suffix(const ActivationForward<A>& args, size_t rows, size_t width) {   \
    ForwardT<natively>(args, rows, width);                                              \
  }                                                                                     \
  void Backward##Suffix(const ActivationBackward<A>& args, size_t rows, size_t width) { \
    BackwardT<natively>(args, rows, width);                                             \
  }
TANDEM_PER_TYPE(float, Float, false)
TANDEM_PER_TYPE(Bf16, Bf16, false)
TANDEM_PER_TYPE(Bf16, NativeBf16, true)
#undef TANDEM_PER_TYPE

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

HWY_EXPORT(ForwardFloat);
HWY_EXPORT(ForwardBf16);
HWY_EXPORT(ForwardNativeBf16);
HWY_EXPORT(BackwardFloat);
HWY_EXPORT(BackwardBf16);
HWY_EXPORT(BackwardNativeBf16);

template <typename A>
void RunActivation(const ActivationForward<A>& args, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(Forward, args, rows, width);
}
template <typename A>
void RunActivationBackward(const ActivationBackward<A>& args, size_t rows, size_t width) {
  TANDEM_CALL_FOR_TYPE(Backward, args, rows, width);
}

template void RunActivation(const ActivationForward<float>&, size_t, size_t);
template void RunActivation(const ActivationForward<Bf16>&, size_t, size_t);
template void RunActivationBackward(const ActivationBackward<float>&, size_t, size_t);
template void RunActivationBackward(const ActivationBackward<Bf16>&, size_t, size_t);

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

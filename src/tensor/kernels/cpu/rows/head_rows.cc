#include "tensor/kernels/cpu/rows/head_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/rows/head_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/rows/norm_rows-inl.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Turns a head of 2 * half channels, where half is a multiple of D's lanes.
template <class D>
HWY_INLINE void TurnBy(D d, float* head, const float* cosines, const float* sines, size_t half) {
  for (size_t c = 0; c < half; c += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, head + c), b = hn::LoadU(d, head + half + c);
    const auto cosine = hn::LoadU(d, cosines + c), sine = hn::LoadU(d, sines + c);
    hn::StoreU(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), d, head + c);
    hn::StoreU(hn::MulAdd(a, sine, hn::Mul(b, cosine)), d, head + half + c);
  }
}

// Turns a head back, which is the gradient of TurnBy.
template <class D>
HWY_INLINE void TurnBackBy(D d, float* head, const float* cosines, const float* sines,
                           size_t half) {
  for (size_t c = 0; c < half; c += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, head + c), b = hn::LoadU(d, head + half + c);
    const auto cosine = hn::LoadU(d, cosines + c), sine = hn::LoadU(d, sines + c);
    hn::StoreU(hn::MulAdd(b, sine, hn::Mul(a, cosine)), d, head + c);
    hn::StoreU(hn::NegMulAdd(a, sine, hn::Mul(b, cosine)), d, head + half + c);
  }
}

// Half of a head of 16 channels is narrower than the widest vector.
using HalfTag = hn::CappedTag<float, 8>;

template <bool kBack>
HWY_INLINE void Turn(const HeadTurn& turn, size_t row, float* head) {
  if (turn.cosines == nullptr) return;
  const size_t half = turn.width / 2;
  const size_t at = static_cast<size_t>(turn.positions[row]) * half;
  const float *cosines = turn.cosines + at, *sines = turn.sines + at;
  const auto turn_by = [&](auto d) HWY_ATTR {
    if constexpr (kBack) {
      TurnBackBy(d, head, cosines, sines, half);
    } else {
      TurnBy(d, head, cosines, sines, half);
    }
  };
  if (half % hn::Lanes(FloatTag()) == 0) {
    turn_by(FloatTag());
  } else {
    turn_by(HalfTag());
  }
}

template <bool kNativeBf16, typename A>
HWY_INLINE void StoreRow(const float* row, size_t width, A* to) {
  const FloatTag d;
  for (size_t c = 0; c < width; c += hn::Lanes(d)) {
    StoreAs<kNativeBf16>(hn::LoadU(d, row + c), d, to + c);
  }
}

// Copies the values of a row, which are after its turned heads.
template <typename A>
HWY_INLINE void CopyValues(const HeadTurn& turn, const A* in, A* out) {
  const size_t first = (turn.query_heads + turn.key_heads) * turn.width;
  if (in != out) std::copy_n(in + first, turn.key_heads * turn.width, out + first);
}

template <bool kNativeBf16, typename A>
void HeadsT(const HeadsForward<A>& args, size_t rows) {
  const FloatTag d;
  const HeadTurn& turn = args.turn;
  HWY_ALIGN float head[kMaxWidth];
  for (size_t r = 0; r < rows; ++r) {
    const A* in = args.in + r * turn.columns();
    A* out = args.out + r * turn.columns();
    for (size_t h = 0; h < turn.query_heads + turn.key_heads; ++h) {
      LoadRow(in + h * turn.width, turn.width, head);
      const RowNorm& norm = h < turn.query_heads ? turn.query_norm : turn.key_norm;
      if (norm.gamma) {
        const StatisticsOfRow statistics = StatisticsOf(head, turn.width, norm);
        for (size_t c = 0; c < turn.width; c += hn::Lanes(d)) {
          hn::StoreU(NormValue(hn::LoadU(d, head + c), statistics, norm, c), d, head + c);
        }
      }
      Turn<false>(turn, r, head);
      StoreRow<kNativeBf16>(head, turn.width, out + h * turn.width);
    }
    CopyValues(turn, in, out);
  }
}

template <bool kNativeBf16, typename A>
void HeadsBackwardT(const HeadsBackward<A>& args, size_t rows) {
  const HeadTurn& turn = args.turn;
  HWY_ALIGN float head[kMaxWidth];
  HWY_ALIGN float grad[kMaxWidth];
  for (size_t r = 0; r < rows; ++r) {
    const A* grad_out = args.grad_out + r * turn.columns();
    A* grad_in = args.grad_in + r * turn.columns();
    for (size_t h = 0; h < turn.query_heads + turn.key_heads; ++h) {
      const bool of_query = h < turn.query_heads;
      const RowNorm& norm = of_query ? turn.query_norm : turn.key_norm;
      LoadRow(grad_out + h * turn.width, turn.width, grad);
      Turn<true>(turn, r, grad);
      if (norm.gamma) {
        LoadRow(args.in + r * turn.columns() + h * turn.width, turn.width, head);
        NormGradientOfRow(head, StatisticsOf(head, turn.width, norm), norm, turn.width, grad,
                          of_query ? args.query_gamma : args.key_gamma,
                          of_query ? args.query_beta : args.key_beta);
      }
      StoreRow<kNativeBf16>(grad, turn.width, grad_in + h * turn.width);
    }
    CopyValues(turn, grad_out, grad_in);
  }
}

// These are plain functions for Highway's dispatch tables, as in rows.cc.
#define TANDEM_PER_TYPE(A, Suffix, natively)                                                     \
  void Heads##Suffix(const HeadsForward<A>& args, size_t rows) { HeadsT<natively>(args, rows); } \
  void HeadsBackward##Suffix(const HeadsBackward<A>& args, size_t rows) {                        \
    HeadsBackwardT<natively>(args, rows);                                                        \
  }
TANDEM_PER_TYPE(float, Float, false)
TANDEM_PER_TYPE(Bf16, Bf16, false)
TANDEM_PER_TYPE(Bf16, NativeBf16, true)
#undef TANDEM_PER_TYPE

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

HWY_EXPORT(HeadsFloat);
HWY_EXPORT(HeadsBf16);
HWY_EXPORT(HeadsNativeBf16);
HWY_EXPORT(HeadsBackwardFloat);
HWY_EXPORT(HeadsBackwardBf16);
HWY_EXPORT(HeadsBackwardNativeBf16);

template <typename A>
void RunHeads(const HeadsForward<A>& args, size_t rows) {
  TANDEM_CALL_FOR_TYPE(Heads, args, rows);
}
template <typename A>
void RunHeadsBackward(const HeadsBackward<A>& args, size_t rows) {
  TANDEM_CALL_FOR_TYPE(HeadsBackward, args, rows);
}

template void RunHeads(const HeadsForward<float>&, size_t);
template void RunHeads(const HeadsForward<Bf16>&, size_t);
template void RunHeadsBackward(const HeadsBackward<float>&, size_t);
template void RunHeadsBackward(const HeadsBackward<Bf16>&, size_t);

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

// Loads, stores and small functions shared by the vector kernels of this folder. Included once per
// target by Highway's foreach_target: no include guard in the usual sense.
#if defined(TANDEM_TENSOR_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_VECTOR_INL_H_
#undef TANDEM_TENSOR_VECTOR_INL_H_
#else
#define TANDEM_TENSOR_VECTOR_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/kernels/cpu/bf16.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Channel counts are multiples of 16; a vector never has more lanes than that.
using FloatTag = hn::CappedTag<float, 16>;
using FloatVec = hn::Vec<FloatTag>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using WordVec = hn::Vec<WordTag>;

HWY_INLINE FloatVec LoadFloat(FloatTag d, const float* HWY_RESTRICT from) {
  return hn::LoadU(d, from);
}

HWY_INLINE FloatVec LoadFloat(FloatTag d, const Bf16* HWY_RESTRICT from) {
  const hn::Rebind<uint16_t, FloatTag> d16;
  const hn::RebindToUnsigned<FloatTag> d32;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

HWY_INLINE void StoreFloat(FloatVec v, FloatTag d, float* HWY_RESTRICT to) { hn::StoreU(v, d, to); }

// Rounds to nearest, ties to even; a NaN stays a NaN.
HWY_INLINE void StoreFloat(FloatVec v, FloatTag /*d*/, Bf16* HWY_RESTRICT to) {
  const hn::Rebind<uint16_t, FloatTag> d16;
  const hn::RebindToSigned<FloatTag> di;
  const hn::RebindToUnsigned<FloatTag> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF))));
  const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40));
  const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
  const auto half = hn::BitCast(di, hn::IfThenElse(is_nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(d16, half), d16, reinterpret_cast<uint16_t*>(to));
}

// How the kernels apply dropout to a row: `keep_scale` is 1 / (1 - rate).
struct DropoutRow {
  uint64_t row_key = 0;
  uint32_t threshold = 0;  // 0: off
  float keep_scale = 1;
};

// `v` with the dropout of channels first .. first + lanes applied; see ChannelBits.
HWY_INLINE FloatVec ApplyDropout(FloatTag d, FloatVec v, const DropoutRow& row, uint32_t first) {
  const hn::RebindToUnsigned<FloatTag> du;
  const hn::RebindToSigned<FloatTag> di;
  auto x = hn::Mul(hn::Iota(du, first), hn::Set(du, kHashStep));
  x = hn::Xor(x, hn::Set(du, static_cast<uint32_t>(row.row_key)));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(du, kHashMultiplier0));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Add(x, hn::Set(du, static_cast<uint32_t>(row.row_key >> 32)));
  x = hn::Mul(x, hn::Set(du, kHashMultiplier1));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  const auto bits = hn::BitCast(di, hn::ShiftRight<1>(x));
  const auto drop = hn::Lt(bits, hn::Set(di, static_cast<int32_t>(row.threshold)));
  return hn::IfThenZeroElse(hn::RebindMask(d, drop), hn::Mul(v, hn::Set(d, row.keep_scale)));
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

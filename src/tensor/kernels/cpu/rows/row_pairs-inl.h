// Rows of bf16 values, rearranged as the pairs that bf16 products take: a word is two values.
// Included once per target by the files with such products.
#if defined(TANDEM_TENSOR_ROW_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ROW_PAIRS_INL_H_
#undef TANDEM_TENSOR_ROW_PAIRS_INL_H_
#else
#define TANDEM_TENSOR_ROW_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Rows of bf16 values as words of two neighbouring channels. Readers use memcpy or vector loads, so
// that this breaks no aliasing rule.
HWY_INLINE const uint32_t* AsWords(const Bf16* rows) {
  return reinterpret_cast<const uint32_t*>(rows);
}

// bf16 values in the low halves of words.
HWY_INLINE WordVec WidenHalves(const Bf16* from) {
  const hn::Rebind<uint16_t, FloatTag> d16;
  return hn::PromoteTo(WordTag(), hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
}

// Interleaves `rows` rows in pairs: word c of row i of `to` [ceil(rows / 2), width] holds channel c
// of rows 2 i (low half) and 2 i + 1 (high half). An odd last row is paired with zeros.
HWY_INLINE void PackRowPairs(const StridedRows<const Bf16>& from, size_t rows,
                             uint32_t* HWY_RESTRICT to) {
  const WordTag d;
  for (size_t r = 0; r < rows; r += 2) {
    for (size_t c = 0; c < from.width; c += hn::Lanes(d)) {
      const Bf16* low = from.data + r * from.stride + c;
      const auto high = r + 1 < rows ? WidenHalves(low + from.stride) : hn::Zero(d);
      hn::StoreU(hn::Or(WidenHalves(low), hn::ShiftLeft<16>(high)), d, to + r / 2 * from.width + c);
    }
  }
}

// PackRowPairs as if zero rows followed, `padded` rows in all, an even number.
HWY_INLINE void PackPaddedPairs(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                                uint32_t* to) {
  PackRowPairs(from, rows, to);
  const size_t pairs = (rows + 1) / 2;
  std::memset(to + pairs * from.width, 0, 4 * (padded / 2 - pairs) * from.width);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

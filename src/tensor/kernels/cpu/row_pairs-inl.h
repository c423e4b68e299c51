// Rows of bf16 values as the words of two that products of bf16 take. Included once per target by
// the files of such products.
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

// Rows of bf16 values as words of two channels each.
HWY_INLINE const uint32_t* AsWords(const Bf16* rows) {
  return reinterpret_cast<const uint32_t*>(rows);  // read with memcpy only
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

// As PackRowPairs, and zeros behind the rows up to `padded`, an even number.
HWY_INLINE void PackPaddedPairs(const Bf16* from, size_t stride, size_t rows, size_t padded,
                                size_t width, uint32_t* to) {
  PackRowPairs(from, stride, rows, width, to);
  const size_t pairs = (rows + 1) / 2;
  std::memset(to + pairs * width, 0, 4 * (padded / 2 - pairs) * width);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

// Products of bytes in panels: of 16-bit numbers that bytes are widened to, or by the instruction
// of VNNI. Included once per target by int8_products.cc.
//
// B [depth, columns] is stored in panels of as many columns as two vectors of 32-bit words hold. A
// row of a panel has a word, of two or four values that are neighbours in a column, for each of its
// columns. x has the same words along its rows; each is multiplied by a row of the panel.
#if defined(TANDEM_TENSOR_INT8_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_INT8_PANELS_INL_H_
#undef TANDEM_TENSOR_INT8_PANELS_INL_H_
#else
#define TANDEM_TENSOR_INT8_PANELS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/products/int8_products.h"
#include "tensor/kernels/cpu/products/int8_rows-inl.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Words of two values. x has them as 16-bit numbers, a panel as bytes.
struct WidenedPairs {
  static constexpr size_t kDepth = 2;
  using RowValues = SignedWords;
#if HWY_TARGET == HWY_SCALAR  // whose vectors of one lane hold no pairs
  static HWY_INLINE IntVec Load(const int8_t* from) {
    return hn::Set(IntTag(), from[1] * 65536 + (from[0] & 0xFFFF));
  }
  static HWY_INLINE IntVec AddProducts(WordVec a, IntVec b, IntVec sum) {
    const auto first = static_cast<int16_t>(a.raw) * static_cast<int16_t>(b.raw);
    const auto second = static_cast<int16_t>(a.raw >> 16) * static_cast<int16_t>(b.raw >> 16);
    return hn::Set(IntTag(), sum.raw + first + second);
  }
#else
  static HWY_INLINE IntVec Load(const int8_t* from) {
    const hn::Repartition<int16_t, IntTag> d16;
    const hn::Rebind<int8_t, decltype(d16)> d8;
    return hn::BitCast(IntTag(), hn::PromoteTo(d16, hn::LoadU(d8, from)));
  }
  // This is assembly, because GCC would add up the products of several steps before it adds them to
  // the sum, for which there are not enough registers.
  static HWY_INLINE IntVec AddProducts(WordVec a, IntVec b, IntVec sum) {
#if HWY_TARGET <= HWY_AVX2
    IntVec products;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
            : "+v"(sum.raw), "=&v"(products.raw)
            : "v"(a.raw), "v"(b.raw));
    return sum;
#elif HWY_ARCH_X86
    const hn::Repartition<int16_t, IntTag> d16;
    IntVec unused = sum;
    return hn::ReorderWidenMulAccumulate(IntTag(), hn::BitCast(d16, a), hn::BitCast(d16, b), sum,
                                         unused);
#else
    // Elsewhere that function does not add neighbours.
    const IntVec words = hn::BitCast(IntTag(), a);
    const auto of_low = hn::Mul(LowHalves(words), LowHalves(b));
    const auto of_high = hn::Mul(hn::ShiftRight<16>(words), hn::ShiftRight<16>(b));
    return hn::Add(sum, hn::Add(of_low, of_high));
#endif
  }
  static HWY_INLINE IntVec LowHalves(IntVec words) {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(words));
  }
#endif
};

#if HWY_TARGET <= HWY_AVX2
// Words of four bytes, unsigned ones of x. Needs AVX512-VNNI or, with vectors of 256 bits,
// AVX-VNNI, which these targets do not imply: the caller checks. It is assembly, because Highway
// 1.0 has no function for it.
struct VnniQuads {
  static constexpr size_t kDepth = 4;
  using RowValues = UnsignedBytes;
  static HWY_INLINE IntVec Load(const int8_t* from) {
    return hn::BitCast(IntTag(), hn::LoadU(hn::Repartition<int8_t, IntTag>(), from));
  }
  static HWY_INLINE IntVec AddProducts(WordVec a, IntVec b, IntVec sum) {
#if HWY_TARGET <= HWY_AVX3
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
#else
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(a.raw), "x"(b.raw));
#endif
    return sum;
  }
};
#endif

// Says where sums go, from the first row of x and the first column of B on, and what they become.
struct Int8Output {
  std::byte* data;
  size_t stride;  // bytes
  bool is_bf16;
  bool rounds_natively;
  bool add;
  const float* bias;  // or null
  const float* column_scales;
  const int32_t* column_sums;
  const float* row_scales;
  const int32_t* zeros;  // of rows

  HWY_INLINE Int8Output At(size_t row, size_t column) const {
    Int8Output at = *this;
    at.data += row * stride + column * (is_bf16 ? sizeof(Bf16) : sizeof(float));
    at.bias += bias ? column : 0;
    at.column_scales += column;
    at.column_sums += column;
    at.row_scales += row;
    at.zeros += row;
    return at;
  }

  // Stores what the sums of a vector become.
  HWY_INLINE void Store(IntVec sum, size_t row, size_t column) const {
    const FloatTag d;
    const auto of_zero =
        hn::Mul(hn::LoadU(IntTag(), column_sums + column), hn::Set(IntTag(), zeros[row]));
    const auto whole = hn::ConvertTo(d, hn::Sub(sum, of_zero));
    const auto scale = hn::Mul(hn::Set(d, row_scales[row]), hn::LoadU(d, column_scales + column));
    const auto start = [&](const auto* to) HWY_ATTR {
      if (add) return LoadFloat(d, to);
      return bias ? hn::LoadU(d, bias + column) : hn::Zero(d);
    };
    if (is_bf16) {
      auto* to = reinterpret_cast<Bf16*>(data + row * stride) + column;
      const auto v = hn::MulAdd(whole, scale, start(to));
      rounds_natively ? StoreAs<true>(v, d, to) : StoreAs<false>(v, d, to);
    } else {
      auto* to = reinterpret_cast<float*>(data + row * stride) + column;
      hn::StoreU(hn::MulAdd(whole, scale, start(to)), d, to);
    }
  }
};

// Products of several register tiles of x, one below the other, with one panel.
struct Int8Tiles {
  RowMajor<uint32_t> x;  // the rows of the first tile
  size_t words;          // of a row
  const int8_t* panel;
  Int8Output out;
  size_t tiles;
};

template <typename Words, size_t kRows, size_t kVectors>
HWY_NOINLINE void MultiplyInt8Tiles(const Int8Tiles& task) {
  const IntTag d;
  const size_t lanes = hn::Lanes(d);
  const size_t row_bytes = kVectors * lanes * Words::kDepth;
  for (size_t tile = 0; tile < task.tiles; ++tile) {
    auto cursor = MakeCursor<kRows>(SkipRows(task.x, tile * kRows));
    const int8_t* b = task.panel;
    IntVec sums[kRows][kVectors];
    TANDEM_UNROLL(16)
    for (size_t r = 0; r < kRows; ++r) {
      TANDEM_UNROLL(4)
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
    }
    for (size_t k = task.words / kStepDepth; k > 0; --k) {
      cursor.Pin();
      TANDEM_UNROLL(4)
      for (size_t u = 0; u < kStepDepth; ++u, b += row_bytes) {
        IntVec row[kVectors];
        TANDEM_UNROLL(4)
        for (size_t v = 0; v < kVectors; ++v) row[v] = Words::Load(b + v * lanes * Words::kDepth);
        TANDEM_UNROLL(16)
        for (size_t r = 0; r < kRows; ++r) {
          const auto word = Broadcast(cursor.At(r));
          TANDEM_UNROLL(4)
          for (size_t v = 0; v < kVectors; ++v) {
            sums[r][v] = Words::AddProducts(word, row[v], sums[r][v]);
          }
        }
        cursor.Next();
      }
    }
    const Int8Output out = task.out.At(tile * kRows, 0);
    TANDEM_UNROLL(16)
    for (size_t r = 0; r < kRows; ++r) {
      TANDEM_UNROLL(4)
      for (size_t v = 0; v < kVectors; ++v) out.Store(sums[r][v], r, v * lanes);
    }
  }
}

// Multiplies tiles of `rows` rows, at most kRows.
template <typename Words, size_t kRows, size_t kVectors>
HWY_INLINE void MultiplyInt8TilesOf(size_t rows, const Int8Tiles& task) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      MultiplyInt8Tiles<Words, kRows, kVectors>(task);
    } else {
      MultiplyInt8TilesOf<Words, kRows - 1, kVectors>(rows, task);
    }
  }
}

HWY_INLINE size_t Int8PanelColumns() { return 2 * hn::Lanes(IntTag()); }

// x has `rows` rows, out.zeros of 0 where the words are without their zero.
template <typename Words>
HWY_INLINE void MultiplyInt8Panels(RowMajor<uint32_t> x, size_t rows, const Int8Matrix& b,
                                   const Int8Output& out) {
  const size_t width = Int8PanelColumns(), whole = rows / kProductRows;
  const auto multiply = [&]<size_t kVectors>(size_t n) HWY_ATTR {
    Int8Tiles task{x, b.padded_depth() / Words::kDepth, b.values() + n * b.padded_depth(),
                   out.At(0, n), whole};
    MultiplyInt8Tiles<Words, kProductRows, kVectors>(task);
    task.x = SkipRows(x, whole * kProductRows);
    task.out = out.At(whole * kProductRows, n);
    task.tiles = 1;
    MultiplyInt8TilesOf<Words, kProductRows - 1, kVectors>(rows % kProductRows, task);
  };
  size_t n = 0;
  for (; n + width <= b.columns(); n += width) multiply.template operator()<2>(n);
    // Columns are multiples of 16, so that only vectors of 16 lanes may leave one over.
#if HWY_TARGET <= HWY_AVX3
  if (n < b.columns()) multiply.template operator()<1>(n);
#endif
}

// The place of value k of column n, in a part of B that begins at a panel, of `columns` columns.
template <typename Words>
HWY_INLINE size_t PlaceInPanels(size_t k, size_t n, size_t columns, size_t padded_depth) {
  const size_t width = Int8PanelColumns(), first = n / width * width;
  const size_t panel_width = std::min(width, columns - first);
  return first * padded_depth + (k / Words::kDepth * panel_width + n - first) * Words::kDepth +
         k % Words::kDepth;
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

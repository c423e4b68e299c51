// Products of bytes on AMX. Included once per target by int8_products.cc.
//
// B [depth, columns] is stored in panels of 32 columns. For every 64 rows of B a panel has two
// tiles, one after the other: 16 rows of 16 words of four values that are neighbours in a column.
#if defined(TANDEM_TENSOR_INT8_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_INT8_TILES_INL_H_
#undef TANDEM_TENSOR_INT8_TILES_INL_H_
#else
#define TANDEM_TENSOR_INT8_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/products/int8_panels-inl.h"
#include "tensor/kernels/cpu/products/int8_products.h"
#include "tensor/kernels/cpu/products/tile_product-inl.h"

#if HWY_TARGET <= HWY_AVX2

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// A block of C has up to 2 x 2 tiles. A step multiplies 64 values of the depth.
inline constexpr size_t kInt8Side = 2 * kTileSide;
inline constexpr size_t kInt8StepDepth = 4 * kTileSide;
inline constexpr size_t kInt8StepWords = 2 * kTileSide * kTileSide;

// Multiplies `count` rows of x, at most kInt8Side, by all of B; kTiles tiles of rows.
template <size_t kTiles>
HWY_INLINE void MultiplyInt8Block(AmxTiles& tiles, RowMajor<uint32_t> x, size_t count,
                                  const Int8Matrix& b, const Int8Output& out) {
  HWY_ALIGN int32_t sums[kInt8Side * kInt8Side];
  NoHook no_hook;
  for (size_t n = 0; n < b.columns(); n += kInt8Side) {
    const auto* panel = reinterpret_cast<const uint32_t*>(b.values() + n * b.padded_depth());
    ProductOfTiles<kTiles, Streamed::kB, TileWords::kByteQuads>(
        tiles, b.padded_depth() / kInt8StepDepth,
        {TileOperandOf(x), {panel, kTileSide, kTileSide * kTileSide, kInt8StepWords}},
        {reinterpret_cast<float*>(sums), kInt8Side, false}, no_hook);
    for (size_t r = 0; r < count; ++r) {
      for (size_t c = 0; c < kInt8Side; c += hn::Lanes(IntTag())) {
        out.Store(hn::Load(IntTag(), sums + r * kInt8Side + c), r, n + c);
      }
    }
  }
}

HWY_INLINE void MultiplyInt8OnTiles(RowMajor<uint32_t> x, size_t rows, const Int8Matrix& b,
                                    const Int8Output& out) {
  for (size_t row = 0; row < rows; row += kInt8Side) {
    const size_t count = std::min(kInt8Side, rows - row);
    AmxTiles tiles(count);
    if (count > kTileSide) {
      MultiplyInt8Block<2>(tiles, SkipRows(x, row), count, b, out.At(row, 0));
    } else {
      MultiplyInt8Block<1>(tiles, SkipRows(x, row), count, b, out.At(row, 0));
    }
  }
}

// The place of value k of column n.
HWY_INLINE size_t PlaceInInt8Tiles(size_t k, size_t n, size_t padded_depth) {
  const size_t tile = n % kInt8Side / kTileSide, step = k / kInt8StepDepth;
  const size_t row = k % kInt8StepDepth / 4, column = n % kTileSide;
  return n / kInt8Side * kInt8Side * padded_depth +
         4 * (step * kInt8StepWords + (tile * kTileSide + row) * kTileSide + column) + k % 4;
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX2
#endif  // per-target include guard

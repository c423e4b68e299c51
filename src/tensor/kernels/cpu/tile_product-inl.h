// C (+)= A B on AMX: as small_product-inl.h on words of two bf16 values, in tiles of 16 rows of 64
// bytes. Included once per target by the files that multiply so.
#if defined(TANDEM_TENSOR_TILE_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_TILE_PRODUCT_INL_H_
#undef TANDEM_TENSOR_TILE_PRODUCT_INL_H_
#else
#define TANDEM_TENSOR_TILE_PRODUCT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/small_product-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// A tile is 16 rows of 16 words or floats.
inline constexpr size_t kTileSide = 16;

// The shapes of tile registers, as the processor wants them.
struct alignas(64) TileShapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
// For `rows` rows of A and C, 1 to 32, in the registers that ProductOfTiles says.
constexpr TileShapes ShapesFor(size_t rows) {
  const size_t high = rows < kTileSide ? rows : kTileSide, low = rows - high;
  const size_t of_register[8] = {high, high, low, low, high, low, kTileSide, kTileSide};
  TileShapes shapes{};
  shapes.palette = 1;
  for (size_t tile = 0; tile < 8; ++tile) {
    shapes.row_bytes[tile] = static_cast<uint16_t>(of_register[tile] > 0 ? 4 * kTileSide : 0);
    shapes.rows[tile] = static_cast<uint8_t>(of_register[tile]);
  }
  return shapes;
}

// The tile registers 0 to 7 of this thread, while the object lives; they are zero at first. Needs
// AMX-BF16 and Linux's permission, which the caller asks tensor/isa.h for. In assembly, because
// compilers name these instructions only for targets that Highway 1.0 does not know.
class AmxTiles {
 public:
  explicit HWY_INLINE AmxTiles(size_t rows = 2 * kTileSide) {
    const TileShapes shapes = ShapesFor(rows);
    __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
  }
  HWY_INLINE ~AmxTiles() { __asm__ volatile("tilerelease" : :); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  template <int kTile>
  HWY_INLINE void Zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  // Rows `stride` words apart.
  template <int kTile>
  HWY_INLINE void Load(const void* rows, size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2"
                     :
                     : "r"(rows), "r"(4 * stride), "i"(kTile)
                     : "memory");
  }
  // As Load, but what is loaded leaves the lines in the first-level cache alone.
  template <int kTile>
  HWY_INLINE void LoadPassing(const void* rows, size_t stride) {
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm%c2"
                     :
                     : "r"(rows), "r"(4 * stride), "i"(kTile)
                     : "memory");
  }
  template <int kTile>
  HWY_INLINE void Store(void* rows, size_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)"
                     :
                     : "r"(rows), "r"(4 * stride), "i"(kTile)
                     : "memory");
  }
  // kSum, floats, gains the product of kA, [row, depth] words, and kB, [depth, column] words.
  // Numbers below 2^-126 count as 0.
  template <int kSum, int kA, int kB>
  HWY_INLINE void AddProduct() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
};

// The factors of a block of C, of one or two tiles of rows by two tiles of columns: A's tiles of
// rows and B's of columns lie `second` words apart, their next ones along the depth `step` words,
// and the rows of a tile `stride` words.
struct TilesOfFactor {
  const uint32_t* data;
  size_t stride;
  size_t second;
  size_t step;
};

HWY_INLINE TilesOfFactor TilesOf(Along<uint32_t> a) {
  return {a.data, a.stride, kTileSide * a.stride, kTileSide};
}
HWY_INLINE TilesOfFactor TilesOf(Rows<uint32_t> b) {
  return {b.data, b.stride, kTileSide, kTileSide * b.stride};
}

template <int kTile, bool kPasses>
HWY_INLINE void LoadFactor(AmxTiles& tiles, const uint32_t* rows, size_t stride) {
  if constexpr (kPasses) {
    tiles.LoadPassing<kTile>(rows, stride);
  } else {
    tiles.Load<kTile>(rows, stride);
  }
}

// Which factor passes through the first-level cache while the other one stays there for products to
// come. Both would drive each other out: products of a depth of 384 became a third faster.
enum class Passing { kNone, kA, kB };

// kRows x 2 tiles of C, kRows one or two; `depth` counts tiles. C lies in registers 0 to 3, A in 4
// and 5, B in 6 and 7; none of them is needed once the tiles are stored. `aside` has a step for
// each tile of the depth.
template <size_t kRows, Passing kPassing, typename Aside>
HWY_INLINE void ProductOfTiles(AmxTiles& tiles, size_t depth, TilesOfFactor a, TilesOfFactor b,
                               Output c, Aside& aside) {
  constexpr bool kTwo = kRows > 1;
  float* second = c.data + kTileSide * c.stride;
  if (c.add || c.bias) {
    // A bias is a row for all: a stride of 0.
    const float* start = c.add ? c.data : c.bias;
    const size_t stride = c.add ? c.stride : 0;
    tiles.Load<0>(start, stride);
    tiles.Load<1>(start + kTileSide, stride);
    if constexpr (kTwo) tiles.Load<2>(start + kTileSide * stride, stride);
    if constexpr (kTwo) tiles.Load<3>(start + kTileSide * stride + kTileSide, stride);
  } else {
    tiles.Zero<0>();
    tiles.Zero<1>();
    if constexpr (kTwo) tiles.Zero<2>();
    if constexpr (kTwo) tiles.Zero<3>();
  }
  for (; depth > 0; --depth) {
    LoadFactor<6, kPassing == Passing::kB>(tiles, b.data, b.stride);
    LoadFactor<4, kPassing == Passing::kA>(tiles, a.data, a.stride);
    tiles.AddProduct<0, 4, 6>();
    LoadFactor<7, kPassing == Passing::kB>(tiles, b.data + b.second, b.stride);
    tiles.AddProduct<1, 4, 7>();
    if constexpr (kTwo) {
      LoadFactor<5, kPassing == Passing::kA>(tiles, a.data + a.second, a.stride);
      tiles.AddProduct<2, 5, 6>();
      tiles.AddProduct<3, 5, 7>();
    }
    aside.Step();
    a.data += a.step;
    b.data += b.step;
  }
  tiles.Store<0>(c.data, c.stride);
  tiles.Store<1>(c.data + kTileSide, c.stride);
  if constexpr (kTwo) tiles.Store<2>(second, c.stride);
  if constexpr (kTwo) tiles.Store<3>(second + kTileSide, c.stride);
}

// C of `rows` x 2 tiles, rows one or two.
HWY_INLINE void ProductOfTiles(AmxTiles& tiles, size_t rows, size_t depth, TilesOfFactor a,
                               TilesOfFactor b, Output c) {
  Nothing nothing;
  if (rows > 1) {
    ProductOfTiles<2, Passing::kNone>(tiles, depth, a, b, c, nothing);
  } else {
    ProductOfTiles<1, Passing::kNone>(tiles, depth, a, b, c, nothing);
  }
}

// A is [rows, depth], B [depth, columns] and C [rows, columns], all counted in tiles, which are
// read and written whole; `columns` is even.
HWY_INLINE void TileProduct(AmxTiles& tiles, size_t rows, size_t columns, size_t depth,
                            Along<uint32_t> a, Rows<uint32_t> b, Output c) {
  for (size_t m = 0; m < rows; m += 2) {
    for (size_t n = 0; n < columns; n += 2) {
      ProductOfTiles(tiles, std::min<size_t>(2, rows - m), depth,
                     TilesOf(RowsFrom(a, m * kTileSide)),
                     TilesOf(Rows<uint32_t>{b.data + n * kTileSide, b.stride}),
                     {c.data + kTileSide * (m * c.stride + n), c.stride, c.add});
    }
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard

// C (+)= A B on AMX, in tiles of 16 rows of 64 bytes: for words of two bf16 values as in
// small_product-inl.h, or for words of four bytes, whose sums are whole numbers. Included once per
// target by the files that multiply on AMX.
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

#include "tensor/kernels/cpu/products/small_product-inl.h"

// Every processor with AMX has AVX-512. Products of bytes need nothing of it, so that tests run
// them, with AMX emulated, on processors that have no more than AVX2.
#if HWY_TARGET <= HWY_AVX2

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// A tile is 16 rows of 16 words or floats.
inline constexpr size_t kTileSide = 16;

// The operand of LDTILECFG, which sets the shapes of the tile registers.
struct alignas(64) TileShapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
// The shapes for `rows` rows of A and C, 1 to 32, with the registers that ProductOfTiles uses.
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

// The content of the words of a product.
enum class TileWords {
  kBf16Pairs,  // two bf16 values; AMX-BF16
  kByteQuads,  // four bytes, of A unsigned and of B signed ones; AMX-INT8. Sums are int32_t.
};

// The tile registers 0 to 7 of this thread, zero at first, released when the object ends. Needs
// AMX-TILE, what its products need, and Linux's permission: the caller checks. It is assembly, as
// compilers have intrinsics for these instructions only at targets that Highway 1.0 does not know.
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
  // Rows are `stride` words apart.
  template <int kTile>
  HWY_INLINE void Load(const void* rows, size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2"
                     :
                     : "r"(rows), "r"(4 * stride), "i"(kTile)
                     : "memory");
  }
  // Load with a hint not to keep the lines in the first-level cache.
  template <int kTile>
  HWY_INLINE void LoadStreamed(const void* rows, size_t stride) {
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
  // Adds to the sums of kSum the product of kA, [row, depth] words, and kB, [depth, column] words.
  // The processor reads bf16 values below 2^-126 as 0.
  template <TileWords kWords, int kSum, int kA, int kB>
  HWY_INLINE void AddProduct() {
    if constexpr (kWords == TileWords::kBf16Pairs) {
      __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
    } else {
      __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
    }
  }
};

// An operand of the product that makes a block of C, one or two tiles of rows by two tiles of
// columns. The distances are in words.
struct TileOperand {
  const uint32_t* data;
  size_t stride;  // between the rows of a tile
  size_t second;  // from the first tile to the one beside it: the next rows of A, or columns of B
  size_t step;    // from a tile to the next one along the depth
};

HWY_INLINE TileOperand TileOperandOf(RowMajor<uint32_t> a) {
  return {a.data, a.stride, kTileSide * a.stride, kTileSide};
}
HWY_INLINE TileOperand TileOperandOf(Rows<uint32_t> b) {
  return {b.data, b.stride, kTileSide, kTileSide * b.stride};
}

template <int kTile, bool kStreamed>
HWY_INLINE void LoadOperand(AmxTiles& tiles, const uint32_t* rows, size_t stride) {
  if constexpr (kStreamed) {
    tiles.LoadStreamed<kTile>(rows, stride);
  } else {
    tiles.Load<kTile>(rows, stride);
  }
}

// The operand that is loaded with LoadStreamed, while the other one stays in the first-level cache
// for further products. Without it they would evict each other: products of a depth of 384 became a
// third faster.
enum class Streamed { kNone, kA, kB };

// The operands of a block of C.
struct TileOperands {
  TileOperand a, b;
};

// Computes kRows x 2 tiles of C, kRows one or two, over a depth of `depth` tiles. Uses registers 0
// to 3 for C, 4 and 5 for A, 6 and 7 for B. Calls hook.Step() for each tile of the depth. c.data
// points to int32_t where the words are bytes, and there is no bias.
template <size_t kRows, Streamed kStreamed, TileWords kWords = TileWords::kBf16Pairs,
          typename StepHook>
HWY_INLINE void ProductOfTiles(AmxTiles& tiles, size_t depth, const TileOperands& operands,
                               Output c, StepHook& hook) {
  constexpr bool kTwo = kRows > 1;
  TileOperand a = operands.a, b = operands.b;
  float* second = c.data + kTileSide * c.stride;
  if (c.add || c.bias) {
    // All rows start at the same bias: a stride of 0.
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
    LoadOperand<6, kStreamed == Streamed::kB>(tiles, b.data, b.stride);
    LoadOperand<4, kStreamed == Streamed::kA>(tiles, a.data, a.stride);
    tiles.AddProduct<kWords, 0, 4, 6>();
    LoadOperand<7, kStreamed == Streamed::kB>(tiles, b.data + b.second, b.stride);
    tiles.AddProduct<kWords, 1, 4, 7>();
    if constexpr (kTwo) {
      LoadOperand<5, kStreamed == Streamed::kA>(tiles, a.data + a.second, a.stride);
      tiles.AddProduct<kWords, 2, 5, 6>();
      tiles.AddProduct<kWords, 3, 5, 7>();
    }
    hook.Step();
    a.data += a.step;
    b.data += b.step;
  }
  tiles.Store<0>(c.data, c.stride);
  tiles.Store<1>(c.data + kTileSide, c.stride);
  if constexpr (kTwo) tiles.Store<2>(second, c.stride);
  if constexpr (kTwo) tiles.Store<3>(second + kTileSide, c.stride);
}

// Tiles of rows of A and C, one or two, and tiles of the depth.
struct TileCounts {
  size_t rows;
  size_t depth;
};

// Computes counts.rows x 2 tiles of C.
HWY_INLINE void ProductOfTiles(AmxTiles& tiles, TileCounts counts, const TileOperand& a,
                               const TileOperand& b, Output c) {
  NoHook no_hook;
  if (counts.rows > 1) {
    ProductOfTiles<2, Streamed::kNone>(tiles, counts.depth, {a, b}, c, no_hook);
  } else {
    ProductOfTiles<1, Streamed::kNone>(tiles, counts.depth, {a, b}, c, no_hook);
  }
}

// A is [rows, depth], B [depth, columns] and C [rows, columns], all counted in tiles, which are
// read and written whole; `columns` is even.
HWY_INLINE void TileProduct(AmxTiles& tiles, const SmallShape& tile_counts, RowMajor<uint32_t> a,
                            Rows<uint32_t> b, Output c) {
  for (size_t m = 0; m < tile_counts.rows; m += 2) {
    for (size_t n = 0; n < tile_counts.columns; n += 2) {
      ProductOfTiles(tiles, {std::min<size_t>(2, tile_counts.rows - m), tile_counts.depth},
                     TileOperandOf(SkipRows(a, m * kTileSide)),
                     TileOperandOf(Rows<uint32_t>{b.data + n * kTileSide, b.stride}),
                     {c.data + kTileSide * (m * c.stride + n), c.stride, c.add});
    }
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX2
#endif  // per-target include guard

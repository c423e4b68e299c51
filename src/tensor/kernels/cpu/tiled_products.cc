#include "tensor/kernels/cpu/tiled_products.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/tiled_products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/row_pairs-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/tile_product-inl.h"
#include "tensor/kernels/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3

inline constexpr size_t kSide = kTiledUnit;  // of a block of C, of 2 x 2 tiles, and a step's depth
inline constexpr size_t kTileWords = kTileSide * kTileSide;
inline constexpr size_t kStepWords = 2 * kTileWords;  // of a panel, for a step
static_assert(kSide == 2 * kTileSide);

HWY_INLINE const uint32_t* WordsOf(const Bf16* values) {
  return reinterpret_cast<const uint32_t*>(values);  // for tiles, which know no types
}

// A block's sums, in memory, that are still to be rounded: little by little, while the next block
// is multiplied.
class LateRounding {
 public:
  LateRounding() = default;
  LateRounding(const float* sums, Bf16* out, size_t stride, size_t rows)
      : sums_(sums), out_(out), stride_(stride), rows_(rows) {}
  // At most `count` more rows.
  HWY_INLINE void Rows(size_t count) {
    const size_t end = std::min(rows_, done_ + count);
    for (; done_ < end; ++done_) {
      const float* sums = sums_ + done_ * kSide;
      Bf16* out = out_ + done_ * stride_;
      StoreRounded(hn::LoadU(FloatTag(), sums), out);
      StoreRounded(hn::LoadU(FloatTag(), sums + kTileSide), out + kTileSide);
    }
  }

 private:
  const float* sums_ = nullptr;
  Bf16* out_ = nullptr;
  size_t stride_ = 0;
  size_t rows_ = 0;
  size_t done_ = 0;
};

// What a block's sums start from: nothing, other sums, or with a stride of 0 a bias for every row.
struct Start {
  const float* sums;
  size_t stride;
};

// The factors of a block of C: rows of A, `stride` words apart and `step` words further for the next
// 32 of the depth, in two tiles `second` words apart; and a panel of B.
struct BlockFactors {
  const uint32_t* a;
  size_t stride;
  size_t second;
  size_t step;
  const uint32_t* panel;
};

// Fetches the next panel to the second-level cache little by little, while products run.
struct PanelFetch {
  const uint32_t* next;
  size_t lines;  // a step

  HWY_INLINE void Step() {
    for (size_t i = 0; i < lines; ++i, next += kTileSide) __builtin_prefetch(next, 0, 2);
  }
};

// What is done besides the multiplication of a block, once a step.
struct Aside {
  LateRounding late;
  size_t late_rows = 0;
  PanelFetch fetch{nullptr, 0};
};

// C of kTiles x 2 tiles, kTiles 1 or 2.
template <size_t kTiles>
HWY_INLINE void MultiplyBlock(AmxTiles& tiles, BlockFactors by, size_t steps, Start start, float* c,
                              size_t c_stride, Aside& aside) {
  constexpr bool kTwo = kTiles > 1;
  if (start.sums == nullptr) {
    tiles.Zero<0>();
    tiles.Zero<1>();
    if constexpr (kTwo) tiles.Zero<2>();
    if constexpr (kTwo) tiles.Zero<3>();
  } else {
    const float* second = start.sums + kTileSide * start.stride;
    tiles.Load<0>(start.sums, start.stride);
    tiles.Load<1>(start.sums + kTileSide, start.stride);
    if constexpr (kTwo) tiles.Load<2>(second, start.stride);
    if constexpr (kTwo) tiles.Load<3>(second + kTileSide, start.stride);
  }
  for (; steps > 0; --steps) {
    tiles.Load<6>(by.panel, kTileSide);
    tiles.Load<4>(by.a, by.stride);
    tiles.AddProduct<0, 4, 6>();
    tiles.Load<7>(by.panel + kTileWords, kTileSide);
    tiles.AddProduct<1, 4, 7>();
    if constexpr (kTwo) {
      tiles.Load<5>(by.a + by.second, by.stride);
      tiles.AddProduct<2, 5, 6>();
      tiles.AddProduct<3, 5, 7>();
    }
    aside.fetch.Step();
    aside.late.Rows(aside.late_rows);
    by.a += by.step;
    by.panel += kStepWords;
  }
  float* second = c + kTileSide * c_stride;
  tiles.Store<0>(c, c_stride);
  tiles.Store<1>(c + kTileSide, c_stride);
  if constexpr (kTwo) tiles.Store<2>(second, c_stride);
  if constexpr (kTwo) tiles.Store<3>(second + kTileSide, c_stride);
}

// `blocks` blocks of rows, from row `first` on, by all of B: kTiles tiles of `rows` rows each.
template <size_t kTiles, typename Out>
void MultiplyBlocks(const TiledProduct<Out>& p, size_t first, size_t rows, size_t blocks) {
  AmxTiles tiles(rows);
  HWY_ALIGN float sums[2][kSide * kSide];
  size_t turn = 0;
  const size_t steps = p.depth / kSide, panel_words = steps * kStepWords;
  Aside aside;
  aside.late_rows = (kSide + steps - 1) / steps;
  for (size_t n = 0; n < p.columns; n += kSide) {
    const uint32_t* panel = WordsOf(p.tiles) + n / kSide * panel_words;
    const bool last = n + kSide == p.columns;
    aside.fetch = {panel + panel_words, last ? 0 : (kStepWords / kTileSide + blocks - 1) / blocks};
    for (size_t block = 0; block < blocks; ++block) {
      const size_t row = first + block * kSide;
      const BlockFactors by{WordsOf(p.x + row * p.x_stride), p.x_stride / 2,
                            kTileSide * p.x_stride / 2, kTileSide, panel};
      const Start start{p.bias ? p.bias + n : nullptr, 0};
      Out* out = p.out + row * p.out_stride + n;
      if constexpr (std::is_same_v<Out, float>) {
        MultiplyBlock<kTiles>(tiles, by, steps, start, out, p.out_stride, aside);
      } else {
        MultiplyBlock<kTiles>(tiles, by, steps, start, sums[turn], kSide, aside);
        aside.late = {sums[turn], out, p.out_stride, rows};
        turn = 1 - turn;
      }
    }
  }
  aside.late.Rows(kSide);
}

template <typename Out>
void MultiplyTiledT(const TiledProduct<Out>& p, size_t rows) {
  const size_t blocks = rows / kSide, rest = rows % kSide;
  if (blocks > 0) MultiplyBlocks<2>(p, 0, kSide, blocks);
  if (rest > kTileSide) {
    MultiplyBlocks<2>(p, rows - rest, rest, 1);
  } else if (rest > 0) {
    MultiplyBlocks<1>(p, rows - rest, rest, 1);
  }
}

void PackTilesT(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
                size_t columns, Bf16* tiles) {
  const bool by_rows = column_stride == 1;
  const size_t stride = by_rows ? depth_stride : column_stride;
#pragma omp parallel for schedule(static)
  for (size_t n = 0; n < columns; n += kSide) {
    HWY_ALIGN Bf16 values[kSide * kSide];
    auto* to = reinterpret_cast<uint32_t*>(tiles + n * depth);
    for (size_t k = 0; k < depth; k += kSide) {
      const float* from = source + k * depth_stride + n * column_stride;
      for (size_t r = 0; r < kSide; ++r) {
        for (size_t c = 0; c < kSide; c += kTileSide) {
          StoreRounded(hn::LoadU(FloatTag(), from + r * stride + c), values + r * kSide + c);
        }
      }
      for (size_t tile = 0; tile < 2; ++tile, to += kTileWords) {
        if (by_rows) {
          PackRowPairs(values + tile * kTileSide, kSide, kSide, kTileSide, to);
        } else {
          Transpose({values + tile * kTileSide * kSide, 2 * kSide, kTileSide, kTileSide}, kTileSide,
                    to);
        }
      }
    }
  }
}

// Factors of a sum over the depth, [depth, width], as tiles: for every 32 columns and every 32 of
// the depth two tiles of words of two rows, or of their transposes; zeros behind the last row.
template <bool kTransposed>
HWY_INLINE void PackColumns(const Bf16* from, size_t stride, size_t depth, size_t width,
                            uint32_t* to) {
  const size_t steps = (depth + kSide - 1) / kSide;
  HWY_ALIGN uint32_t pairs[kTileWords];
  for (size_t step = 0; step < steps; ++step) {
    const Bf16* rows = from + step * kSide * stride;
    const size_t count = std::min(kSide, depth - step * kSide);
    for (size_t c = 0; c < width; c += kTileSide) {
      uint32_t* tile = to + (c / kSide * steps + step) * kStepWords + c % kSide * kTileSide;
      PackPaddedPairs(rows + c, stride, count, kSide, kTileSide, kTransposed ? pairs : tile);
      if constexpr (kTransposed) {
        Transpose({pairs, 4 * kTileSide, kTileSide, kTileSide}, kTileSide, tile);
      }
    }
  }
}

// The depth that is summed at once: a panel of it, 32 KB, stays in the first-level cache while the
// other factor passes through it from the second.
inline constexpr size_t kDepthAtOnce = 512;

void AddTransposedTiledT(const TiledTransposedProduct& p) {
  const size_t steps = (p.depth + kSide - 1) / kSide;
  const size_t a_words = p.m / kSide * steps * kStepWords;
  const size_t b_words = p.n / kSide * steps * kStepWords;
  Scratch scratch = Scratch::Reserve<TiledTransposedProduct>(Scratch::Bytes<uint32_t>(a_words) +
                                                             Scratch::Bytes<uint32_t>(b_words));
  uint32_t* a = scratch.Take<uint32_t>(a_words);
  uint32_t* b = scratch.Take<uint32_t>(b_words);
  PackColumns<true>(p.a, p.a_stride, p.depth, p.m, a);
  PackColumns<false>(p.b, p.b_stride, p.depth, p.n, b);
  AmxTiles tiles(kSide);
  Aside nothing;
  const size_t most = kDepthAtOnce / kSide;
  const auto add = [&](size_t i, size_t j, size_t first) HWY_ATTR {
    const size_t count = std::min(most, steps - first);
    const BlockFactors by{a + (i / kSide * steps + first) * kStepWords, kTileSide, kTileWords,
                          kStepWords, b + (j / kSide * steps + first) * kStepWords};
    float* c = p.sum + i * p.n + j;
    MultiplyBlock<2>(tiles, by, count, {c, p.n}, c, p.n, nothing);
  };
  // The wider factor passes once, the other one stays in the second-level cache.
  if (p.m > p.n) {
    for (size_t i = 0; i < p.m; i += kSide) {
      for (size_t first = 0; first < steps; first += most) {
        for (size_t j = 0; j < p.n; j += kSide) add(i, j, first);
      }
    }
  } else {
    for (size_t j = 0; j < p.n; j += kSide) {
      for (size_t first = 0; first < steps; first += most) {
        for (size_t i = 0; i < p.m; i += kSide) add(i, j, first);
      }
    }
  }
}

#else  // never asked for

template <typename Out>
void MultiplyTiledT(const TiledProduct<Out>& /*p*/, size_t /*rows*/) {}
void PackTilesT(const float* /*source*/, size_t /*depth_stride*/, size_t /*column_stride*/,
                size_t /*depth*/, size_t /*columns*/, Bf16* /*tiles*/) {}
void AddTransposedTiledT(const TiledTransposedProduct& /*p*/) {}

#endif

void MultiplyTiledToFloat(const TiledProduct<float>& p, size_t rows) { MultiplyTiledT(p, rows); }
void MultiplyTiledToBf16(const TiledProduct<Bf16>& p, size_t rows) { MultiplyTiledT(p, rows); }

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

HWY_EXPORT(PackTilesT);
HWY_EXPORT(MultiplyTiledToFloat);
HWY_EXPORT(MultiplyTiledToBf16);
HWY_EXPORT(AddTransposedTiledT);

void PackTiles(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
               size_t columns, Bf16* tiles) {
  HWY_DYNAMIC_DISPATCH(PackTilesT)(source, depth_stride, column_stride, depth, columns, tiles);
}
void MultiplyTiled(const TiledProduct<float>& product, size_t rows) {
  HWY_DYNAMIC_DISPATCH(MultiplyTiledToFloat)(product, rows);
}
void MultiplyTiled(const TiledProduct<Bf16>& product, size_t rows) {
  HWY_DYNAMIC_DISPATCH(MultiplyTiledToBf16)(product, rows);
}
void AddTransposedTiled(const TiledTransposedProduct& product) {
  HWY_DYNAMIC_DISPATCH(AddTransposedTiledT)(product);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

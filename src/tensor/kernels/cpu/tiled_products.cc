#include "tensor/kernels/cpu/tiled_products.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/tiled_products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/late_results-inl.h"
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

// The depth that is summed at once: 32 rows or columns of it, 24 KB, stay in the first-level cache
// while the other factor passes through it from the second.
inline constexpr size_t kDepthAtOnce = 384;

// A panel, of either factor: for every step of the depth two tiles.
HWY_INLINE TilesOfFactor PanelTiles(const uint32_t* panel) {
  return {panel, kTileSide, kTileWords, kStepWords};
}

// Fetches lines of memory to the second-level cache, the same distance apart, some in a step.
struct LineFetch {
  const void* next = nullptr;
  size_t stride = 0;  // bytes
  size_t lines = 0;   // left
  size_t a_step = 0;

  HWY_INLINE void Step() {
    for (size_t i = std::min(a_step, lines); i > 0; --i, --lines) {
      __builtin_prefetch(next, 0, 2);
      next = static_cast<const std::byte*>(next) + stride;
    }
  }
};

// What is done besides the multiplication of a block, once a step.
template <typename Late>
class Aside {
 public:
  explicit Aside(const Late& late) : late_(late) {}

  HWY_INLINE void Step() {
    fetch.Step();
    Do(rows_a_step_);
  }
  // The next product has so many steps.
  HWY_INLINE void Spread(size_t steps) { rows_a_step_ = (kSide + steps - 1) / steps; }
  // From now on the results of `rows` rows at (row, column), whose sums are rows `stride` apart.
  HWY_INLINE void Begin(size_t row, size_t column, size_t rows, const float* sums, size_t stride) {
    Do(kSide);
    sums_ = sums;
    stride_ = stride;
    left_ = rows;
    late_.Begin(row, column);
  }
  HWY_INLINE void Finish() { Do(kSide); }

  LineFetch fetch;  // of the next panel

 private:
  HWY_INLINE void Do(size_t rows) {
    if (left_ == 0) return;
    const size_t count = std::min(rows, left_);
    for (size_t r = 0; r < count; ++r, sums_ += stride_) late_.Row(sums_);
    left_ -= count;
    if (left_ == 0) late_.End();
  }

  Late late_;
  size_t rows_a_step_ = kSide;
  const float* sums_ = nullptr;
  size_t stride_ = 0;
  size_t left_ = 0;
};

// B no larger than this stays in the second-level cache, of 2 MB on processors with AMX.
inline constexpr size_t kCachedBytes = size_t{5} << 18;

// Multiplies blocks of rows: one pass over B, its columns or the rows outside.
template <size_t kTiles, typename Late>
class BlockMultiplier {
 public:
  // kTiles tiles of `rows` rows each, in `blocks` blocks from row `first` on.
  HWY_INLINE BlockMultiplier(AmxTiles& tiles, const TiledProduct& p, size_t first, size_t rows,
                             size_t blocks, const Late& late, const FloatResult& floats)
      : p_(p),
        first_(first),
        rows_(rows),
        blocks_(blocks),
        floats_(floats),
        tiles_(tiles),
        aside_(late),
        parts_((p.depth + kDepthAtOnce - 1) / kDepthAtOnce),
        part_((p.depth / kSide + parts_ - 1) / parts_ * kSide) {
    if (kFloats || parts_ == 1) return;
    const size_t floats_of_part = kSide * std::max(p.columns, blocks * kSide);
    partial_ = Scratch::Reserve<TiledProduct>(Scratch::Bytes<float>(floats_of_part))
                   .template Take<float>(floats_of_part);
  }

  // A block of rows, of a part of the depth, stays in the first-level cache.
  HWY_INLINE void RowsOutside() {
    for (size_t block = 0; block < blocks_; ++block) {
      for (size_t k = 0; k < p_.depth; k += part_) {
        for (size_t n = 0; n < p_.columns; n += kSide) {
          if (block == 0) FetchBehind(n, k, 1);
          Multiply<Passing::kB>(block, n, k, partial_ + n, p_.columns);
        }
      }
      aside_.fetch.lines = 0;
    }
    aside_.Finish();
  }
  // A panel does.
  HWY_INLINE void ColumnsOutside() {
    for (size_t n = 0; n < p_.columns; n += kSide) {
      for (size_t k = 0; k < p_.depth; k += part_) {
        FetchBehind(n, k, blocks_);
        for (size_t block = 0; block < blocks_; ++block) {
          Multiply<Passing::kA>(block, n, k, partial_ + block * kSide * kSide, kSide);
        }
      }
    }
    aside_.Finish();
  }

 private:
  static constexpr bool kFloats = std::is_same_v<Late, NothingLate>;

  // The product of a block of rows, a panel and the part of the depth at `k`. Sums that are not
  // complete wait at `partial`.
  template <Passing kPassing>
  HWY_INLINE void Multiply(size_t block, size_t n, size_t k, float* partial, size_t stride) {
    const size_t row = first_ + block * kSide, depth = std::min(part_, p_.depth - k);
    Output c{floats_.out + row * floats_.stride + n, floats_.stride, k > 0,
             p_.bias ? p_.bias + n : nullptr};
    if constexpr (!kFloats) {
      c.data = parts_ > 1 ? partial : sums_[turn_];
      c.stride = parts_ > 1 ? stride : kSide;
    }
    aside_.Spread(depth / kSide);
    ProductOfTiles<kTiles, kPassing>(
        tiles_, depth / kSide,
        TilesOf(Along<uint32_t>{AsWords(p_.x + row * p_.x_stride + k), p_.x_stride / 2}),
        PanelTiles(PanelAt(n, k)), c, aside_);
    if (kFloats || k + depth < p_.depth) return;
    aside_.Begin(row, n, rows_, c.data, c.stride);
    turn_ = 1 - turn_;
  }

  HWY_INLINE const uint32_t* PanelAt(size_t n, size_t k) const {
    return AsWords(p_.tiles) + (n * p_.depth + k * kSide) / 2;
  }
  // Fetches the panel behind the one at `n` during so many blocks.
  HWY_INLINE void FetchBehind(size_t n, size_t k, size_t during) {
    if (n + kSide == p_.columns) return;
    const size_t lines = kStepWords / kTileSide;  // of a panel, for a step
    aside_.fetch = {PanelAt(n + kSide, k), kTileSide * sizeof(uint32_t),
                    std::min(part_, p_.depth - k) / kSide * lines, (lines + during - 1) / during};
  }

  const TiledProduct& p_;
  size_t first_, rows_, blocks_;
  FloatResult floats_;
  AmxTiles& tiles_;
  Aside<Late> aside_;
  size_t parts_, part_;  // of the depth: how many, and how deep
  float* partial_ = nullptr;
  HWY_ALIGN float sums_[2][kSide * kSide];
  size_t turn_ = 0;
};

template <size_t kTiles, typename Late>
void MultiplyBlocks(const TiledProduct& p, size_t first, size_t rows, size_t blocks,
                    const Late& late, const FloatResult& floats) {
  AmxTiles tiles(rows);
  BlockMultiplier<kTiles, Late> multiplier(tiles, p, first, rows, blocks, late, floats);
  if (p.depth * p.columns * sizeof(Bf16) <= kCachedBytes) {
    multiplier.RowsOutside();
  } else {
    multiplier.ColumnsOutside();
  }
}

template <typename Late>
void MultiplyTiledT(const TiledProduct& p, size_t rows, const Late& late,
                    const FloatResult& floats = {}) {
  const size_t blocks = rows / kSide, rest = rows % kSide;
  if (blocks > 0) MultiplyBlocks<2>(p, 0, kSide, blocks, late, floats);
  if (rest > kTileSide) {
    MultiplyBlocks<2>(p, rows - rest, rest, 1, late, floats);
  } else if (rest > 0) {
    MultiplyBlocks<1>(p, rows - rest, rest, 1, late, floats);
  }
}

void MultiplyToFloat(const TiledProduct& p, size_t rows, const FloatResult& result) {
  MultiplyTiledT(p, rows, NothingLate(), result);
}
void MultiplyToBf16(const TiledProduct& p, size_t rows, const Bf16Result& result) {
  MultiplyTiledT(p, rows, LateRounding(result));
}
void MultiplyToGelu(const TiledProduct& p, size_t rows, const GeluResult& result) {
  MultiplyTiledT(p, rows, LateGelu(result, p.columns));
}
void MultiplyToGeluGradient(const TiledProduct& p, size_t rows, const GeluGradientResult& result) {
  MultiplyTiledT(p, rows, LateGeluGradient(result, p.columns));
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

// What a block of a sum fetches: the next block's rows, two lines each, and a part of the wide
// factor's next columns.
struct SumAside {
  LineFetch left, right, columns;

  HWY_INLINE void Step() {
    left.Step();
    right.Step();
    columns.Step();
  }
};

// One factor of a sum, [depth, width].
struct SumFactor {
  const Bf16* rows;
  size_t stride;
  size_t width;
};

// As kDepthAtOnce; here a deeper panel, of 32 KB, was faster, because every part reads and writes
// C.
inline constexpr size_t kSumDepth = 512;

// The narrow factor is packed whole and stays in the second-level cache. The wide one, which would
// not, is packed 32 columns at a time.
template <bool kWideIsA>
HWY_INLINE void MultiplyFactors(const SumFactor& wide, const SumFactor& narrow, size_t depth,
                                float* sum, size_t sum_stride, bool add) {
  const size_t steps = (depth + kSide - 1) / kSide, panel_words = steps * kStepWords;
  const size_t narrow_words = narrow.width / kSide * panel_words;
  Scratch scratch = Scratch::Reserve<TiledTransposedProduct>(
      Scratch::Bytes<uint32_t>(narrow_words) + Scratch::Bytes<uint32_t>(panel_words));
  uint32_t* narrow_panels = scratch.Take<uint32_t>(narrow_words);
  uint32_t* panel = scratch.Take<uint32_t>(panel_words);
  PackColumns<!kWideIsA>(narrow.rows, narrow.stride, depth, narrow.width, narrow_panels);
  AmxTiles tiles;
  const size_t parts = (depth + kSumDepth - 1) / kSumDepth;
  const size_t most = (steps + parts - 1) / parts, blocks = narrow.width / kSide;
  const size_t row_bytes = sum_stride * sizeof(float);
  const auto block_at = [&](size_t w, size_t v) {
    return sum + (kWideIsA ? w * sum_stride + v : v * sum_stride + w);
  };
  SumAside aside;
  for (size_t w = 0; w < wide.width; w += kSide) {
    PackColumns<kWideIsA>(wide.rows + w, wide.stride, depth, kSide, panel);
    if (w + kSide < wide.width) {
      aside.columns = {wide.rows + w + kSide, wide.stride * sizeof(Bf16), depth,
                       depth / (steps * blocks) + 1};
    }
    for (size_t first = 0; first < steps; first += most) {
      const size_t count = std::min(most, steps - first);
      for (size_t v = 0; v < narrow.width; v += kSide) {
        const bool last = v + kSide == narrow.width;
        const float* next = last ? block_at(w + kSide, 0) : block_at(w, v + kSide);
        if (first == 0 && !(last && w + kSide == wide.width)) {
          const size_t a_step = (kSide + count - 1) / count;
          aside.left = {next, row_bytes, kSide, a_step};
          aside.right = {next + kTileSide, row_bytes, kSide, a_step};
        }
        const TilesOfFactor of_wide = PanelTiles(panel + first * kStepWords);
        const TilesOfFactor of_narrow =
            PanelTiles(narrow_panels + v / kSide * panel_words + first * kStepWords);
        ProductOfTiles<2, kWideIsA ? Passing::kB : Passing::kA>(
            tiles, count, kWideIsA ? of_wide : of_narrow, kWideIsA ? of_narrow : of_wide,
            {block_at(w, v), sum_stride, add || first > 0}, aside);
      }
    }
  }
}

void MultiplyTransposedTiledT(const TiledTransposedProduct& p) {
  const SumFactor a{p.a, p.a_stride, p.m}, b{p.b, p.b_stride, p.n};
  if (p.m > p.n) {
    MultiplyFactors<true>(a, b, p.depth, p.sum, p.n, p.add);
  } else {
    MultiplyFactors<false>(b, a, p.depth, p.sum, p.n, p.add);
  }
}

#else  // never asked for

void MultiplyToFloat(const TiledProduct& /*p*/, size_t /*rows*/, const FloatResult& /*result*/) {}
void MultiplyToBf16(const TiledProduct& /*p*/, size_t /*rows*/, const Bf16Result& /*result*/) {}
void MultiplyToGelu(const TiledProduct& /*p*/, size_t /*rows*/, const GeluResult& /*result*/) {}
void MultiplyToGeluGradient(const TiledProduct& /*p*/, size_t /*rows*/,
                            const GeluGradientResult& /*result*/) {}
void PackTilesT(const float* /*source*/, size_t /*depth_stride*/, size_t /*column_stride*/,
                size_t /*depth*/, size_t /*columns*/, Bf16* /*tiles*/) {}
void MultiplyTransposedTiledT(const TiledTransposedProduct& /*p*/) {}

#endif

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

HWY_EXPORT(PackTilesT);
HWY_EXPORT(MultiplyToFloat);
HWY_EXPORT(MultiplyToBf16);
HWY_EXPORT(MultiplyToGelu);
HWY_EXPORT(MultiplyToGeluGradient);
HWY_EXPORT(MultiplyTransposedTiledT);

void PackTiles(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
               size_t columns, Bf16* tiles) {
  HWY_DYNAMIC_DISPATCH(PackTilesT)(source, depth_stride, column_stride, depth, columns, tiles);
}
void MultiplyTiled(const TiledProduct& product, size_t rows, const FloatResult& result) {
  HWY_DYNAMIC_DISPATCH(MultiplyToFloat)(product, rows, result);
}
void MultiplyTiled(const TiledProduct& product, size_t rows, const Bf16Result& result) {
  HWY_DYNAMIC_DISPATCH(MultiplyToBf16)(product, rows, result);
}
void MultiplyTiled(const TiledProduct& product, size_t rows, const GeluResult& result) {
  HWY_DYNAMIC_DISPATCH(MultiplyToGelu)(product, rows, result);
}
void MultiplyTiled(const TiledProduct& product, size_t rows, const GeluGradientResult& result) {
  HWY_DYNAMIC_DISPATCH(MultiplyToGeluGradient)(product, rows, result);
}
void MultiplyTransposedTiled(const TiledTransposedProduct& product) {
  HWY_DYNAMIC_DISPATCH(MultiplyTransposedTiledT)(product);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

#include "tensor/kernels/cpu/products/tiled_products.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/products/tiled_products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/products/epilogues-inl.h"
#include "tensor/kernels/cpu/products/tile_product-inl.h"
#include "tensor/kernels/cpu/rows/row_pairs-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"
#include "tensor/kernels/cpu/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3

// A block of C has 2 x 2 tiles, kSide rows and columns. A step multiplies kSide elements of the
// depth, for which a panel has two tiles.
inline constexpr size_t kSide = kTiledUnit;
inline constexpr size_t kTileWords = kTileSide * kTileSide;
inline constexpr size_t kStepWords = 2 * kTileWords;
static_assert(kSide == 2 * kTileSide);

// The depth that is summed at once: so much of 32 rows or columns, 24 KB, stays in the first-level
// cache while the other factor is streamed from the second.
inline constexpr size_t kDepthBlock = 384;

// A panel of either factor as an operand: two tiles for every step.
HWY_INLINE TileOperand PanelTiles(const uint32_t* panel) {
  return {panel, kTileSide, kTileWords, kStepWords};
}

// B no larger than this stays in the second-level cache, of 2 MB on processors with AMX.
inline constexpr size_t kCachedBytes = size_t{5} << 18;

// A run of blocks of rows that have one shape.
struct RowBlocks {
  size_t first;   // row
  size_t rows;    // of a block
  size_t blocks;  // a block begins kSide rows after the one before
};

// Multiplies blocks of rows of kTiles tiles each with all of B.
template <size_t kTiles, typename Epilogue>
class BlockMultiplier {
 public:
  HWY_INLINE BlockMultiplier(AmxTiles& tiles, const TiledProduct& p, const RowBlocks& run,
                             const Epilogue& epilogue, const FloatResult& floats)
      : p_(p),
        run_(run),
        floats_(floats),
        tiles_(tiles),
        hook_(epilogue),
        parts_((p.depth + kDepthBlock - 1) / kDepthBlock),
        part_((p.depth / kSide + parts_ - 1) / parts_ * kSide) {
    if (kFloats || parts_ == 1) return;
    partial_ =
        AllocateScratchArray<float, TiledProduct>(kSide * std::max(p.columns, run.blocks * kSide));
  }

  // Rows in the outer loop: a block of rows, of a part of the depth, stays in the first-level
  // cache.
  HWY_INLINE void LoopOverRows() {
    for (size_t block = 0; block < run_.blocks; ++block) {
      for (size_t k = 0; k < p_.depth; k += part_) {
        for (size_t n = 0; n < p_.columns; n += kSide) {
          if (block == 0) PrefetchPanelAfter(n, k, 1);
          Multiply<Streamed::kB>(block, n, k, {partial_ + n, p_.columns});
        }
      }
      hook_.prefetch.lines = 0;
    }
    hook_.Finish();
  }
  // Columns in the outer loop: a panel of B, of a part of the depth, stays there.
  HWY_INLINE void LoopOverColumns() {
    for (size_t n = 0; n < p_.columns; n += kSide) {
      for (size_t k = 0; k < p_.depth; k += part_) {
        PrefetchPanelAfter(n, k, run_.blocks);
        for (size_t block = 0; block < run_.blocks; ++block) {
          Multiply<Streamed::kA>(block, n, k, {partial_ + block * kSide * kSide, kSide});
        }
      }
    }
    hook_.Finish();
  }

 private:
  static constexpr bool kFloats = std::is_same_v<Epilogue, NoEpilogue>;

  // Multiplies a block of rows by the panel at column n, over the part of the depth that begins at
  // k. Sums that further parts are added to are kept at `partial`.
  template <Streamed kStreamed>
  HWY_INLINE void Multiply(size_t block, size_t n, size_t k, const FloatResult& partial) {
    const size_t row = run_.first + block * kSide, depth = std::min(part_, p_.depth - k);
    Output c{floats_.out + row * floats_.stride + n, floats_.stride,
             k > 0 || (kFloats && floats_.add), p_.bias ? p_.bias + n : nullptr};
    if constexpr (!kFloats) {
      c.data = parts_ > 1 ? partial.out : sums_[turn_];
      c.stride = parts_ > 1 ? partial.stride : kSide;
    }
    hook_.SpreadOver(depth / kSide);
    ProductOfTiles<kTiles, kStreamed>(
        tiles_, depth / kSide,
        {TileOperandOf(RowMajor<uint32_t>{AsWords(p_.x + row * p_.x_stride + k), p_.x_stride / 2}),
         PanelTiles(PanelAt(n, k))},
        c, hook_);
    if (kFloats || k + depth < p_.depth) return;
    hook_.Begin({row, n, run_.rows, c.data, c.stride});
    turn_ = 1 - turn_;
  }

  HWY_INLINE const uint32_t* PanelAt(size_t n, size_t k) const {
    return AsWords(p_.tiles) + (n * p_.depth + k * kSide) / 2;
  }
  // Prefetches the panel after the one at `n`, spread over the products of so many blocks.
  HWY_INLINE void PrefetchPanelAfter(size_t n, size_t k, size_t blocks) {
    if (n + kSide == p_.columns) return;
    const size_t lines = kStepWords / kTileSide;  // of a panel, for a step
    hook_.prefetch = {PanelAt(n + kSide, k), kTileSide * sizeof(uint32_t),
                      std::min(part_, p_.depth - k) / kSide * lines, (lines + blocks - 1) / blocks};
  }

  const TiledProduct& p_;
  RowBlocks run_;
  FloatResult floats_;
  AmxTiles& tiles_;
  EpilogueHook<Epilogue> hook_;
  size_t parts_, part_;       // the depth is summed in parts: how many, and how deep one is
  float* partial_ = nullptr;  // incomplete sums, where there are several parts
  // Two buffers in turn: the epilogue reads one while the next block's sums go to the other.
  HWY_ALIGN float sums_[2][kSide * kSide];
  size_t turn_ = 0;
};

template <size_t kTiles, typename Epilogue>
void MultiplyBlocks(const TiledProduct& p, const RowBlocks& run, const Epilogue& epilogue,
                    const FloatResult& floats) {
  AmxTiles tiles(run.rows);
  BlockMultiplier<kTiles, Epilogue> multiplier(tiles, p, run, epilogue, floats);
  if (p.depth * p.columns * sizeof(Bf16) <= kCachedBytes) {
    multiplier.LoopOverRows();
  } else {
    multiplier.LoopOverColumns();
  }
}

template <typename Epilogue>
void MultiplyTiledT(const TiledProduct& p, size_t rows, const Epilogue& epilogue,
                    const FloatResult& floats = {}) {
  const size_t blocks = rows / kSide, rest = rows % kSide;
  if (blocks > 0) MultiplyBlocks<2>(p, {0, kSide, blocks}, epilogue, floats);
  if (rest > kTileSide) {
    MultiplyBlocks<2>(p, {rows - rest, rest, 1}, epilogue, floats);
  } else if (rest > 0) {
    MultiplyBlocks<1>(p, {rows - rest, rest, 1}, epilogue, floats);
  }
}

void MultiplyToFloat(const TiledProduct& p, size_t rows, const FloatResult& result) {
  MultiplyTiledT(p, rows, NoEpilogue(), result);
}
void MultiplyToBf16(const TiledProduct& p, size_t rows, const Bf16Result& result) {
  if (result.add) {
    MultiplyTiledT(p, rows, AddingEpilogue(result));
  } else {
    MultiplyTiledT(p, rows, RoundingEpilogue(result));
  }
}
void MultiplyToGelu(const TiledProduct& p, size_t rows, const GeluResult& result) {
  MultiplyTiledT(p, rows, GeluEpilogue(result, p.columns));
}
void MultiplyToGeluGradient(const TiledProduct& p, size_t rows, const GeluGradientResult& result) {
  MultiplyTiledT(p, rows, GeluGradientEpilogue(result, p.columns));
}

// Packs the columns n to n + kSide - 1.
void PackTilePanel(const FloatFactor& b, size_t n, Bf16* tiles) {
  const bool by_rows = b.column_stride == 1;
  const size_t stride = by_rows ? b.depth_stride : b.column_stride;
  HWY_ALIGN Bf16 values[kSide * kSide];
  auto* to = reinterpret_cast<uint32_t*>(tiles + n * b.depth);
  for (size_t k = 0; k < b.depth; k += kSide) {
    const float* from = b.source + k * b.depth_stride + n * b.column_stride;
    for (size_t r = 0; r < kSide; ++r) {
      for (size_t c = 0; c < kSide; c += kTileSide) {
        StoreRounded(hn::LoadU(FloatTag(), from + r * stride + c), values + r * kSide + c);
      }
    }
    for (size_t tile = 0; tile < 2; ++tile, to += kTileWords) {
      if (by_rows) {
        PackRowPairs({values + tile * kTileSide, kSide, kTileSide}, kSide, to);
      } else {
        Transpose({values + tile * kTileSide * kSide, 2 * kSide, kTileSide, kTileSide}, kTileSide,
                  to);
      }
    }
  }
}

// The body of the loop is a function of its own: clang compiles what stands in a parallel region
// without the target's instructions.
void PackTilesT(const FloatFactor& b, Bf16* tiles) {
#pragma omp parallel for schedule(static)
  for (size_t n = 0; n < b.columns; n += kSide) PackTilePanel(b, n, tiles);
}

// Packs a factor of a^T b, [depth, width], as panels of 32 columns: for every 32 rows two tiles, of
// words of two rows or of the transposes of these. Rows after the last one count as zero.
template <bool kTransposed>
HWY_INLINE void PackColumns(const StridedRows<const Bf16>& from, size_t depth, uint32_t* to) {
  const size_t steps = (depth + kSide - 1) / kSide;
  HWY_ALIGN uint32_t pairs[kTileWords];
  for (size_t step = 0; step < steps; ++step) {
    const Bf16* rows = from.data + step * kSide * from.stride;
    const size_t count = std::min(kSide, depth - step * kSide);
    for (size_t c = 0; c < from.width; c += kTileSide) {
      uint32_t* tile = to + (c / kSide * steps + step) * kStepWords + c % kSide * kTileSide;
      PackPaddedPairs({rows + c, from.stride, kTileSide}, count, kSide, kTransposed ? pairs : tile);
      if constexpr (kTransposed) {
        Transpose({pairs, 4 * kTileSide, kTileSide, kTileSide}, kTileSide, tile);
      }
    }
  }
}

// The hook of a block of a^T b. It prefetches the next block's rows, two lines each, and a part of
// the wide factor's next columns.
struct SumPrefetch {
  LinePrefetch left, right, columns;

  HWY_INLINE void Step() {
    left.Step();
    right.Step();
    columns.Step();
  }
};

// The kDepthBlock of a^T b. A deeper panel, of 32 KB, was faster here, because every part of the
// depth reads and writes C.
inline constexpr size_t kSumDepth = 512;

// The place where a^T b goes.
struct SumOutput {
  float* sum;
  size_t stride;
  bool add;
};

// Packs the whole narrow factor, which stays in the second-level cache. The wide one would not, so
// it is packed 32 columns at a time.
template <bool kWideIsA>
HWY_INLINE void MultiplyFactors(const StridedRows<const Bf16>& wide,
                                const StridedRows<const Bf16>& narrow, size_t depth,
                                const SumOutput& out) {
  const size_t steps = (depth + kSide - 1) / kSide, panel_words = steps * kStepWords;
  const size_t narrow_words = narrow.width / kSide * panel_words;
  struct Arrays {
    uint32_t* narrow_panels;
    uint32_t* panel;
  };
  const Arrays m = AllocateScratch<TiledTransposedProduct>([=](Scratch& scratch) {
    return Arrays{.narrow_panels = scratch.Allocate<uint32_t>(narrow_words),
                  .panel = scratch.Allocate<uint32_t>(panel_words)};
  });
  PackColumns<!kWideIsA>(narrow, depth, m.narrow_panels);
  AmxTiles tiles;
  const size_t parts = (depth + kSumDepth - 1) / kSumDepth;
  const size_t most = (steps + parts - 1) / parts, blocks = narrow.width / kSide;
  const size_t row_bytes = out.stride * sizeof(float);
  const auto block_at = [&](size_t w, size_t v) {
    return out.sum + (kWideIsA ? w * out.stride + v : v * out.stride + w);
  };
  SumPrefetch prefetch;
  for (size_t w = 0; w < wide.width; w += kSide) {
    PackColumns<kWideIsA>({wide.data + w, wide.stride, kSide}, depth, m.panel);
    if (w + kSide < wide.width) {
      prefetch.columns = {wide.data + w + kSide, wide.stride * sizeof(Bf16), depth,
                          depth / (steps * blocks) + 1};
    }
    for (size_t first = 0; first < steps; first += most) {
      const size_t count = std::min(most, steps - first);
      for (size_t v = 0; v < narrow.width; v += kSide) {
        const bool last = v + kSide == narrow.width;
        const float* next = last ? block_at(w + kSide, 0) : block_at(w, v + kSide);
        if (first == 0 && !(last && w + kSide == wide.width)) {
          const size_t lines = (kSide + count - 1) / count;
          prefetch.left = {next, row_bytes, kSide, lines};
          prefetch.right = {next + kTileSide, row_bytes, kSide, lines};
        }
        const TileOperand of_wide = PanelTiles(m.panel + first * kStepWords);
        const TileOperand of_narrow =
            PanelTiles(m.narrow_panels + v / kSide * panel_words + first * kStepWords);
        ProductOfTiles<2, kWideIsA ? Streamed::kB : Streamed::kA>(
            tiles, count, {kWideIsA ? of_wide : of_narrow, kWideIsA ? of_narrow : of_wide},
            {block_at(w, v), out.stride, out.add || first > 0}, prefetch);
      }
    }
  }
}

void MultiplyTransposedTiledT(const TiledTransposedProduct& p) {
  const StridedRows<const Bf16> a{p.a, p.a_stride, p.m}, b{p.b, p.b_stride, p.n};
  const SumOutput out{p.sum, p.n, p.add};
  if (p.m > p.n) {
    MultiplyFactors<true>(a, b, p.depth, out);
  } else {
    MultiplyFactors<false>(b, a, p.depth, out);
  }
}

#else  // callers check CurrentIsa(), so that these are never called

void MultiplyToFloat(const TiledProduct& /*p*/, size_t /*rows*/, const FloatResult& /*result*/) {}
void MultiplyToBf16(const TiledProduct& /*p*/, size_t /*rows*/, const Bf16Result& /*result*/) {}
void MultiplyToGelu(const TiledProduct& /*p*/, size_t /*rows*/, const GeluResult& /*result*/) {}
void MultiplyToGeluGradient(const TiledProduct& /*p*/, size_t /*rows*/,
                            const GeluGradientResult& /*result*/) {}
void PackTilesT(const FloatFactor& /*b*/, Bf16* /*tiles*/) {}
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

void PackTiles(const FloatFactor& b, Bf16* tiles) { HWY_DYNAMIC_DISPATCH(PackTilesT)(b, tiles); }
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

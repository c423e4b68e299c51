#include "tensor/kernels/cpu/products/panel_products.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/products/panel_products.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/products/small_product-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"
#include "tensor/kernels/cpu/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// A tile of C has kTileRows rows of kPanelVectors vectors: together with a row of the panel they
// fill the registers, 32 of them from AVX-512 on, else 16.
inline constexpr size_t kPanelVectors = 3;
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kTileRows = 8;
#else
inline constexpr size_t kTileRows = 4;
#endif

HWY_INLINE size_t PanelColumns() { return kPanelVectors * hn::Lanes(FloatTag()); }

// The depth that is summed in registers. A panel of it has 36 KB with AVX2, most of a first-level
// cache; 192 and 256 were not faster.
inline constexpr size_t kDepthBlock = 384;

// Prefetches memory a line at a time while a product runs: many prefetches at once would wait for
// each other, and the product for them.
struct PanelPrefetch {
  const float* next;
  size_t floats_per_step;  // may be less than a line, which is then prefetched several times

  HWY_INLINE void Step() {
    hwy::Prefetch(next);
    next += floats_per_step;
  }
};

// Products of several register tiles of C, one below the other, with one panel.
template <template <typename> class A>
struct TilesTask {
  A<float> a;     // the rows of the first tile
  size_t a_step;  // floats from the rows of a tile to those of the next one
  const float* panel;
  size_t columns;
  size_t depth;
  Output c;
  size_t tiles;
  PanelPrefetch prefetch;
};

// One function for all tiles: calling one for each would pass its arguments through memory, and
// they would queue behind the stores of the tile before.
template <size_t kRows, size_t kVectors, template <typename> class A>
HWY_INLINE void MultiplyTilesOfWidth(const TilesTask<A>& task) {
  A<float> a = task.a;
  Output c = task.c;
  PanelPrefetch prefetch = task.prefetch;
  for (size_t tile = 0; tile < task.tiles; ++tile) {
    const auto columns = kVectors * hn::Lanes(FloatTag());
    for (size_t r = 0; r < kRows; ++r) {
      const float* next = c.data + (kRows + r) * c.stride;
      hwy::Prefetch(next);
      hwy::Prefetch(next + columns - 1);
    }
    ProductTile<kRows, kVectors, A, float>(task.depth, a, {task.panel, task.columns}, c, prefetch);
    a.data += task.a_step;
    c.data += kRows * c.stride;
  }
}

template <size_t kRows, template <typename> class A>
HWY_NOINLINE void MultiplyTiles(const TilesTask<A>& task) {
  static_assert(kPanelVectors == 3);
  const size_t lanes = hn::Lanes(FloatTag());
  if (task.columns == 3 * lanes) {
    MultiplyTilesOfWidth<kRows, 3, A>(task);
  } else if (task.columns == 2 * lanes) {
    MultiplyTilesOfWidth<kRows, 2, A>(task);
  } else {
    MultiplyTilesOfWidth<kRows, 1, A>(task);
  }
}

// Multiplies tiles of `rows` rows, at most kRows.
template <size_t kRows, template <typename> class A>
HWY_INLINE void MultiplyTilesOf(size_t rows, const TilesTask<A>& task) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      MultiplyTiles<kRows, A>(task);
    } else {
      MultiplyTilesOf<kRows - 1, A>(rows, task);
    }
  }
}

// Packs a factor that is as wide as one panel or narrower.
void PackPanelT(const FloatFactor& b, float* panel) {
  const size_t depth = b.depth, columns = b.columns;
  if (b.column_stride == 1) {
    const float* source = b.source;
    for (size_t k = 0; k < depth; ++k, source += b.depth_stride, panel += columns) {
      for (size_t n = 0; n < columns; n += hn::Lanes(FloatTag())) {
        hn::StoreU(hn::LoadU(FloatTag(), source + n), FloatTag(), panel + n);
      }
    }
    return;
  }
  size_t k = 0;
  if (b.depth_stride == 1) {
    const WordRows rows{b.source, b.column_stride * sizeof(float), columns, depth};
    for (; k + kSquareSide <= depth; k += kSquareSide) {
      for (size_t n = 0; n < columns; n += kSquareSide) {
        TransposeSquare(rows, n, k, columns, reinterpret_cast<uint32_t*>(panel + k * columns + n));
      }
    }
  }
  for (; k < depth; ++k) {
    for (size_t n = 0; n < columns; ++n) {
      panel[k * columns + n] = b.source[n * b.column_stride + k * b.depth_stride];
    }
  }
}

void PackPanelsT(const FloatFactor& b, float* panels) {
  const size_t width = PanelColumns();
#pragma omp parallel for schedule(static)
  for (size_t n = 0; n < b.columns; n += width) {
    FloatFactor columns = b;
    columns.source += n * b.column_stride;
    columns.columns = std::min(width, b.columns - n);
    PackPanelT(columns, panels + n * b.depth);
  }
}

void MultiplyPanelsT(const PanelProduct& p, size_t rows) {
  const size_t width = PanelColumns();
  const size_t blocks = (p.depth + kDepthBlock - 1) / kDepthBlock;
  const size_t most = (p.depth + blocks - 1) / blocks;
  const size_t whole = rows / kTileRows, rest = rows % kTileRows;
  const auto panel_at = [&](size_t first, size_t n) {
    return p.panels + n * p.depth + first * std::min(width, p.columns - n);
  };
  for (size_t first = 0; first < p.depth; first += most) {
    const size_t depth = std::min(most, p.depth - first);
    for (size_t n = 0; n < p.columns; n += width) {
      const size_t columns = std::min(width, p.columns - n);
      const bool last = first + depth == p.depth;
      const float* next = n + columns < p.columns ? panel_at(first, n + columns)
                                                  : panel_at(last ? 0 : first + depth, 0);
      const size_t steps = std::max<size_t>(1, (rows / kTileRows + 1) * (depth / kStepDepth));
      TilesTask<RowMajor> task{
          {p.x + first, p.x_stride},
          kTileRows * p.x_stride,
          panel_at(first, n),
          columns,
          depth,
          {p.out + n, p.out_stride, p.add || first > 0, p.bias ? p.bias + n : nullptr},
          whole,
          {next, depth * width / steps + 1}};
      MultiplyTiles<kTileRows>(task);
      task.a.data += whole * task.a_step;
      task.c.data += whole * kTileRows * p.out_stride;
      task.tiles = 1;
      MultiplyTilesOf<kTileRows - 1>(rest, task);
    }
  }
}

// Packs a [depth, count], whose rows are `stride` apart, into blocks of kTileRows columns, row
// after row of a block. The columns that a last block lacks stay as they are.
HWY_INLINE void PackBlocks(const float* a, size_t stride, size_t depth, size_t count, float* to) {
  constexpr size_t kGroup = 16 / kTileRows;  // the blocks that share a cache line
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (size_t k = 0; k < depth; ++k) {
      for (size_t block = 0; block < kGroup; ++block) {
        std::memcpy(to + (i + block * kTileRows) * depth + k * kTileRows,
                    a + k * stride + i + block * kTileRows, kTileRows * sizeof(float));
      }
    }
  }
  for (; i < count; i += kTileRows) {
    const size_t height = std::min(kTileRows, count - i);
    for (size_t k = 0; k < depth; ++k) {
      for (size_t r = 0; r < height; ++r) to[i * depth + k * kTileRows + r] = a[k * stride + i + r];
    }
  }
}

void MultiplyTransposedPanelsT(const TransposedProduct& p) {
  constexpr size_t kBlockRows = 384;  // rows of the sum, for which `a` is packed at once
  static_assert(kBlockRows % kTileRows == 0);
  const size_t width = PanelColumns();
  struct Arrays {
    float* panels;  // of b
    float* blocks;  // of kBlockRows columns of a
  };
  const Arrays m = AllocateScratch<TransposedProduct>([&p](Scratch& scratch) {
    return Arrays{.panels = scratch.Allocate<float>(p.depth * p.n),
                  .blocks = scratch.Allocate<float>(p.depth * kBlockRows)};
  });
  for (size_t n = 0; n < p.n; n += width) {
    PackPanelT({p.b + n, p.b_stride, 1, p.depth, std::min(width, p.n - n)}, m.panels + n * p.depth);
  }
  for (size_t first = 0; first < p.m; first += kBlockRows) {
    const size_t rows = std::min(kBlockRows, p.m - first);
    const size_t whole = rows / kTileRows, rest = rows % kTileRows;
    PackBlocks(p.a + first, p.a_stride, p.depth, rows, m.blocks);
    for (size_t n = 0; n < p.n; n += width) {
      const size_t columns = std::min(width, p.n - n);
      const float* next = m.panels + (n + columns < p.n ? n + columns : 0) * p.depth;
      const size_t steps = std::max<size_t>(1, (rows / kTileRows + 1) * (p.depth / kStepDepth));
      TilesTask<Transposed> task{{m.blocks, kTileRows},
                                 kTileRows * p.depth,
                                 m.panels + n * p.depth,
                                 columns,
                                 p.depth,
                                 {p.sum + first * p.n + n, p.n, p.add},
                                 whole,
                                 {next, p.depth * width / steps + 1}};
      MultiplyTiles<kTileRows>(task);
      task.a.data += whole * task.a_step;
      task.c.data += whole * kTileRows * p.n;
      task.tiles = 1;
      MultiplyTilesOf<kTileRows - 1>(rest, task);
    }
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

HWY_EXPORT(PackPanelsT);
HWY_EXPORT(MultiplyPanelsT);
HWY_EXPORT(MultiplyTransposedPanelsT);

void PackPanels(const FloatFactor& b, float* panels) {
  HWY_DYNAMIC_DISPATCH(PackPanelsT)(b, panels);
}
void MultiplyPanels(const PanelProduct& product, size_t rows) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanelsT)(product, rows);
}
void MultiplyTransposedPanels(const TransposedProduct& product) {
  HWY_DYNAMIC_DISPATCH(MultiplyTransposedPanelsT)(product);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

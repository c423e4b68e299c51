#include "tensor/kernels/cpu/panel_products.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/panel_products.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/small_product-inl.h"
#include "tensor/kernels/cpu/transpose-inl.h"

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

// The depth that is summed in registers. With AVX2 a panel of it has 36 KB, most of a first-level
// cache; 192 and 256 were not faster.
inline constexpr size_t kDepthBlock = 384;

// Fetches memory little by little while a product runs: all at once, fetches would wait for each
// other and the product for them.
struct Fetch {
  const float* next;
  size_t floats;  // a step; a line may be asked for several times

  HWY_INLINE void Step() {
    hwy::Prefetch(next);
    next += floats;
  }
};

// Several tiles of C below each other, of kRows rows each, by one panel.
template <template <typename> class A>
struct TilesTask {
  A<float> a;     // of the first tile
  size_t a_step;  // floats from one tile's rows to the next one's
  const float* panel;
  size_t columns;
  size_t depth;
  Output c;
  size_t tiles;
  Fetch fetch;
};

// One function for all tiles, not one call for each: a call's arguments pass through memory, behind
// the stores of the tile before.
template <size_t kRows, size_t kVectors, template <typename> class A>
HWY_INLINE void MultiplyTilesOfWidth(const TilesTask<A>& task) {
  A<float> a = task.a;
  Output c = task.c;
  Fetch fetch = task.fetch;
  for (size_t tile = 0; tile < task.tiles; ++tile) {
    const auto columns = kVectors * hn::Lanes(FloatTag());
    for (size_t r = 0; r < kRows; ++r) {
      const float* next = c.data + (kRows + r) * c.stride;
      hwy::Prefetch(next);
      hwy::Prefetch(next + columns - 1);
    }
    ProductTile<kRows, kVectors, A, float>(task.depth, a, {task.panel, task.columns}, c, fetch);
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

// Tiles of `rows` rows, at most kRows.
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

void PackPanelT(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
                size_t columns, float* panel) {
  if (column_stride == 1) {
    for (size_t k = 0; k < depth; ++k, source += depth_stride, panel += columns) {
      for (size_t n = 0; n < columns; n += hn::Lanes(FloatTag())) {
        hn::StoreU(hn::LoadU(FloatTag(), source + n), FloatTag(), panel + n);
      }
    }
    return;
  }
  size_t k = 0;
  if (depth_stride == 1) {
    const WordRows rows{source, column_stride * sizeof(float), columns, depth};
    for (; k + kSquareSide <= depth; k += kSquareSide) {
      for (size_t n = 0; n < columns; n += kSquareSide) {
        TransposeSquare(rows, n, k, columns, reinterpret_cast<uint32_t*>(panel + k * columns + n));
      }
    }
  }
  for (; k < depth; ++k) {
    for (size_t n = 0; n < columns; ++n) {
      panel[k * columns + n] = source[n * column_stride + k * depth_stride];
    }
  }
}

void PackPanelsT(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
                 size_t columns, float* panels) {
  const size_t width = PanelColumns();
#pragma omp parallel for schedule(static)
  for (size_t n = 0; n < columns; n += width) {
    PackPanelT(source + n * column_stride, depth_stride, column_stride, depth,
               std::min(width, columns - n), panels + n * depth);
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
      TilesTask<Along> task{{p.x + first, p.x_stride},
                            kTileRows * p.x_stride,
                            panel_at(first, n),
                            columns,
                            depth,
                            {p.out + n, p.out_stride, first > 0, p.bias ? p.bias + n : nullptr},
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

// a [depth, count], rows of stride `stride`, becomes blocks of kTileRows columns: for one k after
// the other the block's columns. What a last block is short of columns is not written.
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
  constexpr size_t kBlockRows = 384;  // of the sum, whose part of `a` is packed at once
  static_assert(kBlockRows % kTileRows == 0);
  const size_t width = PanelColumns();
  const size_t panel_floats = p.depth * p.n, block_floats = p.depth * kBlockRows;
  Scratch scratch = Scratch::Reserve<TransposedProduct>(Scratch::Bytes<float>(panel_floats) +
                                                        Scratch::Bytes<float>(block_floats));
  float* panels = scratch.Take<float>(panel_floats);
  float* blocks = scratch.Take<float>(block_floats);
  for (size_t n = 0; n < p.n; n += width) {
    PackPanelT(p.b + n, p.b_stride, 1, p.depth, std::min(width, p.n - n), panels + n * p.depth);
  }
  for (size_t first = 0; first < p.m; first += kBlockRows) {
    const size_t rows = std::min(kBlockRows, p.m - first);
    const size_t whole = rows / kTileRows, rest = rows % kTileRows;
    PackBlocks(p.a + first, p.a_stride, p.depth, rows, blocks);
    for (size_t n = 0; n < p.n; n += width) {
      const size_t columns = std::min(width, p.n - n);
      const float* next = panels + (n + columns < p.n ? n + columns : 0) * p.depth;
      const size_t steps = std::max<size_t>(1, (rows / kTileRows + 1) * (p.depth / kStepDepth));
      TilesTask<Across> task{{blocks, kTileRows},
                             kTileRows * p.depth,
                             panels + n * p.depth,
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

void PackPanels(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
                size_t columns, float* panels) {
  HWY_DYNAMIC_DISPATCH(PackPanelsT)(source, depth_stride, column_stride, depth, columns, panels);
}
void MultiplyPanels(const PanelProduct& product, size_t rows) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanelsT)(product, rows);
}
void MultiplyTransposedPanels(const TransposedProduct& product) {
  HWY_DYNAMIC_DISPATCH(MultiplyTransposedPanelsT)(product);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE

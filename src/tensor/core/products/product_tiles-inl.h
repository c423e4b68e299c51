// One thread's part of a product of floats or doubles. Highway's foreach_target includes this file
// once per target, so that its include guard is not the usual one.
//
// The loops are those of Goto and van de Geijn (2008): a tile of sums stays in registers while the
// depth goes by; what it multiplies comes from panels that are packed so that both are read in the
// order in which they lie, and that stay in the caches. A panel that few tiles read is not packed
// where it can be read as it is stored.
#if defined(TANDEM_TENSOR_CORE_PRODUCT_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_CORE_PRODUCT_TILES_INL_H_
#undef TANDEM_TENSOR_CORE_PRODUCT_TILES_INL_H_
#else
#define TANDEM_TENSOR_CORE_PRODUCT_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tensor/core/products/products.h"
#include "tensor/kernels/cpu/scratch.h"

// Makes GCC unroll a loop of constant length early enough to keep arrays in registers; it does not
// under AddressSanitizer: with a check of every access, such loops take many minutes to compile.
#undef TANDEM_UNROLL_TILE
#if defined(__SANITIZE_ADDRESS__)
#define TANDEM_UNROLL_TILE
#else
#define TANDEM_UNROLL_TILE _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::internal::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using TileTag = hn::CappedTag<T, 64 / sizeof(T)>;

// A tile has so many rows and vectors of columns: as many sums as there are registers for.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int64_t kTileRows = 8, kTileVectors = 3;
#elif HWY_TARGET <= HWY_AVX2
inline constexpr int64_t kTileRows = 4, kTileVectors = 3;
#else
inline constexpr int64_t kTileRows = 4, kTileVectors = 2;
#endif

template <typename T>
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(TileTag<T>()));
template <typename T>
inline constexpr int64_t kTileColumns = kTileVectors * kLanes<T>;

// Panels are as deep as those of `right` with 72 KiB: 384 on AVX-512 in double. They come from the
// second-level cache, which is fast enough, and those of `left` from the first. Of 24, 48 and 72
// KiB this was fastest on Sapphire Rapids: sums are loaded and stored less often.
template <typename T>
inline constexpr int64_t kBlockDepth = (int64_t{72} << 10) / (kTileColumns<T> * sizeof(T));
// Panels of `right` and of `left` that are packed at a time: 1.7 MB and 192 KB.
inline constexpr int64_t kRightPanels = 24;
template <typename T>
inline constexpr int64_t kLeftPanels = (int64_t{192} << 10) /
                                       (kTileRows * kBlockDepth<T> * sizeof(T));
// A panel that fewer tiles read is not packed unless it must be.
inline constexpr int64_t kReadersToPack = 4;

// So far ahead a tile asks for the rows of `right`. Where they are not packed, each may be on a
// page of its own, which no processor sees coming: in double, gradients of adapters took up to four
// times as long without.
inline constexpr int64_t kAhead = 16;

// Rows or columns of a factor by the depth: at p they begin at data[p * step]; or, of `left`, with
// `apart`, row r is at data[r * step + p].
template <typename T>
struct Panel {
  const T* data;
  int64_t step;
  bool apart = false;
};

// What a tile's sums go to, and whether they are added to what is there.
template <typename T>
struct TileOut {
  T* data;
  int64_t stride;
  bool add;
};

template <bool kApart, typename T>
HWY_INLINE const T* LeftAt(const T* left, int64_t step, int64_t p, int64_t r) {
  return kApart ? left + r * step + p : left + p * step + r;
}

// A whole tile with kVectors vectors of columns.
template <int64_t kVectors, bool kApart, typename T>
HWY_NOINLINE void MultiplyTile(const T* left, int64_t left_step, const T* right,
                               int64_t right_step, int64_t depth, const TileOut<T> out) {
  const TileTag<T> d;
  using V = hn::Vec<TileTag<T>>;
  V sums[kTileRows][kVectors];
  TANDEM_UNROLL_TILE
  for (int64_t r = 0; r < kTileRows; ++r) {
    TANDEM_UNROLL_TILE
    for (int64_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  if (out.add) {
    TANDEM_UNROLL_TILE
    for (int64_t r = 0; r < kTileRows; ++r) {
      TANDEM_UNROLL_TILE
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::LoadU(d, out.data + r * out.stride + v * kLanes<T>);
      }
    }
  }
  for (int64_t p = 0; p < depth; ++p, right += right_step) {
    V columns[kVectors];
    TANDEM_UNROLL_TILE
    for (int64_t v = 0; v < kVectors; ++v) {
      const T* of_vector = right + v * kLanes<T>;
      __builtin_prefetch(of_vector + kAhead * right_step);
      columns[v] = hn::LoadU(d, of_vector);
    }
    TANDEM_UNROLL_TILE
    for (int64_t r = 0; r < kTileRows; ++r) {
      const V value = hn::Set(d, *LeftAt<kApart>(left, left_step, p, r));
      TANDEM_UNROLL_TILE
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(value, columns[v], sums[r][v]);
      }
    }
  }
  TANDEM_UNROLL_TILE
  for (int64_t r = 0; r < kTileRows; ++r) {
    TANDEM_UNROLL_TILE
    for (int64_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], d, out.data + r * out.stride + v * kLanes<T>);
    }
  }
}

// The same for a panel with `columns` columns, whose vectors are whole.
template <bool kApart, typename T>
HWY_INLINE void MultiplyVectors(const Panel<T>& left, const Panel<T>& right, int64_t columns,
                                int64_t depth, const TileOut<T>& out) {
  if (columns > 2 * kLanes<T> && kTileVectors > 2) {
    MultiplyTile<kTileVectors, kApart>(left.data, left.step, right.data, right.step, depth, out);
  } else if (columns > kLanes<T>) {
    MultiplyTile<2, kApart>(left.data, left.step, right.data, right.step, depth, out);
  } else {
    MultiplyTile<1, kApart>(left.data, left.step, right.data, right.step, depth, out);
  }
}

// A tile of which `rows` and `columns` are wanted. Packed panels have zeros beside these.
template <typename T>
HWY_INLINE void MultiplyPanels(const Panel<T>& left, const Panel<T>& right, int64_t rows,
                               int64_t columns, int64_t depth, const TileOut<T>& out) {
  HWY_ALIGN T whole[kTileRows * kTileColumns<T>];
  const bool is_whole = rows == kTileRows && columns % kLanes<T> == 0;
  TileOut<T> to = out;
  if (!is_whole) {
    to = {whole, kTileColumns<T>, out.add};
    std::fill_n(whole, kTileRows * kTileColumns<T>, T{0});
    for (int64_t r = 0; r < rows && out.add; ++r) {
      std::copy_n(out.data + r * out.stride, columns, whole + r * kTileColumns<T>);
    }
  }
  if (left.apart) {
    MultiplyVectors<true>(left, right, columns, depth, to);
  } else {
    MultiplyVectors<false>(left, right, columns, depth, to);
  }
  for (int64_t r = 0; r < rows && !is_whole; ++r) {
    std::copy_n(whole + r * kTileColumns<T>, columns, out.data + r * out.stride);
  }
}

// Packs `count` rows or columns, which lie `beside` apart, with `along` between neighbours along
// the depth, of which one is 1: kWidth numbers for each of `depth`, zeros after the last.
template <int64_t kWidth, typename T>
HWY_INLINE void PackPanel(const T* from, int64_t beside, int64_t along, int64_t count,
                          int64_t depth, T* HWY_RESTRICT to) {
  if (count < kWidth) std::fill_n(to, depth * kWidth, T{0});
  if (beside == 1) {
    for (int64_t p = 0; p < depth; ++p) std::copy_n(from + p * along, count, to + p * kWidth);
    return;
  }
  // `along` is 1: a cache line of each at a time, as several that are a power of two apart would
  // evict one another.
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t start = 0; start < depth; start += kLine) {
    const int64_t past = std::min(start + kLine, depth);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t p = start; p < past; ++p) to[p * kWidth + i] = from[i * beside + p];
    }
  }
}

// The columns of `right` from `column` on.
template <typename T>
HWY_INLINE Panel<T> RightPanel(const StoredMatrix<T>& right, int64_t column, int64_t columns,
                               int64_t depth, int64_t readers, T* packed) {
  const StoredMatrix<T> part = right.From(0, column);
  if (part.right == 1 && columns % kLanes<T> == 0 && readers < kReadersToPack) {
    return {part.data, part.down};
  }
  PackPanel<kTileColumns<T>>(part.data, part.right, part.down, columns, depth, packed);
  return {packed, kTileColumns<T>};
}

// The rows of `left` from `row` on.
template <typename T>
HWY_INLINE Panel<T> LeftPanel(const StoredMatrix<T>& left, int64_t row, int64_t rows, int64_t depth,
                              int64_t readers, T* packed) {
  const StoredMatrix<T> part = left.From(row, 0);
  if (rows == kTileRows && readers < kReadersToPack) {
    const bool apart = part.right == 1;
    return {part.data, apart ? part.down : part.right, apart};
  }
  PackPanel<kTileRows>(part.data, part.down, part.right, rows, depth, packed);
  return {packed, kTileRows};
}

// The tiles of all panels of a block, `rows` by `columns`.
template <typename T>
HWY_INLINE void MultiplyBlock(const Panel<T>* lefts, const Panel<T>* rights,
                              const ProductSizes& block, const TileOut<T>& out) {
  for (int64_t j = 0; j * kTileColumns<T> < block.columns; ++j) {
    const int64_t column = j * kTileColumns<T>;
    const int64_t columns = std::min(kTileColumns<T>, block.columns - column);
    for (int64_t i = 0; i * kTileRows < block.rows; ++i) {
      const int64_t row = i * kTileRows;
      MultiplyPanels(lefts[i], rights[j], std::min(kTileRows, block.rows - row), columns,
                     block.depth, {out.data + row * out.stride + column, out.stride, out.add});
    }
  }
}

constexpr int64_t PanelsOf(int64_t size, int64_t panel) { return (size + panel - 1) / panel; }

// out [rows, columns], with rows `stride` apart, = left right.
template <typename T>
void MultiplyPart(const StoredMatrix<T>& left, const StoredMatrix<T>& right,
                  const ProductSizes& sizes, T* out, int64_t stride) {
  constexpr int64_t kDepth = kBlockDepth<T>, kWidth = kTileColumns<T>;
  constexpr int64_t kRows = kLeftPanels<T> * kTileRows, kColumns = kRightPanels * kWidth;
  struct ProductScratch;
  const auto [packed_left, packed_right] =
      cpu::AllocateScratch<ProductScratch>([](cpu::Scratch& scratch) {
        return std::pair(scratch.Allocate<T>(static_cast<size_t>(kRows * kDepth)),
                         scratch.Allocate<T>(static_cast<size_t>(kColumns * kDepth)));
      });
  Panel<T> lefts[kLeftPanels<T>], rights[kRightPanels];
  for (int64_t column = 0; column < sizes.columns; column += kColumns) {
    const int64_t columns = std::min(kColumns, sizes.columns - column);
    for (int64_t p = 0; p < sizes.depth; p += kDepth) {
      const int64_t depth = std::min(kDepth, sizes.depth - p);
      for (int64_t j = 0; j * kWidth < columns; ++j) {
        rights[j] = RightPanel(right.From(p, column), j * kWidth,
                               std::min(kWidth, columns - j * kWidth), depth,
                               PanelsOf(sizes.rows, kTileRows), packed_right + j * kWidth * kDepth);
      }
      for (int64_t row = 0; row < sizes.rows; row += kRows) {
        const int64_t rows = std::min(kRows, sizes.rows - row);
        for (int64_t i = 0; i * kTileRows < rows; ++i) {
          lefts[i] = LeftPanel(left.From(row, p), i * kTileRows,
                               std::min(kTileRows, rows - i * kTileRows), depth,
                               PanelsOf(columns, kWidth), packed_left + i * kTileRows * kDepth);
        }
        MultiplyBlock<T>(lefts, rights, {rows, depth, columns},
                         {out + row * stride + column, stride, p > 0});
      }
    }
  }
}

}  // namespace tandem::tensor::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

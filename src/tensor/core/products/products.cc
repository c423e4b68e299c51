#include "tensor/core/products/products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/core/products/products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/core/products/product_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::internal::HWY_NAMESPACE {

void PartOfFloats(const StoredMatrix<float>& left, const StoredMatrix<float>& right,
                  const ProductSizes& sizes, float* out, int64_t stride) {
  MultiplyPart(left, right, sizes, out, stride);
}

void PartOfDoubles(const StoredMatrix<double>& left, const StoredMatrix<double>& right,
                   const ProductSizes& sizes, double* out, int64_t stride) {
  MultiplyPart(left, right, sizes, out, stride);
}

// The bytes of a vector.
int64_t VectorBytes() { return kLanes<float> * static_cast<int64_t>(sizeof(float)); }

}  // namespace tandem::tensor::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "tensor/core/make.h"
#include "tensor/core/parallel.h"

namespace tandem::tensor::internal {
namespace {

HWY_EXPORT(PartOfFloats);
HWY_EXPORT(PartOfDoubles);
HWY_EXPORT(VectorBytes);

void Part(const StoredMatrix<float>& left, const StoredMatrix<float>& right,
          const ProductSizes& sizes, float* out, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(PartOfFloats)(left, right, sizes, out, stride);
}
void Part(const StoredMatrix<double>& left, const StoredMatrix<double>& right,
          const ProductSizes& sizes, double* out, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(PartOfDoubles)(left, right, sizes, out, stride);
}

constexpr int64_t kFewRows = 8;  // of the highest tiles

int64_t RoundedUp(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

// The sizes of the parts of `out` that threads compute.
struct Parts {
  int64_t rows, columns;
};

// Parts for so many threads at most: those of which the largest has the fewest elements, and among
// these the one with the fewest rows and columns to pack.
Parts PartsOf(const ProductSizes& sizes, int64_t threads, int64_t row_unit, int64_t column_unit) {
  Parts best = {sizes.rows, sizes.columns};
  const auto elements = [](const Parts& parts) { return parts.rows * parts.columns; };
  for (int64_t down = 1; down <= threads; ++down) {
    const int64_t across = threads / down;
    const Parts parts = {RoundedUp((sizes.rows + down - 1) / down, row_unit),
                         RoundedUp((sizes.columns + across - 1) / across, column_unit)};
    const bool as_small = elements(parts) == elements(best);
    if (elements(parts) < elements(best) ||
        (as_small && parts.rows + parts.columns < best.rows + best.columns)) {
      best = parts;
    }
  }
  return best;
}

// Threads that a product is worth: each has this many multiplications at least.
int64_t WorthThreads(const ProductSizes& sizes) {
  constexpr int64_t kLeast = int64_t{1} << 18;
  const double all = static_cast<double>(sizes.rows) * static_cast<double>(sizes.depth) *
                     static_cast<double>(sizes.columns);
  return std::clamp<int64_t>(static_cast<int64_t>(std::min(all / kLeast, 1e6)), 1, Threads());
}

template <typename T>
void MultiplyOnThreads(const StoredMatrix<T>& left, const StoredMatrix<T>& right,
                       const ProductSizes& sizes, T* out) {
  const int64_t lanes = HWY_DYNAMIC_DISPATCH(VectorBytes)() / static_cast<int64_t>(sizeof(T));
  const Parts parts = PartsOf(sizes, WorthThreads(sizes), kFewRows, lanes);
  const int64_t down = (sizes.rows + parts.rows - 1) / parts.rows;
  const int64_t across = (sizes.columns + parts.columns - 1) / parts.columns;
  ParallelFor(0, down * across, 1, [&](int64_t first, int64_t past) {
    for (int64_t i = first; i < past; ++i) {
      const int64_t row = i / across * parts.rows, column = i % across * parts.columns;
      Part(left.From(row, 0), right.From(0, column),
           {std::min(parts.rows, sizes.rows - row), sizes.depth,
            std::min(parts.columns, sizes.columns - column)},
           out + row * sizes.columns + column, sizes.columns);
    }
  });
}

// out [columns, rows] = the transpose of x [rows, columns].
template <typename T>
void Transpose(const T* x, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t kSide = 16;  // of blocks, whose lines stay in the cache
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, rows));
  ParallelFor(0, columns, RoundedUp(grain, kSide), [=](int64_t first, int64_t past) {
    for (int64_t c = first; c < past; c += kSide) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = c; i < std::min(c + kSide, past); ++i)
          out[i * rows + r] = x[r * columns + i];
      }
    }
  });
}

// The tiles read `right` a row at a time. Where it is stored by columns it is packed across, which
// takes as long as some rows of the product. Of two such factors it is the smaller one, and of two
// that are both stored well the one with few rows or columns is not `right`: vectors would be
// partly empty.
template <typename T>
bool BetterTransposed(const StoredMatrix<T>& left, const StoredMatrix<T>& right,
                      const ProductSizes& sizes) {
  if (right.right != 1) return sizes.rows < sizes.columns;
  return left.down == 1 && sizes.columns <= kFewRows && sizes.columns < sizes.rows;
}

template <typename T>
void MultiplyAny(const StoredMatrix<T>& left, const StoredMatrix<T>& right,
                 const ProductSizes& sizes, T* out) {
  if (sizes.rows == 0 || sizes.columns == 0) return;
  if (sizes.depth == 0) {
    std::fill_n(out, sizes.rows * sizes.columns, T{0});
    return;
  }
  if (!BetterTransposed(left, right, sizes)) {
    MultiplyOnThreads(left, right, sizes, out);
    return;
  }
  const Tensor transposed = Empty({sizes.columns, sizes.rows}, kTypeOf<T>);
  MultiplyOnThreads(right.Transposed(), left.Transposed(), {sizes.columns, sizes.depth, sizes.rows},
                    transposed.data_ptr<T>());
  Transpose(transposed.data_ptr<T>(), sizes.columns, sizes.rows, out);
}

}  // namespace

void Multiply(StoredMatrix<float> left, StoredMatrix<float> right, const ProductSizes& sizes,
              float* out) {
  MultiplyAny(left, right, sizes, out);
}

void Multiply(StoredMatrix<double> left, StoredMatrix<double> right, const ProductSizes& sizes,
              double* out) {
  MultiplyAny(left, right, sizes, out);
}

}  // namespace tandem::tensor::internal
#endif  // HWY_ONCE

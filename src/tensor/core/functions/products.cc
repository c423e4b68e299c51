#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tape.h"

namespace tandem::tensor {
namespace {

// A matrix or its transpose: how far apart neighbours in a column and in a row are.
template <typename T>
struct Matrix {
  const T* data;
  int64_t down;
  int64_t right;

  T At(int64_t row, int64_t column) const { return data[row * down + column * right]; }
};

template <typename T>
Matrix<T> Plain(const Tensor& x) {
  return {x.data_ptr<T>(), x.size(1), 1};
}

template <typename T>
Matrix<T> Transposed(const Tensor& x) {
  return {x.data_ptr<T>(), 1, x.size(1)};
}

// The sums of so many rows and columns stay in the registers that every x86-64 has: 4 x 4 was
// fastest of 2 x 4 to 4 x 8, at 4 to 6.5 GFLOP/s in double.
constexpr int64_t kTileRows = 4, kTileColumns = 4;

// Columns [start, start + kTileColumns) of a matrix with `depth` rows, row by row, zeros after the
// last column.
template <typename T>
void Pack(Matrix<T> from, int64_t depth, int64_t start, int64_t columns, T* panel) {
  for (int64_t p = 0; p < depth; ++p) {
    for (int64_t c = 0; c < kTileColumns; ++c) {
      *panel++ = start + c < columns ? from.At(p, start + c) : T{0};
    }
  }
}

template <typename T>
void AddTile(Matrix<T> left, int64_t depth, const int64_t (&rows)[kTileRows], const T* panel,
             T (&sums)[kTileRows][kTileColumns]) {
  for (int64_t p = 0; p < depth; ++p, panel += kTileColumns) {
    for (int64_t r = 0; r < kTileRows; ++r) {
      const T value = left.At(rows[r], p);
      for (int64_t c = 0; c < kTileColumns; ++c) sums[r][c] += value * panel[c];
    }
  }
}

// left [n, depth] times right [depth, k], to `out` [n, k]. Each sum is in the order of the depth.
template <typename T>
void Multiply(Matrix<T> left, Matrix<T> right, int64_t depth, const Tensor& out) {
  const int64_t n = out.size(0), k = out.size(1);
  T* to = out.data_ptr<T>();
  std::vector<T> panel(static_cast<size_t>(depth * kTileColumns));
  for (int64_t column = 0; column < k; column += kTileColumns) {
    Pack(right, depth, column, k, panel.data());
    const int64_t columns = std::min(kTileColumns, k - column);
    for (int64_t row = 0; row < n; row += kTileRows) {
      int64_t rows[kTileRows];
      for (int64_t r = 0; r < kTileRows; ++r) rows[r] = std::min(row + r, n - 1);
      T sums[kTileRows][kTileColumns] = {};
      AddTile(left, depth, rows, panel.data(), sums);
      for (int64_t r = 0; r < std::min(kTileRows, n - row); ++r) {
        std::copy_n(sums[r], columns, to + (row + r) * k + column);
      }
    }
  }
}

// Calls body with a zero of the elements' type, float or double.
template <typename Body>
void ForReal(const Tensor& x, const Body& body) {
  if (x.dtype() == kDouble) {
    body(double{});
  } else {
    body(float{});
  }
}

void Check(const Tensor& a, const Tensor& b) {
  const bool real = a.dtype() == kFloat || a.dtype() == kDouble;
  if (real && a.dtype() == b.dtype() && a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(1)) {
    return;
  }
  throw std::logic_error(fmt::format(
      "ProductTransposed: expected float32 or float64 [n, m] and [k, m], found {} and {}", a.Text(),
      b.Text()));
}

}  // namespace

Tensor ProductTransposed(const Tensor& a, const Tensor& b) {
  Check(a, b);
  const Tensor out = Empty({a.size(0), b.size(0)}, a.dtype());
  ForReal(a, [&](auto zero) {
    using T = decltype(zero);
    Multiply(Plain<T>(a), Transposed<T>(b), a.size(1), out);
  });
  if (!NeedsGradient({a, b})) return out;
  const bool a_wanted = NeedsGradient({a}), b_wanted = NeedsGradient({b});
  return WithBackward("ProductTransposed", out, {a, b},
                      [a = a.detach(), b = b.detach(), a_wanted, b_wanted](const Tensor& grad) {
                        const Tensor grad_a = a_wanted ? EmptyLike(a) : Tensor();
                        const Tensor grad_b = b_wanted ? EmptyLike(b) : Tensor();
                        ForReal(a, [&](auto zero) {
                          using T = decltype(zero);
                          if (a_wanted) Multiply(Plain<T>(grad), Plain<T>(b), b.size(0), grad_a);
                          if (b_wanted)
                            Multiply(Transposed<T>(grad), Plain<T>(a), a.size(0), grad_b);
                        });
                        return std::vector{grad_a, grad_b};
                      });
}

}  // namespace tandem::tensor

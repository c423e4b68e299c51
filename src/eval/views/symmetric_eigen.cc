#include "eval/views/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tandem::eval {
namespace {

// Rotates lines a and b of `values`, whose elements are `stride` apart, by cosine c and sine s.
void Rotate(double* a, double* b, size_t n, size_t stride, double c, double s) {
  for (size_t k = 0; k < n * stride; k += stride) {
    const double x = a[k], y = b[k];
    a[k] = c * x - s * y;
    b[k] = s * x + c * y;
  }
}

// Makes matrix[p, q] zero (Golub & Van Loan, "Matrix computations", algorithm 8.5.1).
void RotateAway(std::vector<double>& matrix, std::vector<double>& vectors, size_t n, size_t p,
                size_t q) {
  const double off = matrix[p * n + q];
  if (off == 0) return;
  const double ratio = (matrix[q * n + q] - matrix[p * n + p]) / (2 * off);
  const double t = (ratio >= 0 ? 1 : -1) / (std::abs(ratio) + std::hypot(1, ratio));
  const double c = 1 / std::hypot(1, t);
  const double s = t * c;
  Rotate(&matrix[p], &matrix[q], n, n, c, s);
  Rotate(&matrix[p * n], &matrix[q * n], n, 1, c, s);
  Rotate(&vectors[p * n], &vectors[q * n], n, 1, c, s);
  matrix[p * n + q] = matrix[q * n + p] = 0;
}

double OffDiagonal(const std::vector<double>& matrix, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) sum += matrix[i * n + j] * matrix[i * n + j];
  }
  return sum;
}

}  // namespace

SymmetricEigen EigenOfSymmetric(std::vector<double> matrix, size_t n) {
  constexpr int kMostSweeps = 60;  // it converges quadratically; a handful is usual
  std::vector<double> vectors(n * n);
  for (size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  const double whole = std::inner_product(matrix.begin(), matrix.end(), matrix.begin(), 0.0);
  for (int sweep = 0; sweep < kMostSweeps && OffDiagonal(matrix, n) > 1e-32 * whole; ++sweep) {
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) RotateAway(matrix, vectors, n, p, q);
    }
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return matrix[a * n + a] > matrix[b * n + b]; });
  SymmetricEigen eigen;
  for (const size_t i : order) {
    eigen.values.push_back(matrix[i * n + i]);
    eigen.vectors.insert(eigen.vectors.end(), &vectors[i * n], &vectors[i * n] + n);
  }
  return eigen;
}

}  // namespace tandem::eval

// Chebyshev expansions of softplus and its slope between two cells of the score line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::objective {

// Terms of an expansion. Both functions are analytic where |Im x| < pi, and a cell reaches 1
// temperature to either side, so that each further term is smaller by a factor of
// pi + sqrt(pi^2 + 1) = 6.44: 16 of them leave 1e-13.
inline constexpr size_t kTerms = 16;
using Series = std::array<double, kTerms>;

// Adds weight times T_0(x) ... T_15(x).
inline void AddMoments(double x, double weight, Series& moments) {
  double before = weight;
  double now = weight * x;
  for (size_t k = 0; k < kTerms; ++k) {
    moments[k] += before;
    const double next = 2 * x * now - before;
    before = now;
    now = next;
  }
}

// sum_k series[k] T_k(x).
inline double ValueOf(const Series& series, double x) {
  double first = 0;
  double second = 0;
  for (size_t k = kTerms - 1; k > 0; --k) {
    const double next = series[k] + 2 * x * first - second;
    second = first;
    first = next;
  }
  return series[0] + x * first - second;
}

// Expansions are used for cells that are at most this many cells apart. Beyond, scores differ by
// more than 40 temperatures, where softplus is the difference itself or 0, up to e^-40.
inline constexpr int64_t kReach = 20;

// f(2 d + v + w) = sum_kl matrix[k][l] T_k(v) T_l(w) for positions v of a negative and -w of a
// positive whose cells are d apart. With the sign of w turned the matrices are symmetric.
using PairMatrix = std::array<Series, kTerms>;

struct PairExpansions {
  std::array<PairMatrix, 2 * kReach + 1> softplus;  // of d = -kReach ... kReach
  std::array<PairMatrix, 2 * kReach + 1> slope;
};

// Computed at the first call. The same matrices serve every temperature.
const PairExpansions& GetPairExpansions();

// result += matrix * series.
inline void AddProduct(const PairMatrix& matrix, const Series& series, Series& result) {
  for (size_t l = 0; l < kTerms; ++l) {
    for (size_t k = 0; k < kTerms; ++k) result[k] += matrix[l][k] * series[l];
  }
}

}  // namespace tandem::objective

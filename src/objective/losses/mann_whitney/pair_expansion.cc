#include "objective/losses/mann_whitney/pair_expansion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::objective {
namespace {

// Row p holds T_k at node p for every k, scaled so that a product with the values of a function at
// the nodes gives the coefficients of its expansion.
PairMatrix Transform(Series& nodes) {
  PairMatrix transform{};
  for (size_t p = 0; p < kTerms; ++p) {
    nodes[p] = std::cos(std::numbers::pi * (static_cast<double>(p) + 0.5) / kTerms);
    AddMoments(nodes[p], 1, transform[p]);
    for (size_t k = 0; k < kTerms; ++k) transform[p][k] *= (k == 0 ? 1.0 : 2.0) / kTerms;
  }
  return transform;
}

template <typename Function>
PairMatrix Expand(int64_t distance, const Function& function) {
  Series nodes{};
  const PairMatrix transform = Transform(nodes);
  PairMatrix half{};  // coefficients in the first position, values in the second
  for (size_t q = 0; q < kTerms; ++q) {
    for (size_t p = 0; p < kTerms; ++p) {
      const double value = function(2 * static_cast<double>(distance) + nodes[p] + nodes[q]);
      for (size_t k = 0; k < kTerms; ++k) half[q][k] += transform[p][k] * value;
    }
  }
  PairMatrix matrix{};
  for (size_t q = 0; q < kTerms; ++q) {
    for (size_t l = 0; l < kTerms; ++l) {
      for (size_t k = 0; k < kTerms; ++k) matrix[l][k] += transform[q][l] * half[q][k];
    }
  }
  return matrix;
}

PairExpansions Make() {
  PairExpansions made{};
  for (int64_t d = -kReach; d <= kReach; ++d) {
    const auto index = static_cast<size_t>(d + kReach);
    made.softplus[index] =
        Expand(d, [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); });
    made.slope[index] = Expand(d, [](double x) { return 1 / (1 + std::exp(-x)); });
  }
  return made;
}

}  // namespace

const PairExpansions& GetPairExpansions() {
  static const PairExpansions expansions = Make();
  return expansions;
}

}  // namespace tandem::objective

// Rows that the tests of embedding views share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "eval/views/unit_rows.h"

namespace tandem::eval {

// Rows of numbers that are uniform in (-1, 1), each times `spread` and moved by `offset` [E].
inline std::vector<float> RandomRows(size_t count, size_t width, uint64_t seed, double spread = 1,
                                     const std::vector<double>& offset = {}) {
  RandomStream random({.seed = seed, .purpose = "rows of a test"});
  std::vector<float> rows;
  for (size_t i = 0; i < count; ++i) {
    for (size_t e = 0; e < width; ++e) {
      const double middle = offset.empty() ? 0 : offset[e];
      rows.push_back(static_cast<float>(middle + spread * (2 * random.Uniform() - 1)));
    }
  }
  return rows;
}

inline UnitRows Unit(const std::vector<float>& rows, size_t width) {
  return {EmbeddingRows{rows, width}, "rows"};
}

// Each row turned by the same rotations of neighbouring coordinates.
inline std::vector<float> Rotated(std::vector<float> rows, size_t width) {
  for (size_t first = 0; first < rows.size(); first += width) {
    for (size_t e = 0; e + 1 < width; ++e) {
      const double angle = 0.7 + static_cast<double>(e);
      const double a = rows[first + e], b = rows[first + e + 1];
      rows[first + e] = static_cast<float>(std::cos(angle) * a - std::sin(angle) * b);
      rows[first + e + 1] = static_cast<float>(std::sin(angle) * a + std::cos(angle) * b);
    }
  }
  return rows;
}

}  // namespace tandem::eval

// Matrices with guarded gaps, and what their products must be.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tandem::tensor::cpu {

constexpr float kUntouched = 12345;

struct Shape {
  int64_t rows;
  int64_t depth;
  int64_t columns;
};

// Rows of `width` random floats, and after each one `gap` that nobody may touch.
struct Padded {
  int64_t rows;
  int64_t width;
  int64_t stride;
  std::vector<float> values;

  Padded(int64_t row_count, int64_t row_width, int64_t gap, unsigned seed)
      : rows(row_count),
        width(row_width),
        stride(width + gap),
        values(static_cast<size_t>(rows * stride), kUntouched) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < width; ++c) At(r, c) = normal(generator);
    }
  }
  float& At(int64_t row, int64_t column) {
    return values[static_cast<size_t>(row * stride + column)];
  }
  float At(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * stride + column)];
  }
};

// A sum of `terms` products in any order is off by at most terms * u * (sum of magnitudes), to
// first order, u = 2^-24; one term more for what is added at the start.
struct Sum {
  double value = 0;
  double magnitude = 0;
  int64_t terms = 1;

  void Add(double term) {
    value += term;
    magnitude += std::abs(term);
    ++terms;
  }
  double bound() const { return 1.01 * static_cast<double>(terms) * 0x1p-24 * magnitude; }
};

// `found` is x B + bias (null: none), and the gaps of its rows are as they were.
inline void ExpectProduct(const Padded& x, const Padded& b, const float* bias,
                          const Padded& found) {
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t c = 0; c < b.width; ++c) {
      Sum sum;
      if (bias) sum.Add(bias[c]);
      for (int64_t k = 0; k < x.width; ++k) sum.Add(double{x.At(r, k)} * double{b.At(k, c)});
      ASSERT_NEAR(found.At(r, c), sum.value, sum.bound()) << "row " << r << ", column " << c;
    }
    for (int64_t c = b.width; c < found.stride; ++c) {
      ASSERT_EQ(found.At(r, c), kUntouched) << "row " << r << ", beyond the last column";
    }
  }
}

// Sums, which start as `start`, between memory that nobody may touch.
class GuardedSums {
 public:
  explicit GuardedSums(const Padded& start)
      : width_(start.width), values_(start.values.size() + 2 * kGuard, kUntouched) {
    std::ranges::copy(start.values, data());
  }
  float* data() { return values_.data() + kGuard; }
  float At(int64_t row, int64_t column) const {
    return values_[kGuard + static_cast<size_t>(row * width_ + column)];
  }
  bool GuardsAreUntouched() const {
    const auto untouched = [](float value) { return value == kUntouched; };
    return std::all_of(values_.begin(), values_.begin() + kGuard, untouched) &&
           std::all_of(values_.end() - kGuard, values_.end(), untouched);
  }

 private:
  static constexpr int64_t kGuard = 1024;
  int64_t width_;
  std::vector<float> values_;
};

// `found` is start (null: 0) + a^T b.
inline void ExpectSums(const Padded& a, const Padded& b, const Padded* start,
                       const GuardedSums& found) {
  EXPECT_TRUE(found.GuardsAreUntouched());
  for (int64_t i = 0; i < a.width; ++i) {
    for (int64_t j = 0; j < b.width; ++j) {
      Sum sum;
      if (start) sum.Add(start->At(i, j));
      for (int64_t k = 0; k < a.rows; ++k) sum.Add(double{a.At(k, i)} * double{b.At(k, j)});
      ASSERT_NEAR(found.At(i, j), sum.value, sum.bound()) << "row " << i << ", column " << j;
    }
  }
}

inline std::string ShapeName(const testing::TestParamInfo<Shape>& shape) {
  return fmt::format("{}x{}x{}", shape.param.rows, shape.param.depth, shape.param.columns);
}

}  // namespace tandem::tensor::cpu

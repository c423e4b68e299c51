// Products of bf16 matrices in tiles of AMX against float64.
#include "tensor/kernels/cpu/products/tiled_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/padded_products.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {
namespace {

// Random values that bf16 holds, as floats and as such.
struct PaddedBf16 {
  Padded floats;
  std::vector<Bf16> values;

  PaddedBf16(int64_t rows, int64_t width, int64_t gap, unsigned seed)
      : floats(rows, width, gap, seed), values(RoundUpTo16(floats.values.size())) {
    floats.values.resize(values.size());
    ToBf16(floats.values.data(), values.data(), values.size());
    ToFloat(values.data(), floats.values.data(), values.size());
  }
  static size_t RoundUpTo16(size_t n) { return (n + 15) / 16 * 16; }
};

std::vector<uint16_t> BitsOf(std::span<const Bf16> values) {
  std::vector<uint16_t> bits;
  for (const Bf16 value : values) bits.push_back(value.bits);
  return bits;
}

// The shapes that AMX takes: rows, depth and columns.
class TilesOfShape : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    if (CurrentIsa() < Isa::kAmx) GTEST_SKIP() << "needs AMX";
  }

  // B packed, and what has it as its factor.
  struct Case {
    PaddedBf16 x;
    Padded b;
    Padded bias;
    std::vector<Bf16> tiles;

    TiledProduct Product(int64_t first_row = 0) const {
      return {x.values.data() + first_row * x.floats.stride,
              static_cast<size_t>(x.floats.stride),
              static_cast<size_t>(b.rows),
              tiles.data(),
              bias.values.data(),
              static_cast<size_t>(b.width)};
    }
  };
  static Case MakeCase() {
    const auto [rows, depth, columns] = GetParam();
    Case made{PaddedBf16(rows, depth, 6, 1), PaddedBf16(depth, columns, 0, 2).floats,
              Padded(1, columns, 0, 3), std::vector<Bf16>(static_cast<size_t>(depth * columns))};
    const auto d = static_cast<size_t>(depth), n = static_cast<size_t>(columns);
    PackTiles({made.b.values.data(), n, 1, d, n}, made.tiles.data());
    return made;
  }
};

TEST_P(TilesOfShape, ArePackedFromEitherOrder) {
  const Case c = MakeCase();
  Padded transposed(c.b.width, c.b.rows, 0, 0);
  for (int64_t k = 0; k < c.b.rows; ++k) {
    for (int64_t n = 0; n < c.b.width; ++n) transposed.At(n, k) = c.b.At(k, n);
  }
  std::vector<Bf16> same(c.tiles.size());
  const auto d = static_cast<size_t>(c.b.rows), n = static_cast<size_t>(c.b.width);
  PackTiles({transposed.values.data(), 1, d, d, n}, same.data());
  EXPECT_EQ(BitsOf(same), BitsOf(c.tiles));
}

TEST_P(TilesOfShape, MultiplyRight) {
  const auto [rows, depth, columns] = GetParam();
  const Case c = MakeCase();
  Padded out(rows, columns, 5, 4), alone(1, columns, 5, 6);
  const auto stride = static_cast<size_t>(out.stride);
  MultiplyTiled(c.Product(), static_cast<size_t>(rows), {out.values.data(), stride});
  ExpectProduct(c.x.floats, c.b, c.bias.values.data(), out);
  for (const int64_t row : {int64_t{0}, rows / 2, rows - 1}) {
    MultiplyTiled(c.Product(row), 1, {alone.values.data(), stride});
    for (int64_t n = 0; n < columns; ++n) ASSERT_EQ(alone.At(0, n), out.At(row, n)) << row;
  }
  // The wanted values are rounded.
  std::vector<float> wanted(PaddedBf16::RoundUpTo16(out.values.size()), kUntouched);
  std::ranges::copy(out.values, wanted.begin());
  std::vector<Bf16> rounded(wanted.size()), found(wanted.size());
  ToBf16(wanted.data(), rounded.data(), wanted.size());
  std::vector<float> untouched(wanted.size(), kUntouched);
  ToBf16(untouched.data(), found.data(), found.size());
  MultiplyTiled(c.Product(), static_cast<size_t>(rows), Bf16Result{found.data(), stride});
  EXPECT_EQ(BitsOf(found), BitsOf(rounded));
}

TEST_P(TilesOfShape, AreFollowedByGelu) {
  const auto [rows, depth, columns] = GetParam();
  const Case c = MakeCase();
  const auto count = static_cast<size_t>(rows * columns);
  std::vector<Bf16> product(count), before(count), activated(count), wanted(count);
  MultiplyTiled(c.Product(), static_cast<size_t>(rows),
                Bf16Result{product.data(), static_cast<size_t>(columns)});
  MultiplyTiled(c.Product(), static_cast<size_t>(rows),
                GeluResult{before.data(), activated.data()});
  EXPECT_EQ(BitsOf(before), BitsOf(product));
  RunGeluForward(product.data(), wanted.data(), count);
  EXPECT_EQ(BitsOf(activated), BitsOf(wanted));
  std::vector<Bf16> not_kept(count);
  MultiplyTiled(c.Product(), static_cast<size_t>(rows), GeluResult{nullptr, not_kept.data()});
  EXPECT_EQ(BitsOf(not_kept), BitsOf(activated));
}

TEST_P(TilesOfShape, AreFollowedByGelusGradient) {
  const auto [rows, depth, columns] = GetParam();
  const Case c = MakeCase();
  const PaddedBf16 before(rows, columns, 0, 7);
  const size_t count = static_cast<size_t>(rows * columns);
  Padded product(rows, columns, 0, 8);
  MultiplyTiled(c.Product(), static_cast<size_t>(rows),
                {product.values.data(), static_cast<size_t>(columns)});
  std::vector<Bf16> grad(count), activated(count), wanted(count);
  std::vector<float> sums(static_cast<size_t>(columns), 1.0F);
  MultiplyTiled(
      c.Product(), static_cast<size_t>(rows),
      GeluGradientResult{before.values.data(), grad.data(), activated.data(), sums.data()});
  RunGeluForward(before.values.data(), wanted.data(), count);
  EXPECT_EQ(BitsOf(activated), BitsOf(wanted));
  std::vector<float> found(count);
  ToFloat(grad.data(), found.data(), count);
  for (int64_t n = 0; n < columns; ++n) {
    double sum = 1, bound = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const double x = before.floats.At(r, n), y = product.At(r, n);
      const double phi = std::erfc(-x / std::sqrt(2.0)) / 2;
      const double slope = phi + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
      const double of_slope = 1e-5 * std::abs(y);  // what rows.h says of Phi, twice
      ASSERT_NEAR(found[static_cast<size_t>(r * columns + n)], y * slope,
                  of_slope + 0x1p-8 * std::abs(y * slope))
          << "row " << r << ", column " << n;
      sum += y * slope;
      bound += of_slope + 0x1p-22 * static_cast<double>(rows) * std::abs(y * slope);
    }
    ASSERT_NEAR(sums[static_cast<size_t>(n)], sum, bound + 1e-6) << "column " << n;
  }
}

TEST_P(TilesOfShape, AddTransposes) {
  // Every depth will do here, and the others are multiples of 32.
  const auto [depth, m, n] = GetParam();
  const PaddedBf16 a(depth, m, 6, 1), b(depth, n, 10, 2);
  const Padded start(m, n, 0, 3);
  for (const bool add : {true, false}) {
    GuardedSums sum(start);
    MultiplyTransposedTiled({a.values.data(), static_cast<size_t>(a.floats.stride), b.values.data(),
                             static_cast<size_t>(b.floats.stride), static_cast<size_t>(depth),
                             sum.data(), static_cast<size_t>(m), static_cast<size_t>(n), add});
    ExpectSums(a.floats, b.floats, add ? &start : nullptr, sum);
  }
}

// Rows around those of one and two tiles; depths in one part and in several, with a short last one;
// matrices whose panels and whose rows are walked over in the outer loop, which is so from 1.25 MB
// on.
constexpr Shape kTiledShapes[] = {{1, 32, 32},   {2, 64, 96},      {15, 384, 64},   {16, 416, 32},
                                  {17, 96, 160}, {31, 768, 64},    {32, 800, 96},   {33, 64, 384},
                                  {66, 384, 96}, {100, 1536, 448}, {49, 1984, 352}, {600, 32, 64}};
INSTANTIATE_TEST_SUITE_P(Shapes, TilesOfShape, testing::ValuesIn(kTiledShapes), ShapeName);

}  // namespace
}  // namespace tandem::tensor::cpu

// Matrix products against float64, at the shapes where tiles, panels and blocks of the depth end.
#include "tensor/kernels/cpu/products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tensor/isa.h"
#include "tensor/kernels/cpu/arithmetic.h"
#include "tensor/kernels/cpu/panel_products.h"
#include "tensor/kernels/cpu/rows.h"
#include "tensor/kernels/cpu/tiled_products.h"

namespace tandem::tensor::cpu {
namespace {

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
void ExpectProduct(const Padded& x, const Padded& b, const float* bias, const Padded& found) {
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
void ExpectSums(const Padded& a, const Padded& b, const Padded* start, const GuardedSums& found) {
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

class ProductsOfShape : public testing::TestWithParam<Shape> {};

TEST_P(ProductsOfShape, OfPackedMatricesAreRight) {
  const auto [rows, depth, columns] = GetParam();
  const Padded x(rows, depth, 3, 1), b(depth, columns, 0, 2), bias(1, columns, 0, 3);
  Padded transposed(columns, depth, 0, 0);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t c = 0; c < columns; ++c) transposed.At(c, k) = b.At(k, c);
  }
  for (const Multiplier multiplier : {Multiplier::kFastest, Multiplier::kOneDnn}) {
    for (const bool from_transpose : {false, true}) {
      PackedMatrix packed(depth, columns, Type::kFloat, multiplier);
      if (from_transpose) {
        packed.Pack(transposed.values.data(), 1, depth);
      } else {
        packed.Pack(b.values.data(), columns, 1);
      }
      for (const float* with : {static_cast<const float*>(nullptr), bias.values.data()}) {
        SCOPED_TRACE(fmt::format("multiplier {}{}{}", static_cast<int>(multiplier),
                                 from_transpose ? ", from the transpose" : "",
                                 with ? ", with bias" : ""));
        Padded out(rows, columns, 5, 4);
        MultiplyPacked({{x.values.data(), x.stride},
                        rows,
                        packed,
                        with,
                        {out.values.data(), out.stride},
                        Type::kFloat});
        ExpectProduct(x, b, with, out);
      }
    }
  }
}

TEST_P(ProductsOfShape, OfTransposesAreAdded) {
  const auto [m, depth, n] = GetParam();
  const Padded a(depth, m, 3, 1), b(depth, n, 7, 2), start(m, n, 0, 3);
  for (const bool add : {true, false}) {
    GuardedSums sum(start);
    MultiplyTransposed({{a.values.data(), a.stride},
                        {b.values.data(), b.stride},
                        depth,
                        m,
                        n,
                        Type::kFloat,
                        sum.data(),
                        add});
    ExpectSums(a, b, add ? &start : nullptr, sum);
  }
}

TEST(Products, OfNoRowsAreZero) {
  const Padded nothing(0, 32, 0, 1), start(32, 32, 0, 3);
  for (const Type type : {Type::kFloat, Type::kBf16}) {
    for (const bool add : {true, false}) {
      GuardedSums sum(start);
      MultiplyTransposed({{nullptr, 32}, {nullptr, 32}, 0, 32, 32, type, sum.data(), add});
      ExpectSums(nothing, nothing, add ? &start : nullptr, sum);
    }
  }
}

// Those that our own kernels take, whether or not products.cc chooses them on this machine.
class PanelsOfShape : public testing::TestWithParam<Shape> {};

TEST_P(PanelsOfShape, MultiplyRight) {
  const auto [rows, depth, columns] = GetParam();
  const Padded x(rows, depth, 3, 1), b(depth, columns, 0, 2), bias(1, columns, 0, 3);
  Padded transposed(columns, depth, 0, 0);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t c = 0; c < columns; ++c) transposed.At(c, k) = b.At(k, c);
  }
  std::vector<float> panels(static_cast<size_t>(depth * columns)), same(panels.size());
  const auto d = static_cast<size_t>(depth), n = static_cast<size_t>(columns);
  PackPanels({b.values.data(), n, 1, d, n}, panels.data());
  PackPanels({transposed.values.data(), 1, d, d, n}, same.data());
  ASSERT_EQ(panels, same);
  Padded out(rows, columns, 5, 4), alone(rows, columns, 5, 6);
  const auto multiply = [&, depth = depth, columns = columns](int64_t first, int64_t count,
                                                              Padded* to) {
    MultiplyPanels(
        {&x.values[static_cast<size_t>(first * x.stride)], static_cast<size_t>(x.stride),
         static_cast<size_t>(depth), panels.data(), bias.values.data(), &to->At(first, 0),
         static_cast<size_t>(to->stride), static_cast<size_t>(columns)},
        static_cast<size_t>(count));
  };
  multiply(0, rows, &out);
  ExpectProduct(x, b, bias.values.data(), out);
  // A row does not depend on how many are multiplied together: what an encoder says of a text does
  // not depend on its neighbours.
  for (int64_t r = 0; r < rows; ++r) {
    multiply(r, 1, &alone);
    for (int64_t c = 0; c < columns; ++c) ASSERT_EQ(alone.At(r, c), out.At(r, c)) << "row " << r;
  }
}

TEST_P(PanelsOfShape, AddTransposes) {
  const auto [m, depth, n] = GetParam();
  const Padded a(depth, m, 3, 1), b(depth, n, 7, 2), start(m, n, 0, 3);
  for (const bool add : {true, false}) {
    GuardedSums sum(start);
    MultiplyTransposedPanels({a.values.data(), static_cast<size_t>(a.stride), b.values.data(),
                              static_cast<size_t>(b.stride), static_cast<size_t>(depth), sum.data(),
                              static_cast<size_t>(m), static_cast<size_t>(n), add});
    ExpectSums(a, b, add ? &start : nullptr, sum);
  }
}

// Rows around the heights of tiles (4, 8), columns around the widths of panels (12, 24 and 48
// floats) and beside them, depths around steps of 4 and blocks of 384.
constexpr Shape kPanelShapes[] = {
    {1, 1, 16},     {2, 3, 32},     {3, 4, 48},     {4, 5, 64},    {5, 7, 80},     {7, 8, 96},
    {8, 16, 112},   {9, 384, 16},   {6, 385, 48},   {13, 768, 32}, {16, 769, 144}, {17, 1153, 80},
    {64, 384, 384}, {66, 100, 160}, {127, 48, 176}, {385, 33, 48}, {400, 128, 64}};
constexpr Shape kOtherShapes[] = {{3, 20, 17}, {20, 9, 5}, {1, 1, 1}};

std::string ShapeName(const testing::TestParamInfo<Shape>& shape) {
  return fmt::format("{}x{}x{}", shape.param.rows, shape.param.depth, shape.param.columns);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PanelsOfShape, testing::ValuesIn(kPanelShapes), ShapeName);
INSTANTIATE_TEST_SUITE_P(Shapes, ProductsOfShape, testing::ValuesIn(kPanelShapes), ShapeName);
INSTANTIATE_TEST_SUITE_P(OtherShapes, ProductsOfShape, testing::ValuesIn(kOtherShapes), ShapeName);

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

// Those that AMX takes: rows, depth and columns.
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
  // The same, rounded.
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

TEST(Arithmetic, CountsWhatItMultiplied) {
  const Isa isa = CurrentIsa();
  const double lanes = isa >= Isa::kAvx512 ? 16 : isa == Isa::kAvx2 ? 8 : 4;
  const double flops_of_step = 2 * 12 * lanes;
  EXPECT_EQ(MultiplyRegisters(Type::kFloat, 1000), 1000 * flops_of_step);
  // On AMX four products of tiles a step, 16 x 32 x 16 each.
  const double flops_of_bf16_step = isa >= Isa::kAmx          ? 2 * 4 * 16 * 32 * 16
                                    : isa == Isa::kAvx512Bf16 ? 2 * flops_of_step
                                                              : 0;
  EXPECT_EQ(MultiplyRegisters(Type::kBf16, 10), 10 * flops_of_bf16_step);
}

}  // namespace
}  // namespace tandem::tensor::cpu

// Matrix products against float64, at the shapes where tiles, panels and blocks of the depth end.
#include "tensor/kernels/cpu/products/products.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/arithmetic.h"
#include "tensor/kernels/cpu/padded_products.h"
#include "tensor/kernels/cpu/products/panel_products.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {
namespace {

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

TEST_P(ProductsOfShape, OfRowsByRowsAreRight) {
  const auto [m, depth, n] = GetParam();
  const Padded a(m, depth, 0, 1), rows(n, depth, 0, 2);
  Padded b(depth, n, 0, 0), out(m, n, 0, 4);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t c = 0; c < n; ++c) b.At(k, c) = rows.At(c, k);
  }
  MultiplyRowsByRows({a.values.data(), m, rows.values.data(), n, depth, out.values.data()});
  ExpectProduct(a, b, nullptr, out);
}

// Scores of copies are equal, so that their ids decide which is the first.
TEST(Products, OfEqualRowsAreEqualWhereverTheyStand) {
  for (const int64_t m : {1, 3, 7, 64}) {
    for (const int64_t n : {2, 17, 64, 66, 100, 137, 200}) {
      SCOPED_TRACE(fmt::format("{} rows by {}", m, n));
      const Padded a(m, 40, 0, 1);
      Padded rows(n, 40, 0, 2), out(m, n, 0, 4);
      for (int64_t r = 1; r < n; ++r) {
        for (int64_t k = 0; k < 40; ++k) rows.At(r, k) = rows.At(0, k);
      }
      MultiplyRowsByRows({a.values.data(), m, rows.values.data(), n, 40, out.values.data()});
      for (int64_t r = 0; r < m; ++r) {
        for (int64_t c = 1; c < n; ++c) ASSERT_EQ(out.At(r, c), out.At(r, 0)) << c;
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

// The shapes that our own kernels take, whether or not products.cc chooses them on this machine.
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

INSTANTIATE_TEST_SUITE_P(Shapes, PanelsOfShape, testing::ValuesIn(kPanelShapes), ShapeName);
INSTANTIATE_TEST_SUITE_P(Shapes, ProductsOfShape, testing::ValuesIn(kPanelShapes), ShapeName);
INSTANTIATE_TEST_SUITE_P(OtherShapes, ProductsOfShape, testing::ValuesIn(kOtherShapes), ShapeName);

TEST(Arithmetic, CountsWhatItMultiplied) {
  const Isa isa = CurrentIsa();
  const double lanes = isa >= Isa::kAvx512 ? 16 : isa == Isa::kAvx2 ? 8 : 4;
  const double flops_of_step = 2 * 12 * lanes;
  EXPECT_EQ(MultiplyRegisters(Type::kFloat, 1000), 1000 * flops_of_step);
  // AMX multiplies four products of tiles a step, 16 x 32 x 16 each.
  const double flops_of_bf16_step = isa >= Isa::kAmx          ? 2 * 4 * 16 * 32 * 16
                                    : isa == Isa::kAvx512Bf16 ? 2 * flops_of_step
                                                              : 0;
  EXPECT_EQ(MultiplyRegisters(Type::kBf16, 10), 10 * flops_of_bf16_step);
}

}  // namespace
}  // namespace tandem::tensor::cpu

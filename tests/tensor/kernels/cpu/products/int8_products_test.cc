// Products of factors that are rounded to eight bits: every kernel that this machine has against
// the definition in int8_products.h, bit for bit.
#include "tensor/kernels/cpu/products/int8_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/kernel_values.h"
#include "tensor/kernels/cpu/padded_products.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {
namespace {

// Numbers as scale * value.
struct Rounded {
  float scale = 0;
  std::vector<int64_t> values;
};

Rounded RoundedRow(const Padded& x, int64_t row) {
  float low = 0, high = 0;
  for (int64_t k = 0; k < x.width; ++k) {
    low = std::min(low, x.At(row, k));
    high = std::max(high, x.At(row, k));
  }
  const float span = high - low, inverse = span > 0 ? 255.0F / span : 0;
  const auto zero = static_cast<int64_t>(std::nearbyint(-low * inverse));
  Rounded rounded{span / 255.0F, {}};
  for (int64_t k = 0; k < x.width; ++k) {
    const auto value = static_cast<int64_t>(std::nearbyint(x.At(row, k) * inverse));
    rounded.values.push_back(std::min(value, 255 - zero));
  }
  return rounded;
}

Rounded RoundedColumn(const Padded& b, int64_t column) {
  float most = 0;
  for (int64_t k = 0; k < b.rows; ++k) most = std::max(most, std::abs(b.At(k, column)));
  const float inverse = most > 0 ? 127.0F / most : 0;
  Rounded rounded{most / 127.0F, {}};
  for (int64_t k = 0; k < b.rows; ++k) {
    rounded.values.push_back(static_cast<int64_t>(std::nearbyint(b.At(k, column) * inverse)));
  }
  return rounded;
}

// `tandem --version` says it.
TEST(Int8Products, TheFastestKernelIsTheOneThatIsaNames) {
  EXPECT_EQ(Int8Instructions(CurrentIsa(), MachineInt8Features()), NameOf(FastestInt8Kernel()));
}

// `found` is start + the product of the rounded factors; start is a row of biases, or where that is
// null, what `before` holds.
void ExpectInt8Product(const Padded& x, const Padded& b, const float* bias, const Padded& before,
                       const Padded& found) {
  for (int64_t n = 0; n < b.width; ++n) {
    const Rounded column = RoundedColumn(b, n);
    for (int64_t r = 0; r < x.rows; ++r) {
      const Rounded row = RoundedRow(x, r);
      int64_t sum = 0;
      for (size_t k = 0; k < row.values.size(); ++k) sum += row.values[k] * column.values[k];
      const float scale = row.scale * column.scale, start = bias ? bias[n] : before.At(r, n);
      const float wanted = std::fma(static_cast<float>(sum), scale, start);
      if (CurrentIsa() > Isa::kBaseline) {
        ASSERT_EQ(found.At(r, n), wanted) << "row " << r << ", column " << n;
      } else {  // rounds products before it adds
        ASSERT_NEAR(found.At(r, n), wanted, 0x1p-22F * (std::abs(wanted) + std::abs(start)));
      }
    }
  }
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t n = b.width; n < found.stride; ++n) {
      ASSERT_EQ(found.At(r, n), kUntouched) << "row " << r << ", beyond the last column";
    }
  }
}

Padded Transpose(const Padded& b) {
  Padded transposed(b.width, b.rows, 0, 0);
  for (int64_t k = 0; k < b.rows; ++k) {
    for (int64_t n = 0; n < b.width; ++n) transposed.At(n, k) = b.At(k, n);
  }
  return transposed;
}

// B packed in parts, from itself or from its transpose.
Int8Matrix Packed(const Padded& b, Int8Kernel kernel, bool from_transpose = false) {
  const auto depth = static_cast<size_t>(b.rows), columns = static_cast<size_t>(b.width);
  Int8Matrix packed(depth, columns, kernel);
  const Padded source = from_transpose ? Transpose(b) : b;
  for (size_t n = 0; n < columns; n += Int8Matrix::kPartColumns) {
    const size_t count = std::min(Int8Matrix::kPartColumns, columns - n);
    const float* from = source.values.data();
    packed.Pack(from_transpose ? FloatFactor{from + n * depth, 1, depth, depth, count}
                               : FloatFactor{from + n, columns, 1, depth, count},
                n);
  }
  return packed;
}

// out of floats from row `first` of x on.
void Multiply(const Padded& x, const Int8Matrix& b, const float* bias, Padded* out,
              int64_t first = 0, bool add = false) {
  MultiplyInt8({x.values.data() + first * x.stride, Type::kFloat, static_cast<size_t>(x.stride), b,
                bias, out->values.data(), Type::kFloat, static_cast<size_t>(out->stride), add},
               static_cast<size_t>(out->rows));
}

std::vector<Int8Kernel> MachineKernels() {
  std::vector<Int8Kernel> kernels;
  std::ranges::copy_if(kInt8Kernels, std::back_inserter(kernels), IsAvailable);
  return kernels;
}

class Int8OfShape : public testing::TestWithParam<Shape> {};

TEST_P(Int8OfShape, IsTheProductOfRoundedFactors) {
  const auto [rows, depth, columns] = GetParam();
  const Padded x(rows, depth, 3, 1), b(depth, columns, 0, 2), bias(1, columns, 0, 3);
  const Padded zero(rows, columns, 0, 0), start(rows, columns, 5, 4);
  for (const Int8Kernel kernel : MachineKernels()) {
    for (const bool from_transpose : {false, true}) {
      SCOPED_TRACE(fmt::format("{}{}", NameOf(kernel), from_transpose ? ", transposed" : ""));
      const Int8Matrix packed = Packed(b, kernel, from_transpose);
      Padded out(rows, columns, 5, 4), alone(1, columns, 5, 4), added = start;
      Multiply(x, packed, bias.values.data(), &out);
      ExpectInt8Product(x, b, bias.values.data(), zero, out);
      Multiply(x, packed, nullptr, &added, 0, /*add=*/true);
      ExpectInt8Product(x, b, nullptr, start, added);
      for (const int64_t row : {int64_t{0}, rows / 2, rows - 1}) {
        Multiply(x, packed, bias.values.data(), &alone, row);
        for (int64_t n = 0; n < columns; ++n) ASSERT_EQ(alone.At(0, n), out.At(row, n)) << row;
      }
    }
  }
}

TEST_P(Int8OfShape, TakesAndGivesBf16) {
  const auto [rows, depth, columns] = GetParam();
  const auto count = static_cast<size_t>(rows * depth),
             results = static_cast<size_t>(rows * columns);
  Padded x(rows, depth, 0, 1);
  const Padded b(depth, columns, 0, 2), bias(1, columns, 0, 3);
  std::vector<Bf16> values(count), found(results), wanted(results);
  ToBf16(x.values.data(), values.data(), count);
  ToFloat(values.data(), x.values.data(), count);
  for (const Int8Kernel kernel : MachineKernels()) {
    SCOPED_TRACE(NameOf(kernel));
    const Int8Matrix packed = Packed(b, kernel);
    Padded out(rows, columns, 0, 4);
    Multiply(x, packed, bias.values.data(), &out);
    ToBf16(out.values.data(), wanted.data(), results);
    const auto width = static_cast<size_t>(depth), to_width = static_cast<size_t>(columns);
    MultiplyInt8({values.data(), Type::kBf16, width, packed, bias.values.data(), found.data(),
                  Type::kBf16, to_width},
                 static_cast<size_t>(rows));
    for (size_t i = 0; i < results; ++i) ASSERT_EQ(found[i].bits, wanted[i].bits) << i;
  }
}

// Rows around those of register tiles and of tiles of AMX, and beyond those that are rounded at
// once; depths that are no whole tiles; columns of one panel, of several, and of half of one.
constexpr Shape kShapes[] = {{1, 16, 16},   {2, 32, 48},   {5, 48, 32},    {6, 64, 80},
                             {7, 80, 64},   {11, 96, 112}, {12, 112, 96},  {13, 384, 32},
                             {17, 64, 64},  {32, 144, 16}, {33, 128, 224}, {131, 16, 32},
                             {40, 1536, 32}};
INSTANTIATE_TEST_SUITE_P(Shapes, Int8OfShape, testing::ValuesIn(kShapes), ShapeName);

// A product whose factors have one value or two in turn, along the depth.
void ExpectOfExtremes(float even_x, float odd_x, float even_b, float odd_b) {
  constexpr int64_t kRows = 3, kDepth = 1024, kColumns = 32;
  Padded x(kRows, kDepth, 0, 1), b(kDepth, kColumns, 0, 2);
  for (int64_t k = 0; k < kDepth; ++k) {
    for (int64_t r = 0; r < kRows; ++r) x.At(r, k) = k % 2 == 0 ? even_x : odd_x;
    for (int64_t n = 0; n < kColumns; ++n) b.At(k, n) = k % 2 == 0 ? even_b : odd_b;
  }
  const Padded zero(kRows, kColumns, 0, 0), bias(1, kColumns, 0, 3);
  for (const Int8Kernel kernel : MachineKernels()) {
    SCOPED_TRACE(fmt::format("{}: {} {} {} {}", NameOf(kernel), even_x, odd_x, even_b, odd_b));
    Padded out(kRows, kColumns, 0, 4);
    Multiply(x, Packed(b, kernel), bias.values.data(), &out);
    ExpectInt8Product(x, b, bias.values.data(), zero, out);
  }
}

TEST(Int8Products, DoNotSaturate) {
  for (const float x : {1.0F, -1.0F}) {
    for (const float b : {1.0F, -1.0F}) {
      ExpectOfExtremes(x, x, b, b);
      ExpectOfExtremes(x, -x, b, b);  // both ends of the row round up
      ExpectOfExtremes(x, -x, b, -b);
      ExpectOfExtremes(x, 0, b, 0);
      ExpectOfExtremes(3e38F * x, 0, 1e-20F * b, 0);
    }
  }
}

TEST(Int8Products, OfTheGreatestDepthAreExact) {
  constexpr int64_t kDepth = kMostInt8Depth, kColumns = 16;
  Padded x(1, kDepth, 0, 1), b(kDepth, kColumns, 0, 2);
  std::ranges::fill(x.values, 1.0F);
  std::ranges::fill(b.values, -1.0F);
  const Padded zero(1, kColumns, 0, 0);
  Padded out(1, kColumns, 0, 4);
  for (const Int8Kernel kernel : MachineKernels()) {
    SCOPED_TRACE(NameOf(kernel));
    Multiply(x, Packed(b, kernel), zero.values.data(), &out);
    ExpectInt8Product(x, b, zero.values.data(), zero, out);
  }
}

TEST(Int8Products, OfZerosAreBiases) {
  const Padded bias(1, 32, 0, 3);
  Padded zeros(4, 64, 0, 1), b(64, 32, 0, 2);
  for (int64_t k = 0; k < 64; ++k) {
    zeros.At(0, k) = 0;
    zeros.At(1, k) = -0.0F;
    zeros.At(2, k) = 1e-31F;  // counts as 0
    b.At(k, 5) = 0;
  }
  for (const Int8Kernel kernel : MachineKernels()) {
    SCOPED_TRACE(NameOf(kernel));
    Padded out(4, 32, 0, 4);
    Multiply(zeros, Packed(b, kernel), bias.values.data(), &out);
    for (int64_t n = 0; n < 32; ++n) {
      for (int64_t r = 0; r < 3; ++r) EXPECT_EQ(out.At(r, n), bias.At(0, n)) << r;
    }
    EXPECT_EQ(out.At(3, 5), bias.At(0, 5));
    EXPECT_NE(out.At(3, 6), bias.At(0, 6));
  }
}

TEST(Int8Products, OfNumbersThatAreNotFiniteAreNan) {
  const Padded bias(1, 32, 0, 3), finite(7, 64, 0, 1);
  Padded x = finite, b(64, 32, 0, 2);
  x.At(1, 63) = kNan;
  x.At(2, 0) = kInfinity;
  x.At(3, 17) = -kInfinity;
  x.At(4, 1) = 3e38F;
  x.At(4, 2) = -3e38F;  // a span beyond floats
  for (const Int8Kernel kernel : MachineKernels()) {
    SCOPED_TRACE(NameOf(kernel));
    Padded out(7, 32, 0, 4), wanted(7, 32, 0, 4);
    Multiply(x, Packed(b, kernel), bias.values.data(), &out);
    Multiply(finite, Packed(b, kernel), bias.values.data(), &wanted);
    Padded of_column(7, 32, 0, 4), spoiled = b;
    spoiled.At(9, 4) = kNan;
    spoiled.At(8, 6) = kInfinity;
    Multiply(finite, Packed(spoiled, kernel), bias.values.data(), &of_column);
    for (int64_t n = 0; n < 32; ++n) {
      for (int64_t r = 0; r < 7; ++r) {
        const bool is_nan = r >= 1 && r <= 4;
        EXPECT_EQ(std::isnan(out.At(r, n)), is_nan) << r;
        EXPECT_TRUE(is_nan || out.At(r, n) == wanted.At(r, n)) << r;
        EXPECT_EQ(std::isnan(of_column.At(r, n)), n == 4 || n == 6) << n;
      }
    }
  }
}

TEST(Int8Products, AreNearTheProductsOfWhatWasRounded) {
  const Padded x(64, 384, 0, 1), b(384, 96, 0, 2);
  Padded out(64, 96, 0, 4);
  Multiply(x, Packed(b, FastestInt8Kernel()), nullptr, &out);
  double errors = 0, squares = 0;
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t n = 0; n < b.width; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < x.width; ++k) sum += double{x.At(r, k)} * double{b.At(k, n)};
      errors += (out.At(r, n) - sum) * (out.At(r, n) - sum);
      squares += sum * sum;
    }
  }
  // The numbers are normally distributed, and their rows span six deviations: some 0.6 hundredths
  // by each factor's rounding.
  EXPECT_LT(std::sqrt(errors / squares), 0.012);
}

TEST(Int8Products, OfPackedMatricesTakeWeightsOfEitherType) {
  constexpr int64_t kRows = 20, kDepth = 96, kColumns = 208;
  const Padded x(kRows, kDepth, 0, 1), bias(1, kColumns, 0, 3);
  Padded weights(kColumns, kDepth, 0, 2);
  std::vector<Bf16> stored(weights.values.size());
  ToBf16(weights.values.data(), stored.data(), stored.size());
  ToFloat(stored.data(), weights.values.data(), stored.size());
  PackedMatrix from_floats(kDepth, kColumns, Type::kFloat, Multiplier::kInt8);
  from_floats.Pack(weights.values.data(), 1, kDepth);
  PackedMatrix from_bf16(kDepth, kColumns, Type::kFloat, Multiplier::kInt8);
  const StoredRows parts[] = {{stored.data(), 80, Type::kBf16},
                              {stored.data() + 80 * kDepth, kColumns - 80, Type::kBf16}};
  from_bf16.PackStored(parts, kDepth, true);
  for (const PackedMatrix* packed : {&from_floats, &from_bf16}) {
    Padded out(kRows, kColumns, 0, 4);
    MultiplyPacked({{x.values.data(), x.stride},
                    kRows,
                    *packed,
                    bias.values.data(),
                    {out.values.data(), out.stride},
                    Type::kFloat});
    ExpectInt8Product(x, Transpose(weights), bias.values.data(), out, out);
  }
}

TEST(Int8Products, TakeWholeUnitsOnly) {
  EXPECT_THROW(Int8Matrix(24, 16, Int8Kernel::kWiden), std::logic_error);
  EXPECT_THROW(Int8Matrix(16, 24, Int8Kernel::kWiden), std::logic_error);
  EXPECT_THROW(Int8Matrix(kMostInt8Depth + 16, 16, Int8Kernel::kWiden), std::logic_error);
}

}  // namespace
}  // namespace tandem::tensor::cpu

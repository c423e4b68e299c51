// Products that are added to what is there, against the product and the sum on their own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/kernel_values.h"
#include "tensor/kernels/cpu/products/products.h"

namespace tandem::tensor::cpu {
namespace {

template <typename A>
class AddedProducts : public testing::Test {};
using Types = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(AddedProducts, Types);

template <typename A>
std::vector<A> Normal(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<A> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(From<A>(normal(generator)));
  return values;
}

TYPED_TEST(AddedProducts, AreTheSumOfBoth) {
  using A = TypeParam;
  constexpr Type kType = sizeof(A) == 4 ? Type::kFloat : Type::kBf16;
  if (kType == Type::kBf16 && CurrentIsa() < Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  struct Shape {
    int64_t rows, depth, columns;
  };
  for (const Shape& s : {Shape{1, 16, 16}, {33, 64, 96}, {70, 48, 80}, {128, 1024, 64}}) {
    const std::vector<A> x = Normal<A>(s.rows * s.depth, 1);
    const std::vector<float> b = Normal<float>(s.depth * s.columns, 2);
    PackedMatrix packed(s.depth, s.columns, kType);
    packed.Pack(b.data(), s.columns, 1);
    const auto count = static_cast<size_t>(s.rows * s.columns);
    std::vector<float> product(count), float_sum = Normal<float>(s.rows * s.columns, 3);
    const std::vector<float> float_start = float_sum;
    std::vector<A> sum = Normal<A>(s.rows * s.columns, 4);
    const std::vector<A> start = sum;
    const ConstMatrix from{x.data(), s.depth};
    MultiplyPacked({from, s.rows, packed, nullptr, {product.data(), s.columns}, Type::kFloat});
    MultiplyPacked(
        {from, s.rows, packed, nullptr, {float_sum.data(), s.columns}, Type::kFloat, true});
    MultiplyPacked({from, s.rows, packed, nullptr, {sum.data(), s.columns}, kType, true});
    // Sums in another order.
    const double bound = 1e-6 * std::sqrt(static_cast<double>(s.depth)) * 4;
    for (size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(float_sum[i], float_start[i] + product[i], bound);
      const double want = Value(start[i]) + product[i];
      ASSERT_NEAR(Value(sum[i]), want, bound + kRounding<A> * std::fabs(want));
    }
  }
}

TEST(AddedProductsOfFloats, TakeNoBias) {
  PackedMatrix packed(16, 16, Type::kFloat);
  std::vector<float> values(256, 1);
  packed.Pack(values.data(), 16, 1);
  EXPECT_THROW(
      MultiplyPacked(
          {{values.data(), 16}, 1, packed, values.data(), {values.data(), 16}, Type::kFloat, true}),
      std::logic_error);
}

}  // namespace
}  // namespace tandem::tensor::cpu

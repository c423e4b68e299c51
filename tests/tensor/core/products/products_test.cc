#include "tensor/core/products/products.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/parallel.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

template <typename T>
Tensor Random(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const Tensor x = Empty(shape, kTypeOf<T>);
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<T>()[i] = static_cast<T>(normal(random));
  return x;
}

// The product in plain loops, with the terms in their order: left [n, depth], right [depth, k].
template <typename T>
Tensor PlainProduct(const internal::StoredMatrix<T>& left, const internal::StoredMatrix<T>& right,
                    const internal::ProductSizes& sizes, bool fused) {
  const Tensor out = Empty({sizes.rows, sizes.columns}, kTypeOf<T>);
  T* to = out.data_ptr<T>();
  for (int64_t r = 0; r < sizes.rows; ++r) {
    for (int64_t c = 0; c < sizes.columns; ++c) {
      T sum = 0;
      for (int64_t p = 0; p < sizes.depth; ++p) {
        const T a = left.data[r * left.down + p * left.right];
        const T b = right.data[p * right.down + c * right.right];
        sum = fused ? std::fma(a, b, sum) : sum + a * b;
      }
      *to++ = sum;
    }
  }
  return out;
}

// Disables Highway's targets that are better than `best` while it lives; 0: none.
class Targets {
 public:
  explicit Targets(int64_t best)
      : fused_(HWY_ARCH_ARM_A64 || (HaveFusedAdd() && best != HWY_SSE4)) {
    hwy::DisableTargets(best == 0 ? 0 : best - 1);
  }
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;
  ~Targets() { hwy::DisableTargets(0); }

  // Says whether they add and multiply in one, as AVX2 and all that are better than it do, and
  // NEON, which is arm64's only one.
  bool fused() const { return fused_; }

 private:
  // SupportedTargets undoes DisableTargets for the calls that follow, so it is asked before.
  static bool HaveFusedAdd() { return (hwy::SupportedTargets() & HWY_AVX2) != 0; }

  bool fused_;
};

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

// All four ways to store the factors.
template <typename T>
void ExpectPlainProducts(const internal::ProductSizes& sizes, bool fused) {
  const Tensor a = Random<T>({sizes.rows, sizes.depth}, 1);
  const Tensor b = Random<T>({sizes.depth, sizes.columns}, 2);
  for (const bool left_across : {false, true}) {
    for (const bool right_across : {false, true}) {
      const internal::StoredMatrix<T> left =
          left_across ? internal::StoredMatrix<T>{a.data_ptr<T>(), 1, sizes.rows}
                      : internal::StoredMatrix<T>{a.data_ptr<T>(), sizes.depth, 1};
      const internal::StoredMatrix<T> right =
          right_across ? internal::StoredMatrix<T>{b.data_ptr<T>(), 1, sizes.depth}
                       : internal::StoredMatrix<T>{b.data_ptr<T>(), sizes.columns, 1};
      const Tensor out = Full({sizes.rows, sizes.columns}, NAN, kTypeOf<T>);
      internal::Multiply(left, right, sizes, out.data_ptr<T>());
      EXPECT_TRUE(SameBits(out, PlainProduct(left, right, sizes, fused)))
          << sizes.rows << " x " << sizes.depth << " x " << sizes.columns << ", across "
          << left_across << right_across << ", " << sizeof(T) << " bytes";
    }
  }
}

// Depths and columns beyond one block, rows and columns that are no multiples of a tile's.
const std::vector<internal::ProductSizes> kSizes = {
    {1, 1, 1},   {1, 0, 3},     {0, 4, 2},   {2, 3, 0},    {1, 100, 37},  {3, 1, 70},
    {7, 5, 9},   {8, 16, 24},   {9, 17, 49}, {16, 64, 48}, {33, 40, 3},   {70, 20, 65},
    {5, 800, 7}, {65, 390, 30}, {2, 6, 700}, {3, 2, 1300}, {12, 1200, 1}, {150, 9, 100}};

TEST(Products, ArePlainLoopsToTheBitAtEveryTarget) {
  for (const int64_t best : {int64_t{0}, int64_t{HWY_AVX2}, int64_t{HWY_SSE4}}) {
    const Targets targets(best);
    for (const internal::ProductSizes& sizes : kSizes) {
      ExpectPlainProducts<float>(sizes, targets.fused());
      ExpectPlainProducts<double>(sizes, targets.fused());
    }
  }
}

TEST(Products, DoNotDependOnTheNumberOfThreads) {
  const int before = ThreadCount();
  const Tensor a = Random<double>({130, 210}, 1), b = Random<double>({170, 210}, 2);
  const Tensor few = Random<float>({6, 900}, 3), wide = Random<float>({900, 170}, 4);
  SetThreadCount(1);
  const Tensor scores = ProductTransposed(a, b), product = Product(few, wide);
  const Tensor gradient = TransposedProduct(a, scores);
  for (const int threads : {2, 3, 7}) {
    SetThreadCount(threads);
    EXPECT_TRUE(SameBits(ProductTransposed(a, b), scores)) << threads;
    EXPECT_TRUE(SameBits(Product(few, wide), product)) << threads;
    EXPECT_TRUE(SameBits(TransposedProduct(a, scores), gradient)) << threads;
  }
  SetThreadCount(before);
}

TEST(Products, KeepWhatIsNotFinite) {
  const Tensor a = Doubles({1, 2}, {INFINITY, 1}), b = Doubles({2, 2}, {0, 2, 1, 1});
  const Tensor out = Product(a, b);
  EXPECT_TRUE(std::isnan(out.data_ptr<double>()[0]));
  EXPECT_EQ(out.data_ptr<double>()[1], INFINITY);
}

}  // namespace
}  // namespace tandem::tensor

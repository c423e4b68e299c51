// Activations and their slopes against float64 over their whole range, and at extremes.
#include "tensor/kernels/cpu/rows/activation_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/kernels/cpu/kernel_values.h"

namespace tandem::tensor::cpu {
namespace {

template <typename A>
class Activations : public testing::Test {};
using Types = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Activations, Types);

constexpr Activation kAll[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
                               Activation::kSilu};

struct ValueAndSlope {
  double value;
  double slope;
};

double Logistic(double y) { return 1 / (1 + std::exp(-y)); }

ValueAndSlope Exact(Activation activation, double x) {
  switch (activation) {
    case Activation::kGelu: {
      const double phi = 0.5 * std::erfc(-x / std::sqrt(2.0));
      return {x * phi, phi + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI)};
    }
    case Activation::kGeluTanh: {
      const double factor = 2 * std::sqrt(2 / M_PI);
      const double s = Logistic(factor * (x + 0.044715 * x * x * x));
      return {x * s, s + x * s * (1 - s) * factor * (1 + 3 * 0.044715 * x * x)};
    }
    case Activation::kRelu:
      return {std::max(x, 0.0), x > 0 ? 1.0 : 0.0};
    case Activation::kSilu: {
      const double s = Logistic(x);
      return {x * s, s * (1 + x * (1 - s))};
    }
  }
  return {};
}

// What activation_rows.h says of values, relative to x, and of slopes.
template <typename A>
constexpr double kValueBound = sizeof(A) == 4 ? 5e-7 : 5e-6;
template <typename A>
constexpr double kSlopeBound = sizeof(A) == 4 ? 2e-6 : 2e-5;

template <typename A>
struct Rows {
  std::vector<A> in, value, slope;
  std::vector<A> again;  // the values, from the backward pass

  // The activation and its slope of all of `values`, in one row.
  Rows(Activation activation, std::vector<A> values) : in(std::move(values)) {
    while (in.size() % 16 != 0) in.push_back(From<A>(0));
    value.resize(in.size());
    slope.assign(in.size(), From<A>(1));
    RunActivation<A>({activation, false, in.data(), {}, value.data()}, 1, in.size());
    again.resize(in.size());
    RunActivationBackward<A>(
        {activation, false, in.data(), {}, slope.data(), slope.data(), again.data()}, 1, in.size());
  }
};

TYPED_TEST(Activations, AndTheirSlopesAreWithinTheirBounds) {
  using A = TypeParam;
  for (const Activation activation : kAll) {
    std::vector<A> in;
    for (float x = -120; x < 120; x += 0.001F) in.push_back(From<A>(x));
    const Rows<A> rows(activation, std::move(in));
    EXPECT_EQ(std::memcmp(rows.again.data(), rows.value.data(), rows.in.size() * sizeof(A)), 0);
    for (size_t i = 0; i < rows.in.size(); ++i) {
      const double x = Value(rows.in[i]);
      const ValueAndSlope exact = Exact(activation, x);
      ASSERT_NEAR(Value(rows.value[i]), exact.value,
                  kValueBound<A> * std::fabs(x) + kRounding<A> * std::fabs(exact.value))
          << static_cast<int>(activation) << " of " << x;
      ASSERT_NEAR(Value(rows.slope[i]), exact.slope,
                  kSlopeBound<A> + kRounding<A> * std::fabs(exact.slope))
          << static_cast<int>(activation) << " at " << x;
    }
  }
}

TYPED_TEST(Activations, OfExtremes) {
  using A = TypeParam;
  for (const Activation activation : kAll) {
    std::vector<A> in = {From<A>(3e38F), From<A>(-3e38F), From<A>(0), From<A>(-0.0F),
                         From<A>(1e-38F)};
    for (const uint32_t bits : kNanBits) in.push_back(FromBits<A>(bits));
    const size_t nans = in.size() - std::size(kNanBits);
    const Rows<A> rows(activation, std::move(in));
    EXPECT_NEAR(Value(rows.value[0]), Value(rows.in[0]), kValueBound<A> * Value(rows.in[0]));
    EXPECT_EQ(Value(rows.value[1]), 0);
    EXPECT_NEAR(Value(rows.slope[0]), 1, kSlopeBound<A>);
    EXPECT_EQ(Value(rows.slope[1]), 0);
    EXPECT_EQ(Value(rows.value[2]), 0);
    EXPECT_EQ(Value(rows.value[3]), 0);
    EXPECT_NEAR(Value(rows.slope[2]), activation == Activation::kRelu ? 0 : 0.5, kSlopeBound<A>);
    for (size_t i = nans; i < nans + std::size(kNanBits); ++i) {
      EXPECT_TRUE(std::isnan(Value(rows.value[i]))) << static_cast<int>(activation);
      // The slope of ReLU is 0 or 1, as libtorch has it.
      EXPECT_EQ(std::isnan(Value(rows.slope[i])), activation != Activation::kRelu);
    }
  }
}

// A gated layer multiplies; its gradient goes to both halves.
TYPED_TEST(Activations, GatedByTheirFactor) {
  using A = TypeParam;
  constexpr size_t kRows = 3, kWidth = 48;
  std::vector<A> before, grad;
  for (size_t i = 0; i < 2 * kRows * kWidth; ++i) {
    before.push_back(From<A>(std::sin(static_cast<float>(i)) * 4));
  }
  for (size_t i = 0; i < kRows * kWidth; ++i)
    grad.push_back(From<A>(static_cast<float>(i % 7) - 3));
  for (const Activation activation : kAll) {
    std::vector<A> inner(kRows * kWidth), again(inner.size()), grad_before(before.size());
    RunActivation<A>({activation, true, before.data(), {}, inner.data()}, kRows, kWidth);
    RunActivationBackward<A>(
        {activation, true, before.data(), {}, grad.data(), grad_before.data(), again.data()}, kRows,
        kWidth);
    EXPECT_EQ(std::memcmp(again.data(), inner.data(), inner.size() * sizeof(A)), 0);
    for (size_t i = 0; i < inner.size(); ++i) {
      const size_t gate = i / kWidth * 2 * kWidth + i % kWidth;
      const double factor = Value(before[gate + kWidth]), g = Value(grad[i]);
      const ValueAndSlope exact = Exact(activation, Value(before[gate]));
      const auto near = [](double found, double want, double scale) {
        EXPECT_NEAR(found, want, 10 * kSlopeBound<A> * scale + kRounding<A> * std::fabs(want));
      };
      near(Value(inner[i]), exact.value * factor, 4);
      near(Value(grad_before[gate]), g * factor * exact.slope, 12);
      near(Value(grad_before[gate + kWidth]), g * exact.value, 12);
    }
  }
}

}  // namespace
}  // namespace tandem::tensor::cpu

#include "tensor/core/functions/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tensor/core/functions/activations.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

using Numbers = std::vector<double>;
using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Numbers between -1 and 1 without a pattern.
Tensor Mixed(const Shape& shape, double seed) {
  const Tensor tensor = Empty(shape, kDouble);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    tensor.data_ptr<double>()[i] = std::sin(seed + 1.7 * static_cast<double>(i * i + 1));
  }
  return tensor;
}

// The sum of the outputs' elements, each with a weight of its own.
Tensor Weighted(const Tensor& out) { return Sum(Mul(out, Mixed(out.sizes(), 0.3))); }

// Compares the gradients of `function` with central differences.
void ExpectGradients(const Function& function, const std::vector<Shape>& shapes) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes) {
    inputs.push_back(Mixed(shape, static_cast<double>(inputs.size())).set_requires_grad(true));
  }
  Weighted(function(inputs)).backward();
  const NoGradGuard no_gradient;
  constexpr double kStep = 1e-6;
  for (size_t k = 0; k < inputs.size(); ++k) {
    for (int64_t i = 0; i < inputs[k].numel(); ++i) {
      double& number = inputs[k].data_ptr<double>()[i];
      const double before = number;
      const auto at = [&](double value) {
        number = value;
        return Weighted(function(inputs)).item<double>();
      };
      const double slope = (at(before + kStep) - at(before - kStep)) / (2 * kStep);
      number = before;
      EXPECT_NEAR(DoublesOf(inputs[k].grad())[static_cast<size_t>(i)], slope, 1e-8)
          << "input " << k << ", element " << i;
    }
  }
}

TEST(Functions, ViewsHaveGradients) {
  ExpectGradients([](const auto& x) { return x[0].narrow(0, 1, 2); }, {{4, 3}});
  ExpectGradients([](const auto& x) { return x[0][2]; }, {{4, 3}});
  ExpectGradients(
      [](const auto& x) {
        return Mul(x[0].view({3, 4}), x[0].view({3, 4}));
      },
      {{4, 3}});
  ExpectGradients([](const auto& x) { return Mul(x[0].clone(), x[0].clone()); }, {{3}});
}

TEST(Functions, JoinsHaveGradients) {
  ExpectGradients([](const auto& x) { return Cat({x[0], x[1], x[0]}); }, {{2, 3}, {1, 3}});
  ExpectGradients([](const auto& x) { return Cat({x[0], x[1]}, 1); }, {{2, 3}, {2, 1}});
  ExpectGradients([](const auto& x) { return Columns(x[0], 1, 2); }, {{3, 4}});
}

TEST(Functions, OfRowsHaveGradients) {
  const Tensor rows = Of<int32_t>({4}, {2, 0, 2, 2});
  ExpectGradients([&](const auto& x) { return TakeRows(x[0], rows); }, {{3, 2}});
  const Tensor cleared = Of<bool>({3}, {false, true, false});
  ExpectGradients([&](const auto& x) { return ClearRows(x[0], cleared); }, {{3, 2}});
}

TEST(Functions, ArithmeticHasGradients) {
  ExpectGradients([](const auto& x) { return Add(x[0], x[1]); }, {{2, 2}, {2, 2}});
  ExpectGradients([](const auto& x) { return Mul(x[0], x[1]); }, {{2, 2}, {2, 2}});
  ExpectGradients([](const auto& x) { return Mul(x[0], x[0]); }, {{2, 2}});
  ExpectGradients([](const auto& x) { return Mul(x[0], -2.5); }, {{2, 2}});
  ExpectGradients([](const auto& x) { return Sum(x[0]); }, {{2, 2}});
}

TEST(Functions, ActivationsHaveGradients) {
  for (const auto& function : {Tanh, Sigmoid, Relu, Silu, Gelu, GeluTanh}) {
    ExpectGradients([&](const auto& x) { return function(x[0]); }, {{3, 4}});
  }
  // A layer of a head.
  ExpectGradients(
      [](const auto& x) { return Tanh(AddToRows(ProductTransposed(x[0], x[1]), x[2])); },
      {{3, 4}, {2, 4}, {2}});
}

// Values of the formulas with Python's math functions.
TEST(Functions, ActivationsHaveTheirValues) {
  const auto at = [](Tensor (*function)(const Tensor&), double x) {
    return function(Doubles({1}, {x})).item<double>();
  };
  EXPECT_NEAR(at(Tanh, 0.5), 0.46211715726000975, 1e-15);
  EXPECT_NEAR(at(Sigmoid, 0.5), 0.6224593312018546, 1e-15);
  EXPECT_NEAR(at(Silu, 0.5), 0.3112296656009273, 1e-15);
  EXPECT_NEAR(at(Gelu, 0.5), 0.34573123063700656, 1e-15);
  EXPECT_NEAR(at(GeluTanh, 0.5), 0.34571400982514394, 1e-15);
  EXPECT_EQ(at(Relu, 0.5), 0.5);
  EXPECT_EQ(at(Relu, -0.5), 0);
  EXPECT_TRUE(std::isnan(at(Relu, std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(Relu(Full({2}, 1.5, kBFloat16)).Text(), "bfloat16 [2]");
  EXPECT_EQ(Mistake([] { Gelu(Zeros({1}, kInt)); }),
            "Gelu: expected a floating type, found int32 [1]");
  EXPECT_EQ(Mistake([] {
              AddToRows(Zeros({2, 3}, kDouble), Zeros({2}, kDouble));
            }),
            "AddToRows: expected a row of the width and type of x, found float64 [2]");
}

TEST(Functions, ProductsHaveGradients) {
  for (const auto& [n, m, k] : {std::tuple{1, 1, 1}, {5, 3, 9}, {4, 7, 8}, {6, 2, 17}}) {
    ExpectGradients([](const auto& x) { return ProductTransposed(x[0], x[1]); }, {{n, m}, {k, m}});
  }
  ExpectGradients([](const auto& x) { return ProductTransposed(x[0], x[0]); }, {{3, 4}});
}

TEST(Functions, UnitRowsHaveGradients) {
  ExpectGradients([](const auto& x) { return UnitRows(x[0]); }, {{3, 4}});
  ExpectGradients([](const auto& x) { return UnitRows(x[0], 1e-12); }, {{3, 4}});
  ExpectGradients([](const auto& x) { return UnitRows(x[0], 100); }, {{3, 4}});
}

// Matryoshka's losses: a batch cut to several widths, scored, and weighed.
TEST(Functions, OfATrainingStepHaveGradients) {
  ExpectGradients(
      [](const auto& x) {
        Tensor loss;
        for (const int64_t width : {4, 2}) {
          const Tensor cut = Columns(x[0], 0, width);
          const Tensor q = UnitRows(cut.narrow(0, 0, 2)), d = UnitRows(cut.narrow(0, 2, 3));
          const Tensor scores = ProductTransposed(q, d);
          const Tensor value = Mul(Sum(Mul(scores, scores)), 0.5);
          loss = loss.defined() ? Add(loss, value) : value;
        }
        return loss;
      },
      {{5, 4}});
}

TEST(Functions, JoinAndCutRows) {
  const Tensor a = Doubles({1, 2}, {1, 2}), b = Doubles({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(DoublesOf(Cat({a, b})), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(DoublesOf(Cat({b, Zeros({0, 2}, kDouble)})), (Numbers{3, 4, 5, 6}));
  EXPECT_EQ(DoublesOf(Cat({b, Doubles({2, 1}, {7, 8})}, 1)), (Numbers{3, 4, 7, 5, 6, 8}));
  EXPECT_EQ(DoublesOf(Columns(b, 1, 1)), (Numbers{4, 6}));
  EXPECT_EQ(Columns(b, 2, 0).sizes(), (Shape{2, 0}));
  EXPECT_EQ(DoublesOf(TakeRows(b, Of<int64_t>({3}, {1, 0, 1}))), (Numbers{5, 6, 3, 4, 5, 6}));
  EXPECT_EQ(TakeRows(b, Of<int64_t>({0}, {})).sizes(), (Shape{0, 2}));
  EXPECT_EQ(DoublesOf(ClearRows(b, Of<bool>({2}, {true, false}))), (Numbers{0, 0, 5, 6}));
}

TEST(Functions, MultiplyRowsWithRows) {
  const Tensor a = Doubles({2, 3}, {1, 2, 3, 4, 5, 6}), b = Doubles({1, 3}, {1, 0, -1});
  EXPECT_EQ(DoublesOf(ProductTransposed(a, b)), (Numbers{-2, -2}));
  EXPECT_EQ(DoublesOf(ProductTransposed(a.to(kFloat), a.to(kFloat))), (Numbers{14, 32, 32, 77}));
  EXPECT_EQ(ProductTransposed(Zeros({0, 3}, kDouble), a).sizes(), (Shape{0, 2}));
  EXPECT_EQ(DoublesOf(ProductTransposed(Zeros({1, 0}, kDouble), Zeros({2, 0}, kDouble))),
            (Numbers{0, 0}));
}

TEST(Functions, MatrixProductsHaveGradients) {
  ExpectGradients([](const auto& x) { return Product(x[0], x[1]); }, {{3, 4}, {4, 2}});
  ExpectGradients([](const auto& x) { return ProductTransposed(x[0], x[1]); }, {{3, 4}, {2, 4}});
  ExpectGradients([](const auto& x) { return TransposedProduct(x[0], x[1]); }, {{4, 3}, {4, 2}});
  ExpectGradients([](const auto& x) { return Product(x[0], x[0]); }, {{3, 3}});
  ExpectGradients([](const auto& x) { return TransposedProduct(x[0], x[0]); }, {{2, 3}});
}

TEST(Functions, MultiplyMatrices) {
  const Tensor a = Doubles({2, 3}, {1, 2, 3, 4, 5, 6}), b = Doubles({3, 1}, {1, 0, -1});
  EXPECT_EQ(DoublesOf(Product(a, b)), (Numbers{-2, -2}));
  EXPECT_EQ(DoublesOf(TransposedProduct(a, a)), (Numbers{17, 22, 27, 22, 29, 36, 27, 36, 45}));
  EXPECT_EQ(DoublesOf(Product(Zeros({1, 0}, kFloat), Zeros({0, 2}, kFloat))), (Numbers{0, 0}));
  EXPECT_EQ(Product(a, Zeros({3, 0}, kDouble)).sizes(), (Shape{2, 0}));
}

TEST(Functions, LayerNormsHaveGradients) {
  ExpectGradients([](const auto& x) { return LayerNormRows(x[0], x[1], x[2], 1e-5); },
                  {{3, 5}, {5}, {5}});
  ExpectGradients([](const auto& x) { return LayerNormRows(x[0], x[1], {}, 0.1); }, {{2, 3}, {3}});
}

TEST(Functions, LayerNormsHaveTheirValues) {
  const Tensor x = Doubles({2, 2}, {1, 3, 5, 5}), gamma = Doubles({2}, {2, 10});
  // The deviations are sqrt(1 + 3) and sqrt(0 + 3).
  EXPECT_EQ(DoublesOf(LayerNormRows(x, gamma, Doubles({2}, {0, 1}), 3)), (Numbers{-1, 6, 0, 1}));
  EXPECT_EQ(DoublesOf(LayerNormRows(x.to(kFloat), gamma.to(kFloat), {}, 3)),
            (Numbers{-1, 5, 0, 0}));
  EXPECT_EQ(LayerNormRows(Zeros({0, 2}, kDouble), gamma, {}, 3).sizes(), (Shape{0, 2}));
}

TEST(Functions, UnitRowsOfZerosStayZero) {
  const Tensor x = Doubles({2, 2}, {0, 0, 3, 4}).set_requires_grad(true);
  const Tensor unit = UnitRows(x);
  EXPECT_EQ(DoublesOf(unit), (Numbers{0, 0, 0.6, 0.8}));
  Sum(unit).backward();
  EXPECT_EQ(DoublesOf(x.grad())[0], 0);
  EXPECT_EQ(DoublesOf(UnitRows(Doubles({1, 2}, {0, 3e-13}), 1e-12)), (Numbers{0, 0.3}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(DoublesOf(UnitRows(Doubles({1, 2}, {nan, 1})))[0]));
}

TEST(Functions, ComputeNumbersOf16BitsAsFloats) {
  const Tensor x = Full({2}, 1.5, kBFloat16).set_requires_grad(true);
  const Tensor y = Mul(x, Full({2}, 3, kBFloat16));
  EXPECT_EQ(DoublesOf(y), (Numbers{4.5, 4.5}));
  EXPECT_EQ(Sum(y).item<double>(), 9);
  Sum(y).backward();
  EXPECT_EQ(x.grad().Text(), "bfloat16 [2]");
  EXPECT_EQ(DoublesOf(x.grad()), (Numbers{3, 3}));
}

TEST(Functions, SayWhatIsWrong) {
  const Tensor x = Zeros({2, 3}, kDouble), whole = Zeros({2, 3}, kLong);
  const Tensor number = Zeros({}, kDouble);
  EXPECT_EQ(Mistake([] { Cat(std::vector<Tensor>()); }),
            "Cat: expected at least one tensor, found none");
  EXPECT_EQ(Mistake([&] {
              Cat({x, Zeros({2, 2}, kDouble)});
            }),
            "Cat along dimension 0: float64 [2, 2] does not fit float64 [2, 3]");
  EXPECT_EQ(Mistake([&] {
              Cat({x, Zeros({3, 3}, kDouble)}, 1);
            }),
            "Cat along dimension 1: float64 [3, 3] does not fit float64 [2, 3]");
  EXPECT_EQ(Mistake([&] {
              Cat({x, whole});
            }),
            "Cat along dimension 0: int64 [2, 3] does not fit float64 [2, 3]");
  EXPECT_EQ(Mistake([&] { Cat({number}); }),
            "Cat: expected dimension 0, or 1 of tensors [n, m], found 0 of float64 []");
  EXPECT_EQ(Mistake([&] { Columns(x, 2, 2); }),
            "Columns: float64 [2, 3] has no 2 columns from column 2 on");
  EXPECT_NE(Mistake([&] { Columns(x, 2, std::numeric_limits<int64_t>::max()); }), "no error");
  EXPECT_EQ(Mistake([&] { TakeRows(x, Of<int64_t>({1}, {2})); }),
            "TakeRows: float64 [2, 3] has no row 2");
  EXPECT_EQ(Mistake([&] { TakeRows(x, Zeros({1}, kFloat)); }),
            "TakeRows: expected rows int64 or int32 [k], found float32 [1]");
  EXPECT_EQ(Mistake([&] { ClearRows(x, Zeros({3}, kBool)); }),
            "ClearRows: expected a bool for each row, found bool [3]");
  EXPECT_EQ(Mistake([&] { Add(x, number); }),
            "Add: expected two tensors of one shape and floating type, found float64 [2, 3] and "
            "float64 []");
  EXPECT_EQ(
      Mistake([&] { Mul(whole, whole); }),
      "Mul: expected two tensors of one shape and floating type, found int64 [2, 3] and int64 "
      "[2, 3]");
  EXPECT_EQ(Mistake([&] { Sum(whole); }), "Sum: expected a floating type, found int64 [2, 3]");
  EXPECT_EQ(
      Mistake([&] {
        ProductTransposed(x, Zeros({3, 2}, kDouble));
      }),
      "ProductTransposed: expected float32 or float64 [n, m] and [k, m], found float64 [2, 3] "
      "and float64 [3, 2]");
  EXPECT_EQ(Mistake([&] { Product(x, x); }),
            "Product: expected float32 or float64 [n, k] and [k, m], found float64 [2, 3] and "
            "float64 [2, 3]");
  EXPECT_EQ(Mistake([&] {
              TransposedProduct(x, Zeros({3, 3}, kDouble));
            }),
            "TransposedProduct: expected float32 or float64 [n, k] and [n, m], found float64 "
            "[2, 3] and float64 [3, 3]");
  EXPECT_EQ(Mistake([&] { LayerNormRows(x, Zeros({2}, kDouble), {}, 1e-5); }),
            "LayerNormRows: expected x [n, m], float32 or float64, gamma and beta [m] of its type "
            "and an epsilon above 0, found float64 [2, 3], float64 [2], undefined and 1e-05");
  EXPECT_EQ(Mistake([&] { UnitRows(number); }),
            "UnitRows: expected float32 or float64 [n, m] and a least length of 0 or more, found "
            "float64 [] and 0");
}

}  // namespace
}  // namespace tandem::tensor

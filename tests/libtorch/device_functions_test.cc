// The functions of tensors on devices, on the device of tests: they give what tensor/core does.
//
// Error: max|got - want| / max(1, max|want|) for each array.
#include "libtorch/device_functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/tensors.h"
#include "support/test_device.h"
#include "tensor/core/functions/activations.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/make.h"

namespace tandem::libtorch {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using Leaves = std::vector<Tensor>;

// A function of core, and the same one of Functions.
struct FunctionCase {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Tensor(const Leaves&)> core;
  std::function<Tensor(const Functions&, const Leaves&)> here;
};

Tensor Marks(int64_t count) {
  const Tensor marks = tensor::Empty({count}, tensor::kBool);
  for (int64_t i = 0; i < count; ++i) marks.data_ptr<bool>()[i] = i % 3 == 1;
  return marks;
}

// With a row of zeros in the middle.
Tensor WithZeros(const Tensor& x) {
  return tensor::ClearRows(x, tensor::MovedTo(Marks(x.size(0)), x.device()));
}

std::vector<FunctionCase> JoinCases() {
  return {
      {"rows after each other",
       {{2, 3}, {0, 3}, {4, 3}},
       [](const Leaves& x) { return tensor::Cat(x); },
       [](const Functions& f, const Leaves& x) { return f.Cat(x, 0); }},
      {"blocks after each other",
       {{2, 3, 2}, {1, 3, 2}},
       [](const Leaves& x) { return tensor::Cat(x); },
       [](const Functions& f, const Leaves& x) { return f.Cat(x, 0); }},
      {"columns beside each other",
       {{4, 3}, {4, 2}},
       [](const Leaves& x) { return tensor::Cat(x, 1); },
       [](const Functions& f, const Leaves& x) { return f.Cat(x, 1); }},
      {"columns",
       {{4, 7}},
       [](const Leaves& x) { return tensor::Columns(x[0], 2, 3); },
       [](const Functions& f, const Leaves& x) { return f.Columns(x[0], 2, 3); }},
      {"all columns",
       {{4, 7}},
       [](const Leaves& x) { return tensor::Columns(x[0], 0, 7); },
       [](const Functions& f, const Leaves& x) { return f.Columns(x[0], 0, 7); }},
  };
}

std::vector<FunctionCase> RowCases() {
  const Tensor few = MakeTensor({5}, {3, 0, 3, 1, 3}, tensor::kLong);
  const Tensor narrow = few.to(tensor::kInt), marks = Marks(4);
  return {
      {"taken rows",
       {{4, 3}},
       [=](const Leaves& x) { return tensor::TakeRows(x[0], few); },
       [=](const Functions& f, const Leaves& x) { return f.TakeRows(x[0], OnTestDevice(few)); }},
      {"taken rows by int32",
       {{4}},
       [=](const Leaves& x) { return tensor::TakeRows(x[0], narrow); },
       [=](const Functions& f, const Leaves& x) { return f.TakeRows(x[0], OnTestDevice(narrow)); }},
      {"cleared rows",
       {{4, 3}},
       [=](const Leaves& x) { return tensor::ClearRows(x[0], marks); },
       [=](const Functions& f, const Leaves& x) { return f.ClearRows(x[0], OnTestDevice(marks)); }},
      {"cleared numbers",
       {{4}},
       [=](const Leaves& x) { return tensor::ClearRows(x[0], marks); },
       [=](const Functions& f, const Leaves& x) { return f.ClearRows(x[0], OnTestDevice(marks)); }},
  };
}

std::vector<FunctionCase> ArithmeticCases() {
  return {
      {"sum of two",
       {{4, 3}, {4, 3}},
       [](const Leaves& x) { return tensor::Add(x[0], x[1]); },
       [](const Functions& f, const Leaves& x) { return f.Add(x[0], x[1]); }},
      {"product of two",
       {{4, 3}, {4, 3}},
       [](const Leaves& x) { return tensor::Mul(x[0], x[1]); },
       [](const Functions& f, const Leaves& x) { return f.Mul(x[0], x[1]); }},
      {"multiple",
       {{4, 3}},
       [](const Leaves& x) { return tensor::Mul(x[0], -1.5); },
       [](const Functions& f, const Leaves& x) { return f.Mul(x[0], -1.5); }},
      {"row added to rows",
       {{4, 3}, {3}},
       [](const Leaves& x) { return tensor::AddToRows(x[0], x[1]); },
       [](const Functions& f, const Leaves& x) { return f.AddToRows(x[0], x[1]); }},
      {"sum of all",
       {{4, 3}},
       [](const Leaves& x) { return tensor::Sum(x[0]); },
       [](const Functions& f, const Leaves& x) { return f.Sum(x[0]); }},
      {"sum of none",
       {{0, 3}},
       [](const Leaves& x) { return tensor::Sum(x[0]); },
       [](const Functions& f, const Leaves& x) { return f.Sum(x[0]); }},
  };
}

std::vector<FunctionCase> ProductCases() {
  return {
      {"product",
       {{4, 3}, {3, 5}},
       [](const Leaves& x) { return tensor::Product(x[0], x[1]); },
       [](const Functions& f, const Leaves& x) { return f.Product(x[0], x[1]); }},
      {"product with the transpose",
       {{4, 3}, {5, 3}},
       [](const Leaves& x) { return tensor::ProductTransposed(x[0], x[1]); },
       [](const Functions& f, const Leaves& x) { return f.ProductTransposed(x[0], x[1]); }},
      {"product of the transpose",
       {{4, 3}, {4, 5}},
       [](const Leaves& x) { return tensor::TransposedProduct(x[0], x[1]); },
       [](const Functions& f, const Leaves& x) { return f.TransposedProduct(x[0], x[1]); }},
  };
}

std::vector<FunctionCase> NormCases() {
  return {
      {"unit rows, zeros among them",
       {{7, 5}},
       [](const Leaves& x) { return tensor::UnitRows(WithZeros(x[0])); },
       [](const Functions& f, const Leaves& x) { return f.UnitRows(WithZeros(x[0]), 0); }},
      {"unit rows of a least length",  // which some have and others have not
       {{7, 2}},
       [](const Leaves& x) { return tensor::UnitRows(WithZeros(x[0]), 0.7); },
       [](const Functions& f, const Leaves& x) { return f.UnitRows(WithZeros(x[0]), 0.7); }},
      {"normalised rows",
       {{7, 5}, {5}, {5}},
       [](const Leaves& x) { return tensor::LayerNormRows(x[0], x[1], x[2], 1e-5); },
       [](const Functions& f, const Leaves& x) { return f.LayerNormRows(x[0], x[1], x[2], 1e-5); }},
      {"normalised rows without beta",
       {{7, 5}, {5}},
       [](const Leaves& x) { return tensor::LayerNormRows(x[0], x[1], {}, 1e-5); },
       [](const Functions& f, const Leaves& x) { return f.LayerNormRows(x[0], x[1], {}, 1e-5); }},
  };
}

std::vector<FunctionCase> ElementCases() {
  using tensor::ElementFunction;
  const auto of = [](std::string name, Tensor (*core)(const Tensor&), ElementFunction function) {
    return FunctionCase{std::move(name),
                        {{40}},
                        [core](const Leaves& x) { return core(tensor::Mul(x[0], 6)); },
                        [function](const Functions& f, const Leaves& x) {
                          return f.Apply(function, tensor::Mul(x[0], 6));
                        }};
  };
  return {of("tanh", tensor::Tanh, ElementFunction::kTanh),
          of("sigmoid", tensor::Sigmoid, ElementFunction::kSigmoid),
          of("ReLU", tensor::Relu, ElementFunction::kRelu),
          of("SiLU", tensor::Silu, ElementFunction::kSilu),
          of("GELU", tensor::Gelu, ElementFunction::kGelu),
          of("GELU by tanh", tensor::GeluTanh, ElementFunction::kGeluTanh)};
}

double Error(const Tensor& got, const Tensor& want) {
  EXPECT_EQ(got.sizes(), want.sizes());
  EXPECT_EQ(got.dtype(), want.dtype());
  return LargestDifference(got, want) / std::max(1.0, LargestOf(want));
}

// Outputs and gradients.
void ExpectSame(const FunctionCase& c, DType type, double bound) {
  Leaves core, here;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Tensor values = RandomTensor(c.inputs[i], i + 1, type);
    core.push_back(values.clone().set_requires_grad(true));
    here.push_back(OnTestDevice(values.clone()).set_requires_grad(true));
  }
  const Tensor want = c.core(core), got = c.here(Functions(), here);
  EXPECT_LE(Error(got, want), bound) << c.name;
  const Tensor gradient = RandomTensor(want.sizes(), 99, type);
  want.backward(gradient);
  got.backward(OnTestDevice(gradient));
  for (size_t i = 0; i < core.size(); ++i) {
    ASSERT_TRUE(here[i].grad().defined()) << c.name << ", input " << i;
    EXPECT_LE(Error(here[i].grad(), core[i].grad()), bound) << c.name << ", input " << i;
  }
}

TEST(DeviceFunctions, GiveWhatThoseOfTheProcessorGive) {
  for (const auto& cases :
       {JoinCases(), RowCases(), ArithmeticCases(), ProductCases(), NormCases(), ElementCases()}) {
    for (const FunctionCase& c : cases) {
      ExpectSame(c, tensor::kDouble, 1e-14);
      ExpectSame(c, tensor::kFloat, 1e-6);
    }
  }
}

TEST(DeviceFunctions, ResultsAreNewTensors) {
  const Functions functions;
  const Tensor x = OnTestDevice(RandomTensor({4, 3}, 1));
  const Tensor none = OnTestDevice(tensor::Zeros({4}, tensor::kBool));
  EXPECT_NE(functions.Columns(x, 0, 3).data_ptr(), x.data_ptr());
  EXPECT_NE(functions.Cat(std::vector{x}, 0).data_ptr(), x.data_ptr());
  EXPECT_NE(functions.ClearRows(x, none).data_ptr(), x.data_ptr());
}

TEST(DeviceFunctions, WritesConvertTypesAndCount) {
  const Functions functions;
  const Tensor x = functions.Empty({2, 3}, tensor::kFloat, TestDevice());
  EXPECT_EQ(x.sizes(), (Shape{2, 3}));
  EXPECT_EQ(x.dtype(), tensor::kFloat);
  const auto expect = [&](double value, uint64_t version) {
    EXPECT_EQ(ElementsOf(x), std::vector<double>(6, value));
    EXPECT_EQ(x.version(), version);
  };
  const uint64_t before = x.version();
  functions.Fill(x, 3);
  expect(3, before + 1);
  functions.Scale(x, 0.5);
  expect(1.5, before + 2);
  functions.AddTo(x, OnTestDevice(tensor::Full({2, 3}, 2, tensor::kFloat)));
  expect(3.5, before + 3);
  functions.Copy(tensor::Full({2, 3}, 7, tensor::kLong), x);
  expect(7, before + 4);
}

TEST(DeviceFunctions, SumRowsAsTheProcessorDoes) {
  const Functions functions;
  const Tensor rows = MakeTensor({7}, {4, 0, 4, 9, 0, 4, 2}, tensor::kInt);
  const Tensor values = RandomTensor({7, 3}, 1);
  for (const DType type : {tensor::kInt, tensor::kLong}) {
    const tensor::SparseRows want = tensor::SumByRow(rows, values);
    const tensor::SparseRows got =
        functions.SumByRow(OnTestDevice(rows.to(type)), OnTestDevice(values));
    EXPECT_TRUE(AreEqual(got.rows, want.rows));
    // A GPU may add three rows in another order.
    const double bound = TestDevice().is_cpu() ? 0 : 1e-6;
    EXPECT_LE(LargestDifference(got.values, want.values), bound);
    EXPECT_LE(LargestDifference(functions.Dense(got, {11, 3}), tensor::Dense(want, {11, 3})),
              bound);
  }
  const tensor::SparseRows none =
      functions.SumByRow(OnTestDevice(rows.narrow(0, 0, 0)), OnTestDevice(values.narrow(0, 0, 0)));
  EXPECT_EQ(none.rows.sizes(), (Shape{0}));
  EXPECT_EQ(none.values.sizes(), (Shape{0, 3}));
}

}  // namespace
}  // namespace tandem::libtorch

// Each test is run in a process of its own: a back end stays once it is set.
#include "tensor/core/back_end/device_functions.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tensor/core/back_end/missing_back_end.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/activations.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

using Numbers = std::vector<double>;

constexpr Device kFirst = {.kind = Device::Kind::kCuda, .index = 0};
constexpr Device kSecond = {.kind = Device::Kind::kCuda, .index = 1};

// The elements of a fake device's tensor, which lie in the processor's memory.
Tensor Here(const Tensor& x) { return FromBlob(x.data_ptr(), x.sizes(), x.dtype()); }

// A back end whose devices' memory is the processor's. It notes what it is asked for. What it
// computes is in no graph, but for Mul.
class FakeBackEnd final : public DeviceFunctions {
 public:
  Tensor Empty(const Shape& shape, DType type, Device device) const override {
    const auto bytes = static_cast<size_t>(shape.numel()) * ElementSize(type);
    const std::shared_ptr<void> memory(std::malloc(bytes + 1), std::free);
    return FromDevice(memory.get(), shape, type, device, memory);
  }
  void Copy(const Tensor& from, const Tensor& to) const override {
    Note("Copy");
    Here(to).copy_(Here(from));
  }
  void Fill(const Tensor& x, double value) const override {
    Note("Fill");
    Here(x).fill_(value);
  }
  void AddTo(const Tensor& x, const Tensor& other) const override {
    Note("AddTo");
    Here(x).add_(Here(other));
  }
  void Scale(const Tensor& x, double factor) const override {
    Note("Scale");
    Here(x).mul_(factor);
  }
  Tensor Cat(std::span<const Tensor> tensors, int64_t dimension) const override {
    std::vector<Tensor> here;
    for (const Tensor& tensor : tensors) here.push_back(Here(tensor));
    return There("Cat", tensors.front(), tensor::Cat(here, dimension));
  }
  Tensor Columns(const Tensor& x, int64_t start, int64_t length) const override {
    return There("Columns", x, tensor::Columns(Here(x), start, length));
  }
  Tensor TakeRows(const Tensor& x, const Tensor& rows) const override {
    return There("TakeRows", x, tensor::TakeRows(Here(x), Here(rows)));
  }
  Tensor ClearRows(const Tensor& x, const Tensor& cleared) const override {
    return There("ClearRows", x, tensor::ClearRows(Here(x), Here(cleared)));
  }
  Tensor Add(const Tensor& a, const Tensor& b) const override {
    return There("Add", a, tensor::Add(Here(a), Here(b)));
  }
  Tensor Mul(const Tensor& a, const Tensor& b) const override {
    const Tensor out = There("Mul", a, tensor::Mul(Here(a), Here(b)));
    if (!NeedsGradient({a, b})) return out;
    return WithBackward("Mul", out, {a, b}, [a = a.detach(), b = b.detach()](const Tensor& grad) {
      return std::vector{tensor::Mul(grad, b), tensor::Mul(grad, a)};
    });
  }
  Tensor Mul(const Tensor& a, double factor) const override {
    return There("Mul factor", a, tensor::Mul(Here(a), factor));
  }
  Tensor AddToRows(const Tensor& x, const Tensor& row) const override {
    return There("AddToRows", x, tensor::AddToRows(Here(x), Here(row)));
  }
  Tensor Sum(const Tensor& x) const override { return There("Sum", x, tensor::Sum(Here(x))); }
  Tensor Product(const Tensor& a, const Tensor& b) const override {
    return There("Product", a, tensor::Product(Here(a), Here(b)));
  }
  Tensor ProductTransposed(const Tensor& a, const Tensor& b) const override {
    return There("ProductTransposed", a, tensor::ProductTransposed(Here(a), Here(b)));
  }
  Tensor TransposedProduct(const Tensor& a, const Tensor& b) const override {
    return There("TransposedProduct", a, tensor::TransposedProduct(Here(a), Here(b)));
  }
  Tensor UnitRows(const Tensor& x, double least) const override {
    return There("UnitRows", x, tensor::UnitRows(Here(x), least));
  }
  Tensor LayerNormRows(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                       double epsilon) const override {
    return There("LayerNormRows", x,
                 tensor::LayerNormRows(Here(x), Here(gamma), beta.defined() ? Here(beta) : Tensor(),
                                       epsilon));
  }
  Tensor Apply(ElementFunction function, const Tensor& x) const override {
    return There("Apply " + std::to_string(static_cast<int>(function)), x, Here(x));
  }
  SparseRows SumByRow(const Tensor& rows, const Tensor& values) const override {
    const SparseRows sums = tensor::SumByRow(Here(rows), Here(values));
    return {There("SumByRow", rows, sums.rows), There("SumByRow", values, sums.values)};
  }
  Tensor Dense(const SparseRows& gradient, const Shape& sizes) const override {
    return There("Dense", gradient.values,
                 tensor::Dense({Here(gradient.rows), Here(gradient.values)}, sizes));
  }

  std::vector<std::string> Asked() const { return std::exchange(asked_, {}); }

 private:
  void Note(const std::string& name) const { asked_.push_back(name); }
  Tensor There(const std::string& name, const Tensor& like, const Tensor& values) const {
    Note(name);
    const Tensor there = Empty(values.sizes(), values.dtype(), like.device());
    Here(there).copy_(values);
    return there;
  }

  mutable std::vector<std::string> asked_;
};

const FakeBackEnd& BackEnd() {
  static const FakeBackEnd* back_end = [] {
    const auto* made = new FakeBackEnd;
    SetBackEndFunctions(*made);
    return made;
  }();
  return *back_end;
}

// The name under which the back end was asked for the one thing that `body` does.
std::string Asked(const std::function<void()>& body) {
  BackEnd().Asked();
  body();
  std::string all;
  for (const std::string& name : BackEnd().Asked()) all += (all.empty() ? "" : ", ") + name;
  return all;
}

TEST(DeviceFunctions, AreLoadedWhenTheyAreFirstAskedFor) {
  const auto empty = [] { Empty({2}, kFloat, kFirst); };
  try {
    empty();
    FAIL() << "no error";
  } catch (const MissingBackEnd& error) {
    EXPECT_EQ(error.missed(), "the plug-in libtandem-torch.so is not there");
    EXPECT_STREQ(error.what(),
                 "this needs Tandem's back end for devices, the plug-in libtandem-torch.so, which "
                 "is not there");
  }
  SetBackEndLoader([] { throw UsageError("it does not load"); });
  EXPECT_THROW(empty(), UsageError);
  SetBackEndLoader([] {});
  EXPECT_EQ(Mistake(empty), "the loader of the back end has set no functions of devices");
  EXPECT_EQ(LoadedBackEndFunctions(), nullptr);
  int loaded = 0;
  SetBackEndLoader([&loaded] {
    ++loaded;
    BackEnd();
  });
  empty();
  empty();
  LoadBackEnd();
  EXPECT_EQ(loaded, 1);
  EXPECT_EQ(LoadedBackEndFunctions(), &BackEnd());
}

TEST(DeviceFunctions, MakeAndWriteTensors) {
  BackEnd();
  const Tensor x = Full({2, 2}, 1.5, kFloat, kFirst);
  EXPECT_TRUE(x.device().is_cuda());
  EXPECT_EQ(x.Text(), "float32 [2, 2] on cuda:0");
  EXPECT_EQ(ZerosLike(x).device(), kFirst);
  EXPECT_EQ(EmptyLike(x).device(), kFirst);
  EXPECT_EQ(Asked([&] { x.add_(x); }), "AddTo");
  EXPECT_EQ(Asked([&] { x.mul_(2); }), "Scale");
  EXPECT_EQ(Asked([&] { x[1].zero_(); }), "Fill");
  EXPECT_EQ(Asked([&] { EXPECT_EQ(x.clone().device(), kFirst); }), "Copy");
  EXPECT_EQ(Asked([&] { EXPECT_EQ(x.to(kDouble).Text(), "float64 [2, 2] on cuda:0"); }), "Copy");
  EXPECT_EQ(DoublesOf(OnCpu(x)), (Numbers{6, 6, 0, 0}));
  EXPECT_EQ(x[0][1].item<double>(), 6);
  const uint64_t before = x.version();
  x.copy_(Full({2, 2}, 3, kDouble));  // from the processor
  EXPECT_EQ(x.version(), before + 1);
  EXPECT_EQ(DoublesOf(OnCpu(x)), Numbers(4, 3));
  EXPECT_EQ(Mistake([&] { x.data_ptr<float>(); }),
            "expected a tensor of float32 on the processor, found float32 [2, 2] on cuda:0");
}

TEST(DeviceFunctions, MoveTensorsAndTheirGradients) {
  BackEnd();
  const Tensor x = Doubles({2}, {3, 4}).set_requires_grad(true);
  EXPECT_TRUE(MovedTo(x, kCpuDevice).is_same(x));
  EXPECT_TRUE(OnCpu(x).is_same(x));
  EXPECT_FALSE(MovedTo(Tensor(), kFirst).defined());
  const Tensor there = MovedTo(x, kFirst), on_second = MovedTo(there, kSecond);
  EXPECT_EQ(on_second.device(), kSecond);
  const Tensor squares = Mul(on_second, on_second);
  EXPECT_EQ(squares.device(), kSecond);
  Sum(OnCpu(squares)).backward();
  EXPECT_EQ(x.grad().device(), kCpuDevice);
  EXPECT_EQ(DoublesOf(x.grad()), (Numbers{6, 8}));
}

TEST(DeviceFunctions, BackwardPassesStayOnTheDevice) {
  BackEnd();
  const Tensor x = MovedTo(Doubles({3, 1}, {1, 2, 3}), kFirst).set_requires_grad(true);
  // Rows of it, and a part without the first dimension, all read twice.
  const Tensor y = Mul(x.narrow(0, 1, 2).view({2}), x.narrow(0, 0, 2).clone().view({2}));
  y.backward(Full({2}, 1, kDouble, kFirst));
  EXPECT_EQ(x.grad().device(), kFirst);
  EXPECT_EQ(DoublesOf(OnCpu(x.grad())), (Numbers{2, 1 + 3, 2}));
  EXPECT_EQ(Mistake([&] { x[0].backward(Full({1}, 1, kDouble)); }),
            "backward: the gradient of float64 [1] on cuda:0 is float64 [1]");
  EXPECT_EQ(Mistake([&] {
              WithBackward("Here", Empty({3, 1}, kDouble), {x}, [](const Tensor& grad) {
                return std::vector{grad};
              }).backward(Zeros({3, 1}, kDouble));
            }),
            "Here: the gradient of input 0 is [3, 1] on cpu, expected [3, 1] on cuda:0");
  EXPECT_EQ(Mistake([&] {
              x.set_grad(Zeros({3, 1}, kDouble));
            }),
            "set_grad: the gradient of float64 [3, 1] on cuda:0 is float64 [3, 1]");
}

TEST(DeviceFunctions, ComputeEveryFunction) {
  BackEnd();
  const Tensor x = Full({2, 2}, 2, kDouble, kFirst), row = Full({2}, 1, kDouble, kFirst);
  const Tensor rows = Zeros({2}, kLong, kFirst), cleared = Zeros({2}, kBool, kFirst);
  EXPECT_EQ(Asked([&] { Cat({x, x}); }), "Cat");
  EXPECT_EQ(Asked([&] { Columns(x, 0, 1); }), "Columns");
  EXPECT_EQ(Asked([&] { TakeRows(x, rows); }), "TakeRows");
  EXPECT_EQ(Asked([&] { ClearRows(x, cleared); }), "ClearRows");
  EXPECT_EQ(Asked([&] { Add(x, x); }), "Add");
  EXPECT_EQ(Asked([&] { Mul(x, x); }), "Mul");
  EXPECT_EQ(Asked([&] { Mul(x, 2); }), "Mul factor");
  EXPECT_EQ(Asked([&] { AddToRows(x, row); }), "AddToRows");
  EXPECT_EQ(Asked([&] { Sum(x); }), "Sum");
  EXPECT_EQ(Asked([&] { Product(x, x); }), "Product");
  EXPECT_EQ(Asked([&] { ProductTransposed(x, x); }), "ProductTransposed");
  EXPECT_EQ(Asked([&] { TransposedProduct(x, x); }), "TransposedProduct");
  EXPECT_EQ(Asked([&] { UnitRows(x); }), "UnitRows");
  EXPECT_EQ(Asked([&] { LayerNormRows(x, row, row, 1e-5); }), "LayerNormRows");
  EXPECT_EQ(Asked([&] { LayerNormRows(x, row, {}, 1e-5); }), "LayerNormRows");
  EXPECT_EQ(Asked([&] { SumByRow(rows, x); }), "SumByRow, SumByRow");
  EXPECT_EQ(Asked([&] { Dense({rows, x}, {3, 2}); }), "Dense");
  int index = 0;
  for (const auto& function : {Tanh, Sigmoid, Relu, Silu, Gelu, GeluTanh}) {
    EXPECT_EQ(Asked([&] { function(x); }), "Apply " + std::to_string(index++));
  }
}

TEST(DeviceFunctions, AddRowsOfGradients) {
  BackEnd();
  const Tensor table = Zeros({4, 1}, kDouble, kFirst).set_requires_grad(true);
  const auto part = [](int64_t row, double value) {
    return SparseRows{MovedTo(Of<int64_t>({1}, {row}), kFirst),
                      Full({1, 1}, value, kDouble, kFirst)};
  };
  AddRowGradient(table, part(2, 5));
  AddRowGradient(table, part(0, 3));
  AddRowGradient(table, part(2, 1));
  ASSERT_NE(table.row_grad(), nullptr);
  EXPECT_EQ(DoublesOf(OnCpu(table.row_grad()->rows)), (Numbers{0, 2}));
  EXPECT_EQ(DoublesOf(OnCpu(table.row_grad()->values)), (Numbers{3, 6}));
  table.set_grad(Full({4, 1}, 1, kDouble, kFirst));
  AddRowGradient(table, part(3, 5));
  EXPECT_EQ(DoublesOf(OnCpu(table.grad())), (Numbers{1, 1, 1, 6}));
}

TEST(DeviceFunctions, AreForTensorsOfOneDevice) {
  BackEnd();
  const Tensor here = Zeros({2}, kFloat), there = Zeros({2}, kFloat, kFirst);
  const Tensor second = Zeros({2}, kFloat, kSecond);
  EXPECT_EQ(Mistake([&] { Add(here, there); }),
            "Add: expected tensors of one device, found float32 [2] and float32 [2] on cuda:0");
  EXPECT_EQ(Mistake([&] { Mul(there, second); }),
            "Mul: expected tensors of one device, found float32 [2] on cuda:0 and float32 [2] on "
            "cuda:1");
  EXPECT_EQ(Mistake([&] {
              Cat({there, here});
            }),
            "Cat: expected tensors of one device, found float32 [2] on cuda:0 and float32 [2]");
  EXPECT_EQ(Mistake([&] { here.add_(there); }),
            "add_: expected float32 [2], found float32 [2] on cuda:0");
}

}  // namespace
}  // namespace tandem::tensor

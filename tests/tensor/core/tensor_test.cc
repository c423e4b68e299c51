#include "tensor/core/tensor.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

using Numbers = std::vector<double>;

TEST(Tensor, IsUndefinedAtFirst) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(tensor.Text(), "undefined");
  EXPECT_TRUE(tensor.is_same(Tensor()));
  EXPECT_EQ(Mistake([&] { tensor.numel(); }), "expected a tensor, found an undefined one");
  EXPECT_LE(sizeof(Tensor), 2 * sizeof(void*));
}

TEST(Tensor, CopiesOfTheHandleAreTheSameTensor) {
  const Tensor tensor = Zeros({2}, kFloat), copy = tensor;
  copy.set_requires_grad(true);
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_TRUE(tensor.is_same(copy));
  EXPECT_FALSE(tensor.detach().is_same(tensor));
  EXPECT_FALSE(tensor.detach().requires_grad());
  EXPECT_TRUE(tensor.detach().SharesStorage(tensor));
}

TEST(Tensor, AreMadeOfNumbers) {
  EXPECT_EQ(DoublesOf(Zeros({2, 2}, kInt)), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(DoublesOf(Full({3}, 1.5, kBFloat16)), (Numbers{1.5, 1.5, 1.5}));
  EXPECT_EQ(DoublesOf(Arange(4, kHalf)), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(Arange(0, kLong).Text(), "int64 [0]");
  EXPECT_EQ(Mistake([] { Arange(2, kBool); }), "Arange: expected a type of numbers, found bool");
  const Tensor like = Zeros({2, 3}, kByte);
  EXPECT_EQ(EmptyLike(like).Text(), "uint8 [2, 3]");
  EXPECT_EQ(DoublesOf(ZerosLike(like)), Numbers(6, 0));
  EXPECT_EQ(like.nbytes(), 6U);
}

TEST(Tensor, ViewsShareMemory) {
  const Tensor whole = Arange(12, kInt).view({4, 3});
  const Tensor rows = whole.narrow(0, 1, 2), row = rows[1], number = row[2];
  EXPECT_EQ(rows.sizes(), (Shape{2, 3}));
  EXPECT_EQ(row.sizes(), Shape{3});
  EXPECT_EQ(number.sizes(), Shape{});
  EXPECT_EQ(number.item<int32_t>(), 8);
  EXPECT_EQ(number.storage_offset(), 8);
  number.fill_(100);
  EXPECT_EQ(whole.data_ptr<int32_t>()[8], 100);
  EXPECT_EQ(whole.flatten()[8].item<double>(), 100);
  rows.zero_();
  EXPECT_EQ(DoublesOf(whole), (Numbers{0, 1, 2, 0, 0, 0, 0, 0, 0, 9, 10, 11}));
  const Tensor copy = whole.clone();
  copy.zero_();
  EXPECT_EQ(whole[3][0].item<int64_t>(), 9);
}

TEST(Tensor, MayHaveNoElements) {
  const Tensor none = Zeros({0, 3}, kDouble), thin = Zeros({3, 0}, kDouble);
  EXPECT_EQ(none.numel(), 0);
  EXPECT_EQ(none.narrow(0, 0, 0).sizes(), (Shape{0, 3}));
  EXPECT_EQ(thin.narrow(0, 3, 0).sizes(), (Shape{0, 0}));
  EXPECT_EQ(thin[2].sizes(), Shape{0});
  EXPECT_EQ(none.clone().to(kFloat).Text(), "float32 [0, 3]");
  EXPECT_EQ(none.view({5, 0}).sizes(), (Shape{5, 0}));
  none.add_(none).mul_(2);
  none.data_ptr<double>();
}

TEST(Tensor, RefusesWhatItDoesNotHave) {
  const Tensor tensor = Zeros({2, 3}, kFloat);
  EXPECT_EQ(Mistake([&] { tensor.data_ptr<double>(); }),
            "expected a tensor of float64 on the processor, found float32 [2, 3]");
  EXPECT_EQ(Mistake([&] { tensor.narrow(0, 1, 2); }),
            "narrow: float32 [2, 3] has no 2 rows from row 1 on");
  EXPECT_EQ(Mistake([&] { tensor.narrow(0, -1, 1); }),
            "narrow: float32 [2, 3] has no 1 rows from row -1 on");
  EXPECT_EQ(Mistake([&] { tensor.narrow(0, 2, std::numeric_limits<int64_t>::max()); }).substr(0, 7),
            "narrow:");
  EXPECT_EQ(Mistake([&] { tensor.narrow(1, 0, 2); }),
            "narrow: expected dimension 0, the only one that there are views along, found 1 of "
            "float32 [2, 3] (Columns copies ranges of columns)");
  EXPECT_EQ(Mistake([&] { tensor[2]; }), "select: float32 [2, 3] has no row 2");
  EXPECT_EQ(Mistake([&] { tensor.view({4}); }),
            "view: float32 [2, 3] has not as many elements as [4]");
  EXPECT_EQ(Mistake([&] { tensor.item<float>(); }),
            "item: expected a tensor of one element, found float32 [2, 3]");
  EXPECT_EQ(Mistake([&] {
              tensor.copy_(Zeros({3, 2}, kFloat));
            }),
            "copy_: expected [2, 3], found float32 [3, 2]");
  EXPECT_EQ(Mistake([&] {
              tensor.add_(Zeros({2, 3}, kDouble));
            }),
            "add_: expected float32 [2, 3], found float64 [2, 3]");
  EXPECT_EQ(Mistake([&] { Zeros({1}, kInt).mul_(2); }),
            "mul_: expected a floating type, found int32 [1]");
  EXPECT_EQ(Mistake([&] { tensor.set_data(Zeros({2}, kFloat)); }),
            "set_data: expected float32 [2, 3], found float32 [2]");
  EXPECT_EQ(Mistake([&] {
              Tensor(tensor.storage(), 4, {2, 3}, kFloat);
            }),
            "float32 [2, 3] at byte 4 does not fit a storage of 24 bytes");
  EXPECT_EQ(Mistake([&] { Tensor(StorageRef(), 0, {}, kFloat); }),
            "a tensor needs a storage, found none");
}

TEST(Tensor, ConvertsElements) {
  const Tensor numbers = Doubles({5}, {-1.75, 0, 0.3, 2.5, 65520});
  EXPECT_TRUE(numbers.to(kDouble).is_same(numbers));
  EXPECT_EQ(DoublesOf(numbers.to(kInt)), (Numbers{-1, 0, 0, 2, 65520}));
  EXPECT_EQ(DoublesOf(numbers.to(kBool)), (Numbers{1, 0, 1, 1, 1}));
  EXPECT_EQ(DoublesOf(numbers.to(kFloat))[2], static_cast<double>(0.3F));
  EXPECT_EQ(DoublesOf(numbers.to(kHalf)),
            (Numbers{-1.75, 0, 0x1.334p-2, 2.5, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(DoublesOf(numbers.to(kBFloat16)), (Numbers{-1.75, 0, 0x1.34p-2, 2.5, 65536}));
  EXPECT_EQ(DoublesOf(numbers.to(kHalf).to(kBFloat16))[3], 2.5);
  EXPECT_EQ(DoublesOf(Of<bool>({2}, {true, false}).to(kFloat)), (Numbers{1, 0}));
}

TEST(Tensor, AddsAndMultipliesInPlace) {
  const Tensor doubles = Doubles({2}, {1, 2});
  doubles.add_(Doubles({2}, {0.5, 0.25})).mul_(2);
  EXPECT_EQ(DoublesOf(doubles), (Numbers{3, 4.5}));
  // 1 + 2^-8 is a tie of bf16's numbers 1 and 1 + 2^-7: to the even one.
  const Tensor bf16 = Full({1}, 1, kBFloat16);
  bf16.add_(Full({1}, 0x1p-8, kBFloat16));
  EXPECT_EQ(bf16.item<double>(), 1);
  bf16.mul_(3.3);
  EXPECT_EQ(bf16.item<double>(), 3.296875);
}

TEST(Tensor, TakesTheMemoryOfAnother) {
  const Tensor parameter = Zeros({2}, kFloat), block = Of<float>({4}, {1, 2, 3, 4});
  parameter.set_requires_grad(true);
  parameter.set_grad(Of<float>({2}, {5, 6}));
  parameter.set_data(block.narrow(0, 2, 2));
  EXPECT_EQ(DoublesOf(parameter), (Numbers{3, 4}));
  EXPECT_EQ(parameter.storage_offset(), 2);
  EXPECT_TRUE(parameter.SharesStorage(block));
  EXPECT_EQ(DoublesOf(parameter.grad()), (Numbers{5, 6}));
}

TEST(Tensor, IsNotWrittenWhereTheGraphWouldNotSeeIt) {
  const Tensor leaf = Zeros({2}, kFloat);
  leaf.set_requires_grad(true);
  EXPECT_EQ(Mistake([&] { leaf.zero_(); }),
            "fill_: float32 [2] has a part in a graph, which would not see the write: write to its "
            "detach()");
  EXPECT_EQ(Mistake([&] { leaf[0].fill_(1); }).substr(0, 5), "fill_");
  leaf.detach().fill_(1);
  const NoGradGuard no_gradient;
  leaf[1].fill_(2);
  EXPECT_EQ(DoublesOf(leaf), (Numbers{1, 2}));
}

}  // namespace
}  // namespace tandem::tensor

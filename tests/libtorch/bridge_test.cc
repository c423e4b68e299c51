#include "libtorch/bridge.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "tensor/core/make.h"

namespace tandem::libtorch {
namespace {

using tensor::Tensor;

constexpr tensor::DType kTypes[] = {tensor::kFloat, tensor::kDouble, tensor::kBFloat16,
                                    tensor::kHalf,  tensor::kLong,   tensor::kInt,
                                    tensor::kByte,  tensor::kBool};

TEST(Bridge, TypesHaveTheirSizesAndComeBack) {
  for (const tensor::DType type : kTypes) {
    EXPECT_EQ(TypeOf(TorchType(type)), type);
    EXPECT_EQ(c10::elementSize(TorchType(type)), tensor::ElementSize(type));
  }
  EXPECT_THROW(TypeOf(at::kChar), std::logic_error);
}

TEST(Bridge, DevicesComeBack) {
  for (const tensor::Device device :
       {tensor::kCpuDevice, tensor::Device{tensor::Device::Kind::kCuda, 3}}) {
    EXPECT_EQ(DeviceOf(TorchDevice(device)), device);
  }
  EXPECT_EQ(TorchDevice({tensor::Device::Kind::kCuda, 1}), at::Device(at::kCUDA, 1));
  EXPECT_THROW(DeviceOf(at::kMeta), std::logic_error);
}

TEST(Bridge, UndefinedStaysUndefined) {
  EXPECT_FALSE(AsTorch(Tensor()).defined());
  EXPECT_FALSE(FromTorch(at::Tensor()).defined());
}

TEST(Bridge, AViewHasItsElementsOnTheOtherSide) {
  for (const tensor::DType type : kTypes) {
    if (type == tensor::kBool) continue;
    const Tensor rows = tensor::Arange(24, type).view({6, 2, 2}).narrow(0, 1, 3);
    const at::Tensor there = AsTorch(rows);
    EXPECT_EQ(there.data_ptr(), rows.data_ptr());
    EXPECT_TRUE(at::equal(there, at::arange(4, 16).view({3, 2, 2}).to(TorchType(type))));
    const Tensor back = FromTorch(there.select(0, 2));
    EXPECT_EQ(back.data_ptr(), rows[2].data_ptr());
    EXPECT_EQ(back.dtype(), type);
    EXPECT_EQ(back.sizes(), (tensor::Shape{2, 2}));
  }
}

TEST(Bridge, EitherSideSeesWhatTheOtherWrites) {
  const Tensor ours = tensor::Zeros({2, 3}, tensor::kFloat);
  AsTorch(ours).select(0, 1).fill_(7);
  EXPECT_EQ(ours[1].data_ptr<float>()[2], 7);
  const at::Tensor theirs = at::zeros({2, 3});
  FromTorch(theirs).fill_(5);
  EXPECT_EQ(theirs.sum().item<float>(), 30);
}

TEST(Bridge, ScalarsAndTensorsWithoutElementsCross) {
  EXPECT_EQ(AsTorch(tensor::Full({}, 3, tensor::kDouble)).item<double>(), 3);
  EXPECT_EQ(AsTorch(tensor::Empty({0, 5}, tensor::kFloat)).sizes(), (std::vector<int64_t>{0, 5}));
  EXPECT_EQ(FromTorch(at::empty({4, 0})).sizes(), (tensor::Shape{4, 0}));
  EXPECT_EQ(FromTorch(at::tensor(2.5)).item<double>(), 2.5);
  EXPECT_EQ(AsTorch(FromTorch(at::empty({0}))).numel(), 0);
}

TEST(Bridge, WhatIsNotContiguousIsCopied) {
  const at::Tensor columns = at::arange(6, at::kFloat).view({2, 3}).t();
  const Tensor ours = FromTorch(columns);
  const auto* elements = ours.data_ptr<float>();
  EXPECT_EQ((std::vector<float>(elements, elements + 6)), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_NE(ours.data_ptr(), columns.data_ptr());
}

TEST(Bridge, SparseTensorsAreRefused) {
  const at::Tensor sparse = at::zeros({2, 2}).to_sparse();
  EXPECT_THROW(FromTorch(sparse), std::logic_error);
}

TEST(Bridge, EitherSideKeepsTheMemoryAlive) {
  auto owner = std::make_shared<std::vector<float>>(4, 2.0F);
  const std::weak_ptr<std::vector<float>> alive = owner;
  float* const memory = owner->data();
  Tensor ours = tensor::FromBlob(memory, {4}, tensor::kFloat, std::move(owner));
  at::Tensor theirs = AsTorch(ours);
  ours.reset();
  EXPECT_EQ(theirs.sum().item<float>(), 8);
  Tensor back = FromTorch(theirs);
  theirs.reset();
  EXPECT_EQ(back.data_ptr<float>()[3], 2);
  EXPECT_FALSE(alive.expired());
  back.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(Bridge, TheirMemoryLivesAsLongAsOurTensor) {
  static int freed = 0;
  freed = 0;
  std::vector<float> memory(3, 1.5F);
  at::Tensor theirs = at::from_blob(
      memory.data(), {3}, [](void*) { ++freed; }, at::TensorOptions(at::kFloat));
  Tensor ours = FromTorch(theirs);
  at::Tensor again = AsTorch(ours);
  theirs.reset();
  ours.reset();
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(again.sum().item<float>(), 4.5F);
  again.reset();
  EXPECT_EQ(freed, 1);
}

// A backward pass adds into memory that nobody else holds. It must see all who do.
TEST(Bridge, MemoryHasOneStorageHoweverOftenItCrosses) {
  const Tensor ours = tensor::Zeros({4, 2}, tensor::kFloat);
  EXPECT_TRUE(ours.Exclusive());
  {
    const at::Tensor theirs = AsTorch(ours);
    EXPECT_FALSE(ours.Exclusive());
    EXPECT_TRUE(FromTorch(theirs.narrow(0, 1, 2)).SharesStorage(ours));
  }
  EXPECT_TRUE(ours.Exclusive());

  at::Tensor theirs = at::zeros({4, 2});
  const Tensor whole = FromTorch(theirs), row = FromTorch(theirs.select(0, 3));
  EXPECT_TRUE(row.SharesStorage(whole));
  EXPECT_EQ(row.data_ptr(), whole[3].data_ptr());
  EXPECT_TRUE(FromTorch(AsTorch(whole)).SharesStorage(whole));
}

TEST(Bridge, ATensorThatLibtorchStillHoldsIsNotExclusive) {
  at::Tensor theirs = at::zeros({2});
  const Tensor ours = FromTorch(theirs);
  EXPECT_FALSE(ours.Exclusive());
  theirs.reset();
  EXPECT_TRUE(ours.Exclusive());
}

TEST(Bridge, NoHistoryCrosses) {
  const Tensor leaf = tensor::Zeros({2}, tensor::kFloat).set_requires_grad(true);
  EXPECT_FALSE(AsTorch(leaf).requires_grad());
  const at::Tensor theirs = at::zeros({2}).requires_grad_(true);
  EXPECT_FALSE(FromTorch(theirs).requires_grad());
}

}  // namespace
}  // namespace tandem::libtorch

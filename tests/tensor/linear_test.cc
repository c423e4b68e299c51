#include "tensor/linear.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/backward_state.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/fused_only.h"
#include "tensor/inputs.h"
#include "tensor/isa/isa.h"
#include "tensor/ops.h"
#include "tensor/profile/profile.h"

namespace tandem::tensor {
namespace {

constexpr cpu::Type kFp32 = cpu::Type::kFloat;

Tensor Leaf(Inputs& make, const Shape& sizes) { return LeafOf(make.Make(sizes, 0.5), kFloat); }

Linear MakeLinear(uint64_t seed, int64_t out, int64_t in) {
  Inputs make(seed);
  const Tensor weight = Leaf(make, {out, in});
  return {{weight}, {Leaf(make, {out})}};
}

int64_t PacksDuring(const std::function<void()>& body) {
  Profile profile;
  {
    const ActiveProfile active(&profile);
    body();
  }
  for (const Profile::Operation& operation : profile.operations()) {
    if (operation.name == "pack weights") return operation.calls;
  }
  return 0;
}

TEST(Linear, PrepareMakesACopyOnceForEachVersionOfTheWeights) {
  Linear linear = MakeLinear(1, 48, 32);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kForward); }), 1);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kForward); }), 0);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kBoth); }), 1);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kBoth); }), 0);
  {
    const NoGradGuard no_gradient;
    Tensor weight = linear.weights()[0];
    weight.mul_(2);
  }
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kBoth); }), 2);
}

// Memory of another tensor has a version of its own, which may be the number of the old one.
TEST(Linear, WeightsThatGotOtherMemoryArePackedAgain) {
  Inputs make(17);
  const Tensor weight = make.Make({48, 32}, 1).to(kFloat),
               other = make.Make({48, 32}, 1).to(kFloat);
  Linear linear({weight}, {});
  linear.Prepare(kFp32, Passes::kForward);
  ASSERT_EQ(weight.version(), other.version());
  weight.set_data(other);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kForward); }), 1);
}

// What a message says of the missing copy; empty where nothing was thrown.
std::string MessageOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(Linear, APassThatWasNotPreparedIsRefused) {
  SKIP_UNLESS_FUSED();
  Linear linear = MakeLinear(2, 48, 32);
  const Tensor x = Ones({5, 32});
  const auto forward = [&] { Affine(x, linear); };
  EXPECT_EQ(MessageOf(forward),
            "a layer's weights are not packed for the forward pass in fp32; call Prepare first");
  linear.Prepare(kFp32, Passes::kForward);
  EXPECT_EQ(MessageOf(forward), "");
  {
    const NoGradGuard no_gradient;
    Tensor weight = linear.weights()[0];
    weight.mul_(2);
  }
  EXPECT_EQ(MessageOf(forward),
            "a layer's weights are newer than those that were packed for the forward pass in fp32; "
            "call Prepare first");
  linear.Prepare(kFp32, Passes::kForward);
  {
    const NoGradGuard no_gradient;
    Tensor bias = linear.biases()[0];
    bias.mul_(2);
  }
  EXPECT_EQ(MessageOf(forward), "a layer's biases are newer than its last Prepare");
  linear.Prepare(kFp32, Passes::kForward);
  const Tensor out = Affine(x, linear).out;
  EXPECT_EQ(MessageOf([&] { Sum(out).backward(); }),
            "a layer's weights are not packed for the backward pass in fp32; call Prepare first");
}

TEST(Linear, PrepareFreesTheCopiesOfThePassThatItLeavesOut) {
  Linear linear = MakeLinear(3, 48, 32);
  linear.Prepare(kFp32, Passes::kBoth);
  linear.Prepare(kFp32, Passes::kBackward);
  EXPECT_NO_THROW(linear.Backward(kFp32));
  EXPECT_THROW(linear.Forward(kFp32), std::logic_error);
  linear.Prepare(kFp32, Passes::kForward);
  EXPECT_NO_THROW(linear.Forward(kFp32));
  EXPECT_THROW(linear.Backward(kFp32), std::logic_error);
}

// Frozen bf16 weights, one below the other in separate memory, are packed as their floats are.
TEST(Linear, FrozenWeightsArePackedFromTheTypeThatTheyAreStoredIn) {
  Inputs make(11);
  const Tensor x = make.Make({9, 32}, 1).to(kFloat);
  std::vector<Tensor> floats, stored, halves;
  for (const int64_t rows : {48, 16, 112}) {
    stored.push_back(make.Make({rows, 32}, 0.5).to(kBFloat16));
    floats.push_back(stored.back().to(kFloat));
    halves.push_back(stored.back().to(kHalf));
  }
  halves[1] = floats[1];  // of several types
  for (const cpu::Type type : {kFp32, cpu::Type::kBf16}) {
    if (type == cpu::Type::kBf16 && CurrentIsa() < Isa::kAvx512) continue;  // no products of bf16
    const Tensor rows = type == kFp32 ? x : x.to(kBFloat16);
    std::vector<Tensor> outs, gradients;
    for (const auto& weights : {floats, stored, halves}) {
      Linear linear(weights, {});
      EXPECT_EQ(linear.weights()[2].data_ptr(), weights[2].data_ptr());
      linear.Prepare(type, Passes::kBoth);
      const Tensor leaf = rows.clone().set_requires_grad(true);
      outs.push_back(Affine(leaf, linear).out);
      const Tensor floats_of_out = outs.back().to(kFloat);
      Sum(Mul(floats_of_out, floats_of_out)).backward();
      gradients.push_back(leaf.grad());
    }
    EXPECT_TRUE(SameBytes(outs[1], outs[0]));
    EXPECT_TRUE(SameBytes(gradients[1], gradients[0]));
    EXPECT_TRUE(AllClose(outs[2], outs[0], 1e-2, 1e-3));
  }
}

TEST(Linear, FrozenWeightsHaveNoGradients) {
  Inputs make(12);
  const Linear frozen({make.Make({32, 32}, 1).to(kFloat)}, {make.Make({32}, 1).to(kFloat)});
  const LinearSums sums(frozen);
  EXPECT_FALSE(sums.weight.defined());
  EXPECT_FALSE(sums.bias.defined());
  std::vector<Tensor> gradients;
  sums.AppendTo(frozen, &gradients);
  EXPECT_EQ(gradients.size(), 2);
}

TEST(Linear, MapsOfTheSameFrozenMemoryShareTheirCopies) {
  Inputs make(13);
  const Tensor weight = make.Make({48, 32}, 1).to(kFloat);
  Linear one({weight}, {}), other({weight}, {});
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFp32, Passes::kForward); }), 1);
  EXPECT_EQ(PacksDuring([&] { other.Prepare(kFp32, Passes::kForward); }), 0);
  EXPECT_EQ(&one.Forward(kFp32), &other.Forward(kFp32));
  one.Prepare(kFp32, Passes::kBackward);
  EXPECT_NO_THROW(other.Forward(kFp32));
}

TEST(Linear, SharedCopiesAreOfOnePassAndOneVersion) {
  Inputs make(15);
  Tensor weight = make.Make({32, 32}, 1).to(kFloat);
  Linear one({weight}, {}), other({weight}, {});
  other.Prepare(kFp32, Passes::kForward);
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFp32, Passes::kBoth); }), 1);
  EXPECT_NE(&one.Backward(kFp32), &other.Forward(kFp32));
  weight.mul_(2);
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFp32, Passes::kForward); }), 1);
}

// Merged into the weights, and beside them: without AdapterDropout nothing is dropped.
TEST(Linear, AnAdapterThatChangedIsPackedAgain) {
  Inputs make(16);
  const NoGradGuard no_gradient;
  const Tensor x = make.Make({5, 32}, 1).to(kFloat);
  for (const double dropout : {0.0, 0.5}) {
    Linear linear({make.Make({48, 32}, 1).to(kFloat)}, {});
    Tensor a = Leaf(make, {4, 32}), b = Leaf(make, {48, 4});
    linear.Adapt({.down = {a}, .up = {b}, .scale = 2, .dropout = dropout});
    for (Tensor* changes : {&a, &b, &b}) {
      linear.Prepare(kFp32, Passes::kForward);
      const Tensor want = Add(ProductTransposed(x, linear.weights()[0]),
                              Mul(ProductTransposed(ProductTransposed(x, a), b), 2));
      EXPECT_TRUE(AllClose(Affine(x, linear).out, want, 1e-4, 1e-4)) << dropout;
      changes->mul_(-3);
    }
  }
}

TEST(Linear, WeightsOfEightBitsAreForForwardPasses) {
  SKIP_UNLESS_FUSED();
  constexpr auto kInt8 = cpu::Multiplier::kInt8;
  const Tensor x = Inputs(31).Make({37, 32}, 1).to(kFloat);
  Linear linear = MakeLinear(32, 48, 32);
  EXPECT_THROW(linear.Prepare(kFp32, Passes::kBoth, kInt8), std::logic_error);
  linear.Prepare(kFp32, Passes::kForward);
  const Tensor wanted = Affine(x, linear).out.detach();
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kForward, kInt8); }), 1);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kForward, kInt8); }), 0);
  const Tensor rounded = Affine(x, linear).out;
  EXPECT_LT(RelativeErrorOf(rounded, wanted), 0.02);
  EXPECT_FALSE(SameBytes(rounded, wanted));
  EXPECT_EQ(MessageOf([&] { Sum(rounded).backward(); }),
            "a layer's weights are not packed for the backward pass in int8; call Prepare first");
  linear.Prepare(kFp32, Passes::kForward);
  EXPECT_TRUE(SameBytes(Affine(x, linear).out, wanted));
}

TEST(Linear, FrozenWeightsShareTheirCopiesByPrecision) {
  const Tensor weight = Inputs(33).Make({48, 32}, 1).to(kFloat);
  Linear one({weight}, {}), other({weight}, {});
  one.Prepare(kFp32, Passes::kForward);
  other.Prepare(kFp32, Passes::kForward, cpu::Multiplier::kInt8);
  EXPECT_EQ(one.Forward(kFp32).multiplier(), cpu::Multiplier::kFastest);
  EXPECT_EQ(other.Forward(kFp32).multiplier(), cpu::Multiplier::kInt8);
}

TEST(Linear, AnAdapterIsMergedIntoWeightsOfEightBits) {
  SKIP_UNLESS_FUSED();
  Inputs make(34);
  const NoGradGuard no_gradient;
  const Tensor x = make.Make({21, 32}, 1).to(kFloat);
  Linear linear({make.Make({48, 32}, 1).to(kFloat)}, {});
  const Tensor a = Leaf(make, {4, 32}), b = Leaf(make, {48, 4});
  linear.Adapt({.down = {a}, .up = {b}, .scale = 2});
  const Tensor merged = Add(linear.weights()[0], Mul(Product(b, a), 2));
  for (const auto type : {kFloat, kBFloat16}) {
    linear.Prepare(type == kFloat ? kFp32 : cpu::Type::kBf16, Passes::kForward,
                   cpu::Multiplier::kInt8);
    EXPECT_FALSE(linear.AdaptsBeside(x.to(type)));
    const Tensor found = Affine(x.to(type), linear).out.to(kFloat);
    EXPECT_LT(RelativeErrorOf(found, ProductTransposed(x, merged)), 0.02);
  }
}

TEST(Linear, CopiesOfEightBitsThatAreMadeOnUseAreTheSame) {
  SKIP_UNLESS_FUSED();
  Inputs make(35);
  const Tensor x = make.Make({21, 32}, 1).to(kFloat);
  const Tensor weight = make.Make({48, 32}, 1).to(kFloat);
  Linear kept({weight}, {}), made({weight.clone()}, {});
  made.PackOnUse(std::make_shared<PackBuffers>(), 1);
  made.Prepare(kFp32, Passes::kForward);
  const Tensor fp32 = Affine(x, made).out;
  kept.Prepare(kFp32, Passes::kForward, cpu::Multiplier::kInt8);
  made.Prepare(kFp32, Passes::kForward, cpu::Multiplier::kInt8);
  EXPECT_TRUE(SameBytes(Affine(x, made).out, Affine(x, kept).out));
  EXPECT_FALSE(SameBytes(Affine(x, made).out, fp32));
}

// A weight of 1 in bf16 has no room for what the adapter adds: W + B A would be W.
TEST(Linear, Bf16WeightsDoNotRoundTheirAdapterAway) {
  if (CurrentIsa() < Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  const NoGradGuard no_gradient;
  const Tensor weight = Ones({32, 32});  // of signs by which the product of W and 1 is 0
  for (int64_t i = 0; i < weight.numel(); ++i) {
    if (i % 32 < 16) weight.data_ptr<float>()[i] = -1;
  }
  Linear linear({weight}, {});
  linear.Adapt({.down = {Ones({1, 32})}, .up = {Ones({32, 1})}, .scale = 0x1p-10});
  const Tensor x = Ones({3, 32}).to(kBFloat16);
  EXPECT_TRUE(linear.AdaptsBeside(x));
  EXPECT_FALSE(linear.AdaptsBeside(x.to(kFloat)));
  linear.Prepare(cpu::Type::kBf16, Passes::kForward);
  EXPECT_TRUE(SameBytes(Affine(x, linear).out.to(kFloat), Full({3, 32}, 0x1p-5, kFloat)));
}

// The rows of x as an adapter at `site` reads them.
Tensor Dropped(const Tensor& x, uint32_t site) {
  return AdapterDropout::Drop(x, {.dropout = 0.25, .site = site});
}

TEST(AdapterDropout, FollowsSeedStepAndSite) {
  Inputs make(17);
  const PackedTokens tokens = make.Tokens({7, 30}, 9);
  const Tensor x = Ones({37, 64});
  EXPECT_TRUE(SameBytes(Dropped(x, 3), x));  // outside of training
  const auto read = [&](uint64_t seed, uint64_t step, uint32_t site) {
    const AdapterDropout dropout(tokens, seed, step);
    return Dropped(x, site);
  };
  const Tensor some = read(4, 9, 3);
  EXPECT_TRUE(SameBytes(some, read(4, 9, 3)));
  for (const Tensor& other : {read(5, 9, 3), read(4, 8, 3), read(4, 9, 2)}) {
    EXPECT_FALSE(SameBytes(some, other));
  }
  const std::vector<float> values = ValuesOf<float>(some);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / (37 * 64), 1, 0.05);
  EXPECT_EQ(*std::ranges::max_element(values), 1 / 0.75F);
  EXPECT_EQ(*std::ranges::min_element(values), 0);
}

TEST(Linear, CopiesThatAreMadeOnUseAreMadeAgainForAnotherMap) {
  Inputs make(14);
  const auto frozen = [&] { return Linear({make.Make({48, 32}, 1).to(kFloat)}, {}); };
  Linear one = frozen(), other = frozen(), apart = frozen();
  const auto buffers = std::make_shared<PackBuffers>();
  one.PackOnUse(buffers, 1);
  other.PackOnUse(buffers, 1);
  apart.PackOnUse(buffers, 2);
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFp32, Passes::kBoth); }), 0);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFp32); }), 1);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFp32); }), 0);
  EXPECT_EQ(PacksDuring([&] { apart.Forward(kFp32); }), 1);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFp32); }), 0);
  EXPECT_EQ(PacksDuring([&] { one.Backward(kFp32); }), 1);
  EXPECT_EQ(PacksDuring([&] { other.Forward(kFp32); }), 1);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFp32); }), 1);
  std::thread([&] { EXPECT_NE(&one.Forward(kFp32), nullptr); }).join();
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFp32); }), 0);
}

// All operations with weights, one after the other.
struct LinearLayer {
  LinearLayer()
      : make(4),
        map({Leaf(make, {32, 32})}, {Leaf(make, {32})}),
        mixed({Leaf(make, {32, 32})}, {Leaf(make, {32})}),
        up({Leaf(make, {64, 32})}, {Leaf(make, {64})}),
        down({Leaf(make, {32, 64})}, {Leaf(make, {32})}) {
    for (Linear* linear : {&map, &mixed, &up, &down}) linear->Prepare(kFp32, Passes::kBoth);
  }

  Tensor Run(const Tensor& x, const PackedTokens& tokens) const {
    const LayerNorm norm{Ones({32}), Zeros({32}, kFloat), 1e-12};
    const AffineResult mapped = Affine(x, map);
    const Tensor normed = AffineNorm(mapped.out, mapped.x, mixed, norm, tokens, {});
    return FeedForwardNorm(normed, up, down, Activation::kGelu, norm, tokens, {});
  }

  Inputs make;
  Linear map, mixed, up, down;
};

// A backward pass holds what it needs of a layer, and lets it go when it has run.
TEST(Linear, ABackwardPassMayOutliveItsLayer) {
  Inputs make(5);
  const PackedTokens tokens = make.Tokens({7, 30}, 9);
  const Tensor x = make.Make({37, 32}, 1).to(kFloat);
  std::vector<Tensor> gradients;
  for (const bool ends_before : {false, true}) {
    auto layer = std::make_unique<LinearLayer>();
    const Tensor leaf = x.clone().set_requires_grad(true);
    Tensor out = layer->Run(leaf, tokens);
    const StorageRef weight = layer->up.weights()[0].storage();
    if (ends_before) layer.reset();
    EXPECT_FALSE(weight.unique());
    Sum(Mul(out, out)).backward();
    gradients.push_back(leaf.grad());
    layer.reset();
    out.reset();
    EXPECT_TRUE(weight.unique());
  }
  EXPECT_TRUE(SameBytes(gradients[0], gradients[1]));
}

TEST(Linear, SeveralThreadsMayPrepareAndUseIt) {
  Linear linear = MakeLinear(6, 96, 64);
  Inputs make(7);
  const Tensor x = make.Make({200, 64}, 1).to(kFloat);
  linear.Prepare(kFp32, Passes::kForward);
  const Tensor want = Affine(x, linear).out.detach();
  std::vector<Tensor> found(4);
  std::vector<std::thread> threads;
  for (Tensor& out : found) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        linear.Prepare(kFp32, Passes::kForward);
        out = Affine(x, linear).out.detach();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& out : found) EXPECT_TRUE(SameBytes(out, want));
}

// Reference operations read the weights themselves.
TEST(Linear, WeightsThatKernelsCannotTakeNeedNoCopies) {
  Linear linear = MakeLinear(8, 20, 24);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFp32, Passes::kBoth); }), 0);
  EXPECT_EQ(Affine(Ones({3, 24}), linear).out.size(1), 20);
}

}  // namespace
}  // namespace tandem::tensor

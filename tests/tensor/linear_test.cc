#include "tensor/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tensor/backward_state.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/fused_only.h"
#include "tensor/inputs.h"
#include "tensor/isa/isa.h"
#include "tensor/ops.h"
#include "tensor/profile/profile.h"

namespace tandem::tensor {
namespace {

constexpr cpu::Type kFloat = cpu::Type::kFloat;

at::Tensor Leaf(Inputs& make, at::IntArrayRef sizes) {
  return make.Make(sizes, 0.5).to(at::kFloat).requires_grad_(true);
}

Linear MakeLinear(uint64_t seed, int64_t out, int64_t in) {
  Inputs make(seed);
  const at::Tensor weight = Leaf(make, {out, in});
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
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kForward); }), 1);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kForward); }), 0);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kBoth); }), 1);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kBoth); }), 0);
  {
    const at::NoGradGuard no_gradient;
    at::Tensor weight = linear.weights()[0];
    weight.mul_(2);
  }
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kBoth); }), 2);
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
  const at::Tensor x = at::ones({5, 32});
  const auto forward = [&] { Affine(x, linear); };
  EXPECT_EQ(MessageOf(forward),
            "a layer's weights are not packed for the forward pass in fp32; call Prepare first");
  linear.Prepare(kFloat, Passes::kForward);
  EXPECT_EQ(MessageOf(forward), "");
  {
    const at::NoGradGuard no_gradient;
    at::Tensor weight = linear.weights()[0];
    weight.mul_(2);
  }
  EXPECT_EQ(MessageOf(forward),
            "a layer's weights are newer than those that were packed for the forward pass in fp32; "
            "call Prepare first");
  linear.Prepare(kFloat, Passes::kForward);
  {
    const at::NoGradGuard no_gradient;
    at::Tensor bias = linear.biases()[0];
    bias.mul_(2);
  }
  EXPECT_EQ(MessageOf(forward), "a layer's biases are newer than its last Prepare");
  linear.Prepare(kFloat, Passes::kForward);
  const at::Tensor out = Affine(x, linear).out;
  EXPECT_EQ(MessageOf([&] { out.sum().backward(); }),
            "a layer's weights are not packed for the backward pass in fp32; call Prepare first");
}

TEST(Linear, PrepareFreesTheCopiesOfThePassThatItLeavesOut) {
  Linear linear = MakeLinear(3, 48, 32);
  linear.Prepare(kFloat, Passes::kBoth);
  linear.Prepare(kFloat, Passes::kBackward);
  EXPECT_NO_THROW(linear.Backward(kFloat));
  EXPECT_THROW(linear.Forward(kFloat), std::logic_error);
  linear.Prepare(kFloat, Passes::kForward);
  EXPECT_NO_THROW(linear.Forward(kFloat));
  EXPECT_THROW(linear.Backward(kFloat), std::logic_error);
}

// Frozen bf16 weights, one below the other in separate memory, are packed as their floats are.
TEST(Linear, FrozenWeightsArePackedFromTheTypeThatTheyAreStoredIn) {
  Inputs make(11);
  const at::Tensor x = make.Make({9, 32}, 1).to(at::kFloat);
  std::vector<at::Tensor> floats, stored, halves;
  for (const int64_t rows : {48, 16, 112}) {
    stored.push_back(make.Make({rows, 32}, 0.5).to(at::kBFloat16));
    floats.push_back(stored.back().to(at::kFloat));
    halves.push_back(stored.back().to(at::kHalf));
  }
  halves[1] = floats[1];  // of several types
  for (const cpu::Type type : {kFloat, cpu::Type::kBf16}) {
    if (type == cpu::Type::kBf16 && CurrentIsa() < Isa::kAvx512) continue;  // no products of bf16
    const at::Tensor rows = type == kFloat ? x : x.to(at::kBFloat16);
    std::vector<at::Tensor> outs, gradients;
    for (const auto& weights : {floats, stored, halves}) {
      Linear linear(weights, {});
      EXPECT_EQ(linear.weights()[2].data_ptr(), weights[2].data_ptr());
      linear.Prepare(type, Passes::kBoth);
      const at::Tensor leaf = rows.clone().requires_grad_(true);
      outs.push_back(Affine(leaf, linear).out);
      at::sum(outs.back().to(at::kFloat) * outs.back().to(at::kFloat)).backward();
      gradients.push_back(leaf.grad());
    }
    EXPECT_TRUE(outs[1].equal(outs[0]));
    EXPECT_TRUE(gradients[1].equal(gradients[0]));
    EXPECT_TRUE(outs[2].to(at::kFloat).allclose(outs[0].to(at::kFloat), 1e-2, 1e-3));
  }
}

TEST(Linear, FrozenWeightsHaveNoGradients) {
  Inputs make(12);
  const Linear frozen({make.Make({32, 32}, 1).to(at::kFloat)}, {make.Make({32}, 1).to(at::kFloat)});
  const LinearSums sums(frozen);
  EXPECT_FALSE(sums.weight.defined());
  EXPECT_FALSE(sums.bias.defined());
  std::vector<at::Tensor> gradients;
  sums.AppendTo(frozen, &gradients);
  EXPECT_EQ(gradients.size(), 2);
}

TEST(Linear, MapsOfTheSameFrozenMemoryShareTheirCopies) {
  Inputs make(13);
  const at::Tensor weight = make.Make({48, 32}, 1).to(at::kFloat);
  Linear one({weight}, {}), other({weight}, {});
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFloat, Passes::kForward); }), 1);
  EXPECT_EQ(PacksDuring([&] { other.Prepare(kFloat, Passes::kForward); }), 0);
  EXPECT_EQ(&one.Forward(kFloat), &other.Forward(kFloat));
  one.Prepare(kFloat, Passes::kBackward);
  EXPECT_NO_THROW(other.Forward(kFloat));
}

TEST(Linear, SharedCopiesAreOfOnePassAndOneVersion) {
  Inputs make(15);
  at::Tensor weight = make.Make({32, 32}, 1).to(at::kFloat);
  Linear one({weight}, {}), other({weight}, {});
  other.Prepare(kFloat, Passes::kForward);
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFloat, Passes::kBoth); }), 1);
  EXPECT_NE(&one.Backward(kFloat), &other.Forward(kFloat));
  weight.mul_(2);
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFloat, Passes::kForward); }), 1);
}

// Merged into the weights, and beside them: without AdapterDropout nothing is dropped.
TEST(Linear, AnAdapterThatChangedIsPackedAgain) {
  Inputs make(16);
  const at::NoGradGuard no_gradient;
  const at::Tensor x = make.Make({5, 32}, 1).to(at::kFloat);
  for (const double dropout : {0.0, 0.5}) {
    Linear linear({make.Make({48, 32}, 1).to(at::kFloat)}, {});
    at::Tensor a = Leaf(make, {4, 32}), b = Leaf(make, {48, 4});
    linear.Adapt({.down = {a}, .up = {b}, .scale = 2, .dropout = dropout});
    for (at::Tensor* changes : {&a, &b, &b}) {
      linear.Prepare(kFloat, Passes::kForward);
      const at::Tensor want =
          at::matmul(x, linear.weights()[0].t()) + at::matmul(at::matmul(x, a.t()), b.t()) * 2;
      EXPECT_TRUE(Affine(x, linear).out.allclose(want, 1e-4, 1e-4)) << dropout;
      changes->mul_(-3);
    }
  }
}

double RelativeErrorOf(const at::Tensor& found, const at::Tensor& wanted) {
  const at::NoGradGuard no_gradient;
  return ((found - wanted).norm() / wanted.norm()).item<double>();
}

TEST(Linear, WeightsOfEightBitsAreForForwardPasses) {
  SKIP_UNLESS_FUSED();
  constexpr auto kInt8 = cpu::Multiplier::kInt8;
  const at::Tensor x = Inputs(31).Make({37, 32}, 1).to(at::kFloat);
  Linear linear = MakeLinear(32, 48, 32);
  EXPECT_THROW(linear.Prepare(kFloat, Passes::kBoth, kInt8), std::logic_error);
  linear.Prepare(kFloat, Passes::kForward);
  const at::Tensor wanted = Affine(x, linear).out.detach();
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kForward, kInt8); }), 1);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kForward, kInt8); }), 0);
  const at::Tensor rounded = Affine(x, linear).out;
  EXPECT_LT(RelativeErrorOf(rounded, wanted), 0.02);
  EXPECT_FALSE(rounded.equal(wanted));
  EXPECT_EQ(MessageOf([&] { rounded.sum().backward(); }),
            "a layer's weights are not packed for the backward pass in int8; call Prepare first");
  linear.Prepare(kFloat, Passes::kForward);
  EXPECT_TRUE(Affine(x, linear).out.equal(wanted));
}

TEST(Linear, FrozenWeightsShareTheirCopiesByPrecision) {
  const at::Tensor weight = Inputs(33).Make({48, 32}, 1).to(at::kFloat);
  Linear one({weight}, {}), other({weight}, {});
  one.Prepare(kFloat, Passes::kForward);
  other.Prepare(kFloat, Passes::kForward, cpu::Multiplier::kInt8);
  EXPECT_EQ(one.Forward(kFloat).multiplier(), cpu::Multiplier::kFastest);
  EXPECT_EQ(other.Forward(kFloat).multiplier(), cpu::Multiplier::kInt8);
}

TEST(Linear, AnAdapterIsMergedIntoWeightsOfEightBits) {
  SKIP_UNLESS_FUSED();
  Inputs make(34);
  const at::NoGradGuard no_gradient;
  const at::Tensor x = make.Make({21, 32}, 1).to(at::kFloat);
  Linear linear({make.Make({48, 32}, 1).to(at::kFloat)}, {});
  const at::Tensor a = Leaf(make, {4, 32}), b = Leaf(make, {48, 4});
  linear.Adapt({.down = {a}, .up = {b}, .scale = 2});
  const at::Tensor merged = linear.weights()[0] + at::matmul(b, a) * 2;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    linear.Prepare(type == at::kFloat ? kFloat : cpu::Type::kBf16, Passes::kForward,
                   cpu::Multiplier::kInt8);
    EXPECT_FALSE(linear.AdaptsBeside(x.to(type)));
    const at::Tensor found = Affine(x.to(type), linear).out.to(at::kFloat);
    EXPECT_LT(RelativeErrorOf(found, at::matmul(x, merged.t())), 0.02);
  }
}

TEST(Linear, CopiesOfEightBitsThatAreMadeOnUseAreTheSame) {
  SKIP_UNLESS_FUSED();
  Inputs make(35);
  const at::Tensor x = make.Make({21, 32}, 1).to(at::kFloat);
  const at::Tensor weight = make.Make({48, 32}, 1).to(at::kFloat);
  Linear kept({weight}, {}), made({weight.clone()}, {});
  made.PackOnUse(std::make_shared<PackBuffers>(), 1);
  made.Prepare(kFloat, Passes::kForward);
  const at::Tensor fp32 = Affine(x, made).out;
  kept.Prepare(kFloat, Passes::kForward, cpu::Multiplier::kInt8);
  made.Prepare(kFloat, Passes::kForward, cpu::Multiplier::kInt8);
  EXPECT_TRUE(Affine(x, made).out.equal(Affine(x, kept).out));
  EXPECT_FALSE(Affine(x, made).out.equal(fp32));
}

// A weight of 1 in bf16 has no room for what the adapter adds: W + B A would be W.
TEST(Linear, Bf16WeightsDoNotRoundTheirAdapterAway) {
  if (CurrentIsa() < Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  const at::NoGradGuard no_gradient;
  at::Tensor weight = at::ones({32, 32});
  weight.narrow(1, 0, 16).neg_();  // so that the product of W and 1 is 0
  Linear linear({weight}, {});
  linear.Adapt({.down = {at::ones({1, 32})}, .up = {at::ones({32, 1})}, .scale = 0x1p-10});
  const at::Tensor x = at::ones({3, 32}).to(at::kBFloat16);
  EXPECT_TRUE(linear.AdaptsBeside(x));
  EXPECT_FALSE(linear.AdaptsBeside(x.to(at::kFloat)));
  linear.Prepare(cpu::Type::kBf16, Passes::kForward);
  EXPECT_TRUE(Affine(x, linear).out.to(at::kFloat).equal(at::ones({3, 32}) * 0x1p-5));
}

// The rows of x as an adapter at `site` reads them.
at::Tensor Dropped(const at::Tensor& x, uint32_t site) {
  return AdapterDropout::Drop(x, {.dropout = 0.25, .site = site});
}

TEST(AdapterDropout, FollowsSeedStepAndSite) {
  Inputs make(17);
  const PackedTokens tokens = make.Tokens({7, 30}, 9);
  const at::Tensor x = at::ones({37, 64});
  EXPECT_TRUE(Dropped(x, 3).equal(x));  // outside of training
  const auto read = [&](uint64_t seed, uint64_t step, uint32_t site) {
    const AdapterDropout dropout(tokens, seed, step);
    return Dropped(x, site);
  };
  const at::Tensor some = read(4, 9, 3);
  EXPECT_TRUE(some.equal(read(4, 9, 3)));
  for (const at::Tensor& other : {read(5, 9, 3), read(4, 8, 3), read(4, 9, 2)}) {
    EXPECT_FALSE(some.equal(other));
  }
  EXPECT_NEAR(some.mean().item<double>(), 1, 0.05);
  EXPECT_EQ(some.max().item<float>(), 1 / 0.75F);
  EXPECT_EQ(some.min().item<float>(), 0);
}

TEST(Linear, CopiesThatAreMadeOnUseAreMadeAgainForAnotherMap) {
  Inputs make(14);
  const auto frozen = [&] { return Linear({make.Make({48, 32}, 1).to(at::kFloat)}, {}); };
  Linear one = frozen(), other = frozen(), apart = frozen();
  const auto buffers = std::make_shared<PackBuffers>();
  one.PackOnUse(buffers, 1);
  other.PackOnUse(buffers, 1);
  apart.PackOnUse(buffers, 2);
  EXPECT_EQ(PacksDuring([&] { one.Prepare(kFloat, Passes::kBoth); }), 0);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFloat); }), 1);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFloat); }), 0);
  EXPECT_EQ(PacksDuring([&] { apart.Forward(kFloat); }), 1);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFloat); }), 0);
  EXPECT_EQ(PacksDuring([&] { one.Backward(kFloat); }), 1);
  EXPECT_EQ(PacksDuring([&] { other.Forward(kFloat); }), 1);
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFloat); }), 1);
  std::thread([&] { EXPECT_NE(&one.Forward(kFloat), nullptr); }).join();
  EXPECT_EQ(PacksDuring([&] { one.Forward(kFloat); }), 0);
}

// All operations with weights, one after the other.
struct LinearLayer {
  LinearLayer()
      : make(4),
        map({Leaf(make, {32, 32})}, {Leaf(make, {32})}),
        mixed({Leaf(make, {32, 32})}, {Leaf(make, {32})}),
        up({Leaf(make, {64, 32})}, {Leaf(make, {64})}),
        down({Leaf(make, {32, 64})}, {Leaf(make, {32})}) {
    for (Linear* linear : {&map, &mixed, &up, &down}) linear->Prepare(kFloat, Passes::kBoth);
  }

  at::Tensor Run(const at::Tensor& x, const PackedTokens& tokens) const {
    const LayerNorm norm{at::ones({32}), at::zeros({32}), 1e-12};
    const AffineResult mapped = Affine(x, map);
    const at::Tensor normed = AffineNorm(mapped.out, mapped.x, mixed, norm, tokens, {});
    return FeedForwardNorm(normed, up, down, Activation::kGelu, norm, tokens, {});
  }

  Inputs make;
  Linear map, mixed, up, down;
};

// A backward pass holds what it needs of a layer, and lets it go when it has run.
TEST(Linear, ABackwardPassMayOutliveItsLayer) {
  Inputs make(5);
  const PackedTokens tokens = make.Tokens({7, 30}, 9);
  const at::Tensor x = make.Make({37, 32}, 1).to(at::kFloat);
  std::vector<at::Tensor> gradients;
  for (const bool ends_before : {false, true}) {
    auto layer = std::make_unique<LinearLayer>();
    const at::Tensor leaf = x.clone().requires_grad_(true);
    at::Tensor out = layer->Run(leaf, tokens);
    const c10::weak_intrusive_ptr<c10::TensorImpl> weight(layer->up.weights()[0].getIntrusivePtr());
    if (ends_before) layer.reset();
    EXPECT_FALSE(weight.expired());
    at::sum(out * out).backward();
    gradients.push_back(leaf.grad());
    layer.reset();
    out.reset();
    EXPECT_TRUE(weight.expired());
  }
  EXPECT_TRUE(at::equal(gradients[0], gradients[1]));
}

TEST(Linear, SeveralThreadsMayPrepareAndUseIt) {
  Linear linear = MakeLinear(6, 96, 64);
  Inputs make(7);
  const at::Tensor x = make.Make({200, 64}, 1).to(at::kFloat);
  linear.Prepare(kFloat, Passes::kForward);
  const at::Tensor want = Affine(x, linear).out.detach();
  std::vector<at::Tensor> found(4);
  std::vector<std::thread> threads;
  for (at::Tensor& out : found) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        linear.Prepare(kFloat, Passes::kForward);
        out = Affine(x, linear).out.detach();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const at::Tensor& out : found) EXPECT_TRUE(at::equal(out, want));
}

// Reference operations read the weights themselves.
TEST(Linear, WeightsThatKernelsCannotTakeNeedNoCopies) {
  Linear linear = MakeLinear(8, 20, 24);
  EXPECT_EQ(PacksDuring([&] { linear.Prepare(kFloat, Passes::kBoth); }), 0);
  EXPECT_EQ(Affine(at::ones({3, 24}), linear).out.size(1), 20);
}

}  // namespace
}  // namespace tandem::tensor

// What a layer that normalises what it reads promises: the same rows whatever threads, neighbours
// and frozen weights there are; nothing hidden at the ends of the range.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/captured_messages.h"
#include "tensor/arithmetic.h"
#include "tensor/backward_state.h"
#include "tensor/core/parallel.h"
#include "tensor/fused_only.h"
#include "tensor/inputs.h"
#include "tensor/ops.h"

namespace tandem::tensor {
namespace {

using Tensors = std::vector<Tensor>;

// A pre-norm encoder layer without attention.
struct ResidualLayer {
  explicit ResidualLayer(int64_t width, int64_t inner, DType type, double scale = 0.3)
      : make(20), scale_of_weights(scale) {
    norm = {.kind = Norm::Kind::kRms, .gamma = Leaf({width}), .epsilon = 1e-6};
    norm_of_heads = {.kind = Norm::Kind::kLayerNorm, .gamma = Leaf({16})};
    mix = Linear({Leaf({width, width})}, {});
    feed_forward = {.norm = norm,
                    .up = Linear({Leaf({inner, width}), Leaf({inner, width})}, {}),
                    .down = Linear({Leaf({width, inner})}, {}),
                    .activation = Activation::kSilu,
                    .gated = true,
                    .out_norm = {.kind = Norm::Kind::kRmsPlusOne, .gamma = Leaf({width})}};
    for (Linear* linear : {&mix, &feed_forward.up, &feed_forward.down}) {
      linear->Prepare(type == kFloat ? cpu::Type::kFloat : cpu::Type::kBf16, Passes::kBoth);
    }
  }

  Tensor Leaf(const Shape& sizes) { return LeafOf(make.Make(sizes, scale_of_weights), kFloat); }
  Tensor Run(const Tensor& x, const PackedTokens& tokens, double rate) const {
    const auto drop = [rate](uint32_t site) {
      return Dropout{.rate = rate, .seed = 3, .step = 1, .site = site};
    };
    const AffineResult mapped = NormAffine(x, norm, mix);
    const int64_t heads = x.size(1) / 48;
    const Tensor turned = RotateHeads(mapped.out, tokens, {heads, heads, 16}, norm_of_heads, {},
                                      RotaryOf(16, kFloat));
    const Tensor added = AffineAdd(turned, mapped.x, mix, {}, tokens, drop(1));
    return FeedForwardAdd(added, feed_forward, tokens, drop(2), drop(3));
  }

  Inputs make;
  double scale_of_weights;
  Norm norm, norm_of_heads;
  Linear mix = Linear({Zeros({1, 1}, kFloat)}, {});
  FeedForward feed_forward = {.norm = {}, .up = mix, .down = mix, .out_norm = {}};
};

std::vector<DType> Types() {
  std::vector<DType> types;
  for (const Case& c : Cases()) types.push_back(c.activation);
  return types;
}

// A row's bytes and its gradient's do not depend on how many threads there are.
TEST(ResidualLayers, AnyNumberOfThreadsGivesTheSameRows) {
  SKIP_UNLESS_FUSED();
  const int usual = ThreadCount();
  for (const DType type : Types()) {
    const ResidualLayer layer(96, 160, type);
    Inputs make(21);
    const PackedTokens tokens = make.Tokens({300, 1, 77, 190}, 9);
    const Tensor x = make.Make({568, 96}, 1).to(type);
    Tensor out, grad;
    for (const int threads : {1, 2, 3}) {
      SetThreadCount(threads);
      const Tensor leaf = LeafOf(x);
      const Tensor got = layer.Run(leaf, tokens, 0.1);
      got.backward(x);
      if (threads == 1) {
        out = got.detach();
        grad = leaf.grad();
      } else {
        EXPECT_TRUE(SameBytes(got.detach(), out)) << threads << " threads, " << Name(type);
        EXPECT_TRUE(SameBytes(leaf.grad(), grad)) << threads << " threads, " << Name(type);
      }
    }
  }
  SetThreadCount(usual);
}

TEST(ResidualLayers, ATextDoesNotSeeItsNeighbours) {
  SKIP_UNLESS_FUSED();
  for (const DType type : Types()) {
    const ResidualLayer layer(96, 160, type);
    Inputs make(22);
    const Tensor a = make.Make({7, 96}, 1).to(type), b = make.Make({150, 96}, 1).to(type);
    const Tensor alone = layer.Run(a, make.Tokens({7}, 9), 0);
    const Tensor behind = layer.Run(Cat({b, a}), make.Tokens({150, 7}, 9), 0);
    EXPECT_TRUE(SameBytes(alone.detach(), behind.detach().narrow(0, 150, 7))) << Name(type);
  }
}

TEST(ResidualLayers, TheSameThreadCountGivesTheSameGradients) {
  for (const DType type : Types()) {
    Tensors first;
    for (int attempt = 0; attempt < 2; ++attempt) {
      const ResidualLayer layer(96, 160, type);
      Inputs make(23);
      const Tensor x = make.Make({200, 96}, 1).to(type);
      Sum(layer.Run(x, make.Tokens({199, 1}, 9), 0.1)).backward();
      Tensors gradients = {layer.norm.gamma.grad(), layer.feed_forward.out_norm.gamma.grad()};
      for (const Linear* linear : {&layer.mix, &layer.feed_forward.up, &layer.feed_forward.down}) {
        for (const Tensor& weight : linear->weights()) gradients.push_back(weight.grad());
      }
      if (attempt == 0) first = gradients;
      for (size_t i = 0; i < gradients.size(); ++i) {
        EXPECT_TRUE(SameBytes(gradients[i], first[i])) << i << ", " << Name(type);
      }
    }
  }
}

// A weight that is not trained has no gradient, and the activations' gradients are the same bytes.
TEST(ResidualLayers, WeightsThatAreNotTrainedGetNoGradient) {
  for (const DType type : Types()) {
    Tensors gradients;
    for (const bool trained : {true, false}) {
      const ResidualLayer layer(96, 160, type);
      const Linear* linears[] = {&layer.mix, &layer.feed_forward.up, &layer.feed_forward.down};
      for (const Linear* linear : linears) {
        for (const Tensor& weight : linear->weights()) weight.set_requires_grad(trained);
      }
      Inputs make(24);
      const PackedTokens tokens = make.Tokens({300}, 9);
      const Tensor x = LeafOf(make.Make({300, 96}, 1), type);
      Sum(layer.Run(x, tokens, 0.1)).backward();
      gradients.push_back(x.grad());
      for (const Linear* linear : linears) {
        for (const Tensor& weight : linear->weights()) {
          EXPECT_EQ(weight.grad().defined(), trained);
        }
        EXPECT_EQ(LinearSums(*linear).weight.defined(), trained);
      }
    }
    EXPECT_TRUE(SameBytes(gradients[0], gradients[1])) << Name(type);
  }
}

// A NaN or an infinity in one row shows in that row's output and gradient, and nowhere else; rows
// of large numbers stay finite.
TEST(ResidualLayers, NansAndLargeNumbersStayInTheirRow) {
  for (const DType type : Types()) {
    const ResidualLayer layer(96, 160, type);
    for (const float value : {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), 1e15F, -1e15F}) {
      Inputs make(25);
      const PackedTokens tokens = make.Tokens({40}, 9);
      const Tensor x = make.Make({40, 96}, 1).to(type);
      x[17][3].fill_(double{value});
      x.set_requires_grad(true);
      const Tensor out = layer.Run(x, tokens, 0);
      Sum(out).backward();
      for (const Tensor& array : {out.detach(), x.grad()}) {
        for (int64_t row = 0; row < 40; ++row) {
          const bool finite = std::ranges::all_of(
              DoublesOf(array[row]), [](double number) { return std::isfinite(number); });
          EXPECT_EQ(finite, row != 17 || std::fabs(value) < 1e30F)
              << "row " << row << ", " << value << ", " << Name(type);
        }
      }
    }
  }
}

TEST(ResidualLayers, AShapeThatNoKernelTakesIsSaidOnce) {
  SKIP_UNLESS_FUSED();
  const CapturedMessages messages;
  Inputs make(26);
  const PackedTokens tokens = make.Tokens({3}, 9);
  const Tensor x = make.Make({3, 50}, 1).to(kFloat);
  const Norm norm{.kind = Norm::Kind::kRms, .gamma = make.Make({50}, 1).to(kFloat)};
  for (int i = 0; i < 2; ++i) Normalize(x, norm, tokens, {});
  EXPECT_EQ(messages.text(),
            "Normalize runs in its slow reference form: 50 channels are not a multiple of 16 up to "
            "32768\n");
}

}  // namespace
}  // namespace tandem::tensor

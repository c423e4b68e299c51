// That the portable operations read no tensor's memory: what computes on tensors of the device
// `meta`, which have shapes and, as seen from the host, no memory, reads none.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libtorch/bridge.h"
#include "libtorch/operations/arguments.h"
#include "libtorch/operations/portable_ops.h"
#include "tensor/inputs.h"

namespace tandem::libtorch {
namespace {

using portable::Dropout;
using portable::Linear;
using portable::Norm;

at::Tensor OnMeta(const at::Tensor& x) { return x.defined() ? x.to(at::kMeta) : x; }

portable::Tokens TokensOnMeta() {
  const tensor::PackedTokens packed = tensor::Inputs(4).Tokens({5, 17, 1, 40}, 23);
  portable::Tokens tokens = TokensOf(packed);
  tokens.classes = std::make_shared<const LengthClasses>(tokens.sequence_starts, at::kMeta);
  for (at::Tensor portable::Tokens::*part :
       {&portable::Tokens::ids, &portable::Tokens::positions, &portable::Tokens::types,
        &portable::Tokens::sequence_starts, &portable::Tokens::row_keys}) {
    tokens.*part = OnMeta(tokens.*part);
  }
  tokens.prompt_tokens = at::empty({4}, at::TensorOptions(at::kInt).device(at::kMeta));
  return tokens;
}

class PortableOnMeta : public testing::Test {
 protected:
  using Norms = tensor::Norm::Kind;

  at::Tensor Leaf(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
    leaves_.push_back(
        at::empty(sizes, at::TensorOptions(type).device(at::kMeta)).requires_grad_(true));
    return leaves_.back();
  }
  at::Tensor Frozen(at::IntArrayRef sizes) {
    return at::empty(sizes, at::TensorOptions(at::kFloat).device(at::kMeta));
  }
  Norm LeafNorm(Norms kind) {
    return {kind, Leaf({32}), kind == Norms::kLayerNorm ? Leaf({32}) : at::Tensor()};
  }
  // A map for activations of `type`.
  static Linear Map(at::ScalarType type, std::vector<at::Tensor> weights,
                    std::vector<at::Tensor> biases) {
    const auto stacked = [type](const std::vector<at::Tensor>& parts) {
      return parts.empty() ? at::Tensor() : at::cat(parts).detach().to(type);
    };
    Linear map{.weight = stacked(weights), .bias = stacked(biases)};
    map.weights = std::move(weights);
    map.biases = std::move(biases);
    return map;
  }
  Dropout Drop(uint32_t site) const { return {.rate = 0.1, .seed = 1, .step = 2, .site = site}; }
  // Every leaf must have got a gradient of its shape.
  void ExpectBackward(const at::Tensor& out, at::IntArrayRef sizes) {
    EXPECT_TRUE(out.is_meta());
    EXPECT_EQ(out.sizes(), sizes);
    out.sum().backward();
    for (const at::Tensor& leaf : leaves_) {
      ASSERT_TRUE(leaf.grad().defined());
      EXPECT_EQ(leaf.grad().sizes(), leaf.sizes());
    }
    leaves_.clear();
  }

  portable::Tokens tokens_ = TokensOnMeta();
  std::vector<at::Tensor> leaves_;
};

TEST_F(PortableOnMeta, Embeddings) {
  const portable::Tables tables{Leaf({64, 32}), Leaf({2, 32})};
  ExpectBackward(portable::EmbeddingNorm(Leaf({63, 32}), tokens_, tables,
                                         LeafNorm(Norms::kLayerNorm), Drop(1), at::kBFloat16),
                 {63, 32});
  EXPECT_EQ(portable::Embed(Frozen({63, 32}), tokens_, tables, 2, Drop(1), at::kHalf).sizes(),
            (std::vector<int64_t>{63, 32}));
}

TEST_F(PortableOnMeta, PostNormLayer) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = Leaf({63, 32}, type);
    const Linear map = Map(type, {Leaf({32, 32}), Leaf({32, 32}), Leaf({32, 32})},
                           {Leaf({32}), Leaf({32}), Leaf({32})});
    const Linear out = Map(type, {Leaf({32, 32})}, {Leaf({32})});
    const Linear up = Map(type, {Leaf({64, 32})}, {Leaf({64})});
    const Linear down = Map(type, {Leaf({32, 64})}, {Leaf({32})});
    const at::Tensor mixed = portable::Attention(portable::Affine(x, map), tokens_, {2, 2, 16},
                                                 {.scale = 0.25}, {}, Drop(1));
    const Norm norm = LeafNorm(Norms::kLayerNorm), last{Norms::kLayerNorm, Leaf({32})};
    const at::Tensor attended = portable::AffineNorm(mixed, x, out, norm, tokens_, Drop(2));
    const at::Tensor rows = portable::FeedForwardNorm(
        attended, up, down, portable::Activation::kGelu, last, tokens_, Drop(3));
    EXPECT_EQ(rows.scalar_type(), type);
    ExpectBackward(rows, {63, 32});
  }
}

TEST_F(PortableOnMeta, PreNormLayerWithEveryRule) {
  constexpr at::ScalarType kType = at::kBFloat16;
  const at::Tensor x = Leaf({63, 32}, kType);
  Linear map = Map(kType, {Leaf({64, 32})}, {});
  map.adapter = portable::Adapter{.down = {Leaf({4, 32})},
                                  .up = {Leaf({64, 4})},
                                  .scale = 2,
                                  .dropout = Drop(6),
                                  .row_keys = tokens_.row_keys};
  const Linear out = Map(kType, {Leaf({32, 32})}, {});
  const at::Tensor mapped = portable::NormAffine(x, LeafNorm(Norms::kRms), map);
  const portable::HeadShape shape{2, 1, 16};
  const Norm head_norm{Norms::kRmsPlusOne, Leaf({16})};
  const at::Tensor turned = portable::RotateHeads(mapped, tokens_, shape, head_norm, {},
                                                  {Frozen({64, 8}), Frozen({64, 8})});
  const at::Tensor mixed = portable::Attention(
      turned, tokens_, shape, {.scale = 0.2, .causal = true, .window = 9, .soft_cap = 30},
      {Leaf({32, 2}), 128}, Drop(1));
  const at::Tensor attended =
      portable::AffineAdd(mixed, x, out, LeafNorm(Norms::kLayerNorm), tokens_, Drop(2));
  const portable::FeedForward layer{.norm = LeafNorm(Norms::kRms),
                                    .up = Map(kType, {Leaf({128, 32})}, {}),
                                    .down = Map(kType, {Leaf({32, 64})}, {}),
                                    .activation = portable::Activation::kSilu,
                                    .gated = true,
                                    .out_norm = LeafNorm(Norms::kRmsPlusOne)};
  const at::Tensor rows = portable::FeedForwardAdd(attended, layer, tokens_, Drop(3), Drop(4));
  ExpectBackward(portable::Normalize(rows, LeafNorm(Norms::kLayerNorm), tokens_, Drop(5)),
                 {63, 32});
}

TEST_F(PortableOnMeta, Pooling) {
  using portable::Pooling;
  for (const Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLastToken, Pooling::kMax,
                                Pooling::kMeanSqrtLen, Pooling::kWeightedMean}) {
    const at::Tensor x = Leaf({63, 32}, at::kBFloat16);
    ExpectBackward(portable::NormalizeRows(portable::Pool(x, tokens_, pooling)), {4, 32});
  }
}

}  // namespace
}  // namespace tandem::libtorch

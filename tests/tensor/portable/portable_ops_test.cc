// What the portable operations are made of: masks, classes of lengths, pieces of attention; and
// that they read no tensor's memory.
#include "tensor/portable/portable_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tensor/inputs.h"
#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/attention_problem.h"
#include "tensor/low_rank.h"
#include "tensor/portable/length_classes.h"
#include "tensor/portable/portable_dropout.h"
#include "tensor/row_gradient.h"

namespace tandem::tensor {
namespace {

std::vector<int64_t> Longs(const at::Tensor& x) {
  const at::Tensor longs = x.to(at::kLong).contiguous();
  return {longs.data_ptr<int64_t>(), longs.data_ptr<int64_t>() + longs.numel()};
}

TEST(PortableDropout, DropsWhatTheKernelsDrop) {
  const PackedTokens tokens = Inputs(1).Tokens({3, 40, 1}, 9);
  const auto* keys = tokens.row_keys.data_ptr<int64_t>();
  for (const Dropout& dropout :
       {Dropout{.rate = 0.1, .seed = 42, .step = 7, .site = 3},
        Dropout{.rate = 0.5, .seed = ~uint64_t{0}, .step = uint64_t{1} << 63, .site = ~0U}}) {
    for (const int64_t width : {1, 16, 31, 32, 48, 400}) {
      const at::Tensor rows = portable::Dropped(tokens.row_keys, width, dropout);
      const at::Tensor heads =
          portable::DroppedOfHeads(tokens.row_keys.view({2, 22}), 3, width, dropout);
      ASSERT_EQ(heads.sizes(), (std::vector<int64_t>{2, 3, 22, width}));
      for (int64_t row = 0; row < 44; ++row) {
        for (int64_t channel = 0; channel < width; ++channel) {
          const auto dropped = [&](uint32_t part) {
            const uint64_t key = RowKey(SiteKey(dropout, part), static_cast<uint64_t>(keys[row]));
            return ChannelBits(key, static_cast<uint32_t>(channel)) < KeepThreshold(dropout.rate);
          };
          ASSERT_EQ(rows[row][channel].item<bool>(), dropped(0)) << row << ", " << channel;
          const uint32_t head = static_cast<uint32_t>(row) % 3;
          ASSERT_EQ(heads[row / 22][head][row % 22][channel].item<bool>(), dropped(head + 1));
        }
      }
    }
  }
}

TEST(LengthClasses, EveryRowHasOnePlaceAndPaddingRepeatsItsText) {
  for (const std::vector<int64_t>& lengths :
       std::vector<std::vector<int64_t>>{{1}, {8}, {9, 8, 7, 300, 1, 100, 112, 113, 9}}) {
    const PackedTokens tokens = Inputs(2).Tokens(lengths, 9);
    const auto classes = tokens.length_classes();
    const std::vector<int64_t> rows = Longs(classes->rows()), places = Longs(classes->places());
    const std::vector<int64_t> padding = Longs(classes->padding());
    const std::vector<int64_t> starts = Longs(tokens.sequence_starts);
    const std::vector<int64_t> order = Longs(classes->texts());
    ASSERT_EQ(places.size(), static_cast<size_t>(tokens.tokens()));
    for (size_t row = 0; row < places.size(); ++row) {
      const auto place = static_cast<size_t>(places[row]);
      EXPECT_EQ(rows[place], static_cast<int64_t>(row));
      EXPECT_FALSE(padding[place]);
    }
    EXPECT_EQ(std::count(padding.begin(), padding.end(), 0), tokens.tokens());
    int64_t longest = 0;
    for (const LengthClasses::Class& texts : classes->classes()) {
      bool padded = false;
      for (int64_t i = 0; i < texts.texts; ++i) {
        const auto text = static_cast<size_t>(order[static_cast<size_t>(texts.first_text + i)]);
        const int64_t length = lengths[text];
        EXPECT_GE(texts.length, length);
        EXPECT_LE(texts.length, std::max<int64_t>(length + 7, length * 5 / 4));
        padded = padded || length < texts.length;
        EXPECT_EQ(classes->text_places()[static_cast<int64_t>(text)].item<int64_t>(),
                  texts.first_text + i);
        for (int64_t p = 0; p < texts.length; ++p) {
          const auto place = static_cast<size_t>(texts.first_row + i * texts.length + p);
          EXPECT_EQ(rows[place], starts[text] + (p < length ? p : 0));
          EXPECT_EQ(padding[place], p >= length);
        }
      }
      EXPECT_EQ(texts.padded, padded);
      longest = std::max(longest, texts.length);
    }
    EXPECT_EQ(classes->longest(), longest);
    EXPECT_EQ(tokens.length_classes(), classes);  // made once
    // Each kept by itself: layers of a model may differ.
    for (const int64_t max_distance : {128, 20, 128}) {
      const at::Tensor buckets = classes->Buckets(32, max_distance);
      for (int64_t d = 1 - longest; d < longest; ++d) {
        EXPECT_EQ(buckets[d + longest - 1].item<int64_t>(), RelativeBucket(d, 32, max_distance));
      }
    }
  }
}

// However few scores are in memory at a time: single texts of a class, single queries of a text.
TEST(PortableAttention, PiecesOfAnySizeGiveTheSame) {
  const AttentionProblem problem({.lengths = {5, 30, 1, 29, 70, 31},
                                  .shape = {4, 2, 16},
                                  .rule = RuleOf(true, 20, 2),
                                  .buckets = 16,
                                  .dropout = 0.2});
  const AttentionResult want = RunReference(problem);
  for (const int64_t max_scores : {1, 500, 4 * 32 * 32, 2 * 4 * 32 * 32, 1 << 20}) {
    const at::Tensor qkv = AttentionLeaf(problem.qkv, at::kDouble);
    const at::Tensor table = AttentionLeaf(problem.table, at::kDouble);
    const at::Tensor out =
        portable::Attention(qkv, problem.tokens, problem.setting.shape, problem.setting.rule,
                            {table, problem.setting.max_distance}, problem.Drop(), max_scores);
    out.backward(problem.grad_out);
    EXPECT_LE(AttentionError(out, want.out), 1e-11) << max_scores;
    EXPECT_LE(AttentionError(qkv.grad(), want.grad_qkv), 1e-11) << max_scores;
    EXPECT_LE(AttentionError(table.grad(), want.grad_table), 1e-11) << max_scores;
  }
}

TEST(PortableOps, AWeightInAnotherTypeIsConvertedOnceUntilItChanges) {
  Inputs make(3);
  const at::Tensor weight = make.Make({16, 32}, 1).to(at::kFloat).requires_grad_(true);
  const Linear linear({weight}, {});
  const at::Tensor first = linear.WeightIn(at::kBFloat16);
  EXPECT_TRUE(linear.WeightIn(at::kBFloat16).is_same(first));
  EXPECT_TRUE(linear.WeightIn(at::kFloat).is_alias_of(weight));
  weight.detach().mul_(2);
  EXPECT_TRUE(at::equal(linear.WeightIn(at::kBFloat16), first * 2));
}

// bf16 activations, whose sums need more digits than bf16 has.
class PortableOnBf16 : public testing::Test {
 protected:
  at::Tensor Floats(at::IntArrayRef sizes, double scale) {
    return make_.Make(sizes, scale).to(at::kFloat);
  }
  at::Tensor Narrow() { return Floats({322, 32}, 1).to(at::kBFloat16); }
  static at::Tensor Wide(const at::Tensor& x) { return x.to(at::kFloat); }
  static void ExpectRounded(const at::Tensor& got, const at::Tensor& wide) {
    ASSERT_EQ(got.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::equal(got, wide.to(at::kBFloat16)));
  }

  Inputs make_ = Inputs(5);
  PackedTokens tokens_ = make_.Tokens({5, 300, 17}, 9);
};

TEST_F(PortableOnBf16, PoolsInFloat) {
  const at::Tensor x = Narrow();
  for (const Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLastToken, Pooling::kMax,
                                Pooling::kMeanSqrtLen, Pooling::kWeightedMean}) {
    const at::Tensor pooled = portable::Pool(x, tokens_, pooling);
    ASSERT_EQ(pooled.scalar_type(), at::kFloat);
    EXPECT_TRUE(at::equal(pooled, portable::Pool(Wide(x), tokens_, pooling)));
  }
}

TEST_F(PortableOnBf16, SumsRowsOfTablesInFloat) {
  const EmbeddingTables tables{Floats({9, 32}, 1), Floats({300, 32}, 1), Floats({2, 32}, 1)};
  ExpectRounded(portable::Embed(tokens_, tables, 3, {}, at::kBFloat16),
                portable::Embed(tokens_, tables, 3, {}, at::kFloat));
  const LayerNorm norm{Floats({32}, 1), Floats({32}, 1)};
  ExpectRounded(portable::EmbeddingNorm(tokens_, tables, norm, {}, at::kBFloat16),
                portable::EmbeddingNorm(tokens_, tables, norm, {}, at::kFloat));
}

// Only the products are bf16.
TEST_F(PortableOnBf16, AddsAndNormalisesInFloat) {
  if (CurrentIsa() < Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  const at::Tensor x = Narrow(), residual = Narrow();
  const Linear linear({Floats({32, 32}, 0.3)}, {Floats({32}, 0.5)});
  const LayerNorm layer_norm{Floats({32}, 1), Floats({32}, 1), 1e-6};
  const Norm norm{Norm::Kind::kLayerNorm, layer_norm.gamma, layer_norm.beta, layer_norm.epsilon};
  const auto normalised = [&](const at::Tensor& rows) {
    return portable::Normalize(rows, norm, tokens_, {});
  };
  const at::Tensor product = Wide(portable::Affine(x, linear));
  ExpectRounded(normalised(x), normalised(Wide(x)));
  ExpectRounded(portable::NormAffine(x, norm, linear),
                Wide(portable::Affine(normalised(Wide(x)).to(at::kBFloat16), linear)));
  ExpectRounded(portable::AffineNorm(x, residual, linear, layer_norm, tokens_, {}),
                normalised(Wide(residual) + product));
  ExpectRounded(portable::AffineAdd(x, residual, linear, norm, tokens_, {}),
                Wide(residual) + normalised(product));
}

TEST_F(PortableOnBf16, SumsTheGradientOfABiasInFloat) {
  if (CurrentIsa() < Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  const at::Tensor bias = Floats({32}, 0.5).requires_grad_(true), grad = Narrow();
  portable::Affine(Narrow(), Linear({Floats({32, 32}, 0.3)}, {bias})).backward(grad);
  EXPECT_TRUE(bias.grad().allclose(Wide(grad).sum(0), 1e-5, 1e-5));
}

// The bias adds less to a score of 64 than bf16 can: the next number is 64.5.
TEST_F(PortableOnBf16, AttentionMakesProbabilitiesInFloat) {
  if (CurrentIsa() < Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  AttentionProblem problem(
      {.lengths = {2}, .shape = {1, 1, 16}, .rule = {.scale = 1}, .buckets = 8});
  problem.qkv.narrow(1, 0, 32).fill_(2);  // scores of 16 channels, 4 each
  problem.table = 0.1 * problem.table;
  const AttentionResult want = RunReference(problem);
  const UsePortableOps portable;
  EXPECT_LE(AttentionError(RunAttention(problem, at::kBFloat16).out, want.out), 1e-2);
}

// Tensors of the device `meta` have shapes and no memory, as seen from the host. What computes on
// them reads none.
class PortableOnMeta : public testing::Test {
 protected:
  PortableOnMeta() : tokens_(Inputs(4).Tokens({5, 17, 1, 40}, 23).To(at::kMeta)) {
    tokens_.prompt_tokens = at::empty({4}, at::TensorOptions(at::kInt).device(at::kMeta));
  }
  at::Tensor Leaf(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
    leaves_.push_back(
        at::empty(sizes, at::TensorOptions(type).device(at::kMeta)).requires_grad_(true));
    return leaves_.back();
  }
  at::Tensor Frozen(at::IntArrayRef sizes) {
    return at::empty(sizes, at::TensorOptions(at::kFloat).device(at::kMeta));
  }
  Norm LeafNorm(Norm::Kind kind) {
    return {kind, Leaf({32}), kind == Norm::Kind::kLayerNorm ? Leaf({32}) : at::Tensor()};
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

  PackedTokens tokens_;
  std::vector<at::Tensor> leaves_;
};

TEST_F(PortableOnMeta, Embeddings) {
  const EmbeddingTables tables{Frozen({23, 32}), Leaf({64, 32}), Leaf({2, 32})};
  ExpectBackward(EmbeddingNorm(tokens_, tables, {Leaf({32}), Leaf({32})}, Drop(1), at::kBFloat16),
                 {63, 32});
  EXPECT_EQ(Embed(tokens_, tables, 2, Drop(1), at::kHalf).sizes(), (std::vector<int64_t>{63, 32}));
}

TEST_F(PortableOnMeta, PostNormLayer) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = Leaf({63, 32}, type);
    const Linear map({Leaf({32, 32}), Leaf({32, 32}), Leaf({32, 32})},
                     {Leaf({32}), Leaf({32}), Leaf({32})});
    const Linear out({Leaf({32, 32})}, {Leaf({32})});
    const Linear up({Leaf({64, 32})}, {Leaf({64})}), down({Leaf({32, 64})}, {Leaf({32})});
    const AffineResult mapped = Affine(x, map);
    const at::Tensor mixed = SelfAttention(mapped.out, tokens_, 2, Drop(1));
    const LayerNorm norm{Leaf({32}), Leaf({32})}, last{Leaf({32}), {}};
    const at::Tensor attended = AffineNorm(mixed, mapped.x, out, norm, tokens_, Drop(2));
    const at::Tensor rows =
        FeedForwardNorm(attended, up, down, Activation::kGelu, last, tokens_, Drop(3));
    EXPECT_EQ(rows.scalar_type(), type);
    ExpectBackward(rows, {63, 32});
  }
}

TEST_F(PortableOnMeta, PreNormLayerWithEveryRule) {
  const at::Tensor x = Leaf({63, 32}, at::kBFloat16);
  Linear map({Leaf({64, 32})}, {});
  map.Adapt({.down = {Leaf({4, 32})}, .up = {Leaf({64, 4})}, .scale = 2});
  const Linear out({Leaf({32, 32})}, {});
  const AffineResult mapped = NormAffine(x, LeafNorm(Norm::Kind::kRms), map);
  const HeadShape shape{2, 1, 16};
  const Rotary rotary{Frozen({64, 8}), Frozen({64, 8})};
  Norm head_norm{Norm::Kind::kRmsPlusOne, Leaf({16})};
  const at::Tensor turned = RotateHeads(mapped.out, tokens_, shape, head_norm, {}, rotary);
  const at::Tensor mixed =
      Attention(turned, tokens_, shape, {.scale = 0.2, .causal = true, .window = 9, .soft_cap = 30},
                {Leaf({32, 2}), 128}, Drop(1));
  const at::Tensor attended =
      AffineAdd(mixed, mapped.x, out, LeafNorm(Norm::Kind::kLayerNorm), tokens_, Drop(2));
  const FeedForward layer{.norm = LeafNorm(Norm::Kind::kRms),
                          .up = Linear({Leaf({128, 32})}, {}),
                          .down = Linear({Leaf({32, 64})}, {}),
                          .activation = Activation::kSilu,
                          .gated = true,
                          .out_norm = LeafNorm(Norm::Kind::kRmsPlusOne)};
  const at::Tensor rows = FeedForwardAdd(attended, layer, tokens_, Drop(3), Drop(4));
  ExpectBackward(Normalize(rows, LeafNorm(Norm::Kind::kLayerNorm), tokens_, Drop(5)), {63, 32});
}

TEST_F(PortableOnMeta, Pooling) {
  for (const Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLastToken, Pooling::kMax,
                                Pooling::kMeanSqrtLen, Pooling::kWeightedMean}) {
    const at::Tensor x = Leaf({63, 32}, at::kBFloat16);
    ExpectBackward(NormalizeRows(Pool(x, tokens_, pooling)), {4, 32});
  }
}

}  // namespace
}  // namespace tandem::tensor

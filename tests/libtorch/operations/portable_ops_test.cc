// What the portable operations are made of: masks, classes of lengths, pieces of attention; and how
// many digits they keep. Comparisons of all operations with their reference forms are in
// tests/tensor.
#include "libtorch/operations/portable_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "libtorch/bridge.h"
#include "libtorch/operations/arguments.h"
#include "libtorch/operations/length_classes.h"
#include "libtorch/operations/operations.h"
#include "libtorch/operations/portable_dropout.h"
#include "libtorch/traced.h"
#include "tensor/core/functions/functions.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/inputs.h"
#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/attention_problem.h"
#include "tensor/low_rank.h"

namespace tandem::libtorch {
namespace {

using tensor::Dropout;
using tensor::DType;
using tensor::Inputs;
using tensor::Tensor;

std::vector<int64_t> Longs(const at::Tensor& x) {
  const at::Tensor longs = x.to(at::kLong).contiguous();
  return {longs.data_ptr<int64_t>(), longs.data_ptr<int64_t>() + longs.numel()};
}

TEST(PortableDropout, DropsWhatTheKernelsDrop) {
  const tensor::PackedTokens tokens = Inputs(1).Tokens({3, 40, 1}, 9);
  const auto* keys = tokens.row_keys.data_ptr<int64_t>();
  const at::Tensor row_keys = AsTorch(tokens.row_keys);
  for (const Dropout& dropout :
       {Dropout{.rate = 0.1, .seed = 42, .step = 7, .site = 3},
        Dropout{.rate = 0.5, .seed = ~uint64_t{0}, .step = uint64_t{1} << 63, .site = ~0U}}) {
    for (const int64_t width : {1, 16, 31, 32, 48, 400}) {
      const at::Tensor rows = portable::Dropped(row_keys, width, dropout);
      const at::Tensor heads = portable::DroppedOfHeads(row_keys.view({2, 22}), 3, width, dropout);
      ASSERT_EQ(heads.sizes(), (std::vector<int64_t>{2, 3, 22, width}));
      for (int64_t row = 0; row < 44; ++row) {
        for (int64_t channel = 0; channel < width; ++channel) {
          const auto dropped = [&](uint32_t part) {
            const uint64_t key =
                tensor::RowKey(tensor::SiteKey(dropout, part), static_cast<uint64_t>(keys[row]));
            return tensor::ChannelBits(key, static_cast<uint32_t>(channel)) <
                   tensor::KeepThreshold(dropout.rate);
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
    const tensor::PackedTokens tokens = Inputs(2).Tokens(lengths, 9);
    const auto classes = TokensWithClasses(tokens).classes;
    const std::vector<int64_t> rows = Longs(classes->rows()), places = Longs(classes->places());
    const std::vector<int64_t> padding = Longs(classes->padding());
    const std::vector<int64_t> starts = Longs(AsTorch(tokens.sequence_starts));
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
    EXPECT_EQ(TokensWithClasses(tokens).classes, classes);  // made once
    // Each kept by itself: layers of a model may differ.
    for (const int64_t max_distance : {128, 20, 128}) {
      const at::Tensor buckets = classes->Buckets(32, max_distance);
      for (int64_t d = 1 - longest; d < longest; ++d) {
        EXPECT_EQ(buckets[d + longest - 1].item<int64_t>(),
                  tensor::RelativeBucket(d, 32, max_distance));
      }
    }
  }
}

TEST(LengthClasses, APackWithoutASlotHasThemToo) {
  tensor::PackedTokens tokens = Inputs(2).Tokens({3, 9}, 9);
  tokens.back_end_slot = nullptr;
  EXPECT_EQ(TokensWithClasses(tokens).classes->longest(), 16);
}

// However few scores are in memory at a time: single texts of a class, single queries of a text.
TEST(PortableAttention, PiecesOfAnySizeGiveTheSame) {
  const tensor::AttentionProblem problem({.lengths = {5, 30, 1, 29, 70, 31},
                                          .shape = {4, 2, 16},
                                          .rule = tensor::RuleOf(true, 20, 2),
                                          .buckets = 16,
                                          .dropout = 0.2});
  const tensor::AttentionSetting& setting = problem.setting;
  const tensor::AttentionResult want = tensor::RunReference(problem);
  for (const int64_t max_scores : {1, 500, 4 * 32 * 32, 2 * 4 * 32 * 32, 1 << 20}) {
    const Tensor qkv = tensor::AttentionLeaf(problem.qkv, tensor::kDouble);
    const Tensor table = tensor::AttentionLeaf(problem.table, tensor::kDouble);
    const Tensor out = Traced("Attention", {qkv, table}, [&](const std::vector<at::Tensor>& in) {
      return portable::Attention(in[0], TokensWithClasses(problem.tokens), setting.shape,
                                 setting.rule, {in[1], setting.max_distance}, problem.Drop(), {},
                                 max_scores);
    });
    out.backward(problem.grad_out);
    EXPECT_LE(tensor::Error(out, want.out), 1e-11) << max_scores;
    EXPECT_LE(tensor::Error(qkv.grad(), want.grad_qkv), 1e-11) << max_scores;
    EXPECT_LE(tensor::Error(table.grad(), want.grad_table), 1e-11) << max_scores;
  }
}

TEST(PortableOps, AWeightInAnotherTypeIsConvertedOnceUntilItChanges) {
  Inputs make(3);
  const Tensor weight = make.Make({16, 32}, 1).to(tensor::kFloat).set_requires_grad(true);
  const tensor::Linear linear({weight}, {});
  const Tensor first = linear.WeightIn(tensor::kBFloat16);
  EXPECT_TRUE(linear.WeightIn(tensor::kBFloat16).SharesStorage(first));
  EXPECT_TRUE(linear.WeightIn(tensor::kFloat).SharesStorage(weight));
  weight.detach().mul_(2);
  EXPECT_TRUE(tensor::SameBytes(linear.WeightIn(tensor::kBFloat16), tensor::Mul(first, 2)));
}

// The rows that A reads are dropped as AdapterDropout::Drop does on the processor.
TEST(PortableOps, AnAdapterReadsRowsWithItsDropout) {
  Inputs make(6);
  const tensor::PackedTokens tokens = make.Tokens({5, 12}, 9);
  const auto floats = [&](const tensor::Shape& shape) {
    return make.Make(shape, 1).to(tensor::kFloat);
  };
  tensor::Linear linear({floats({48, 32})}, {});
  linear.Adapt(
      {.down = {floats({4, 32})}, .up = {floats({48, 4})}, .scale = 2, .dropout = 0.5, .site = 7});
  const Tensor x = floats({17, 32});
  const Operations operations;
  const Tensor plain = operations.Affine(x, linear);
  const tensor::AdapterDropout dropout(tokens, 3, 4);
  const Tensor dropped = operations.Affine(x, linear);
  EXPECT_GT(tensor::LargestDifference(dropped, plain), 0.1);
  const tensor::Adapter& adapter = linear.low_rank()->adapter();
  const Tensor read = tensor::AdapterDropout::Drop(x, adapter);
  const Tensor low =
      tensor::ProductTransposed(tensor::ProductTransposed(read, adapter.down[0]), adapter.up[0]);
  const Tensor want = tensor::Add(operations.Affine(x, linear.Base()), tensor::Mul(low, 2));
  EXPECT_LE(tensor::LargestDifference(dropped, want), 1e-4);
}

TEST(PortableOps, AWordTableThatWantsAGradientIsALeaf) {
  Inputs make(7);
  const tensor::PackedTokens tokens = make.Tokens({5, 12}, 9);
  const Tensor leaf = make.Make({9, 16}, 1).set_requires_grad(true);
  const Operations operations;
  const Tensor out = operations.Embed(tokens, {.word = leaf}, 1, {}, tensor::kDouble);
  out.backward(make.Make(out.sizes(), 1));
  ASSERT_NE(leaf.row_grad(), nullptr);
  EXPECT_THROW(operations.Embed(tokens, {.word = tensor::Mul(leaf, 2)}, 1, {}, tensor::kDouble),
               std::logic_error);
}

// bf16 activations, whose sums need more digits than bf16 has.
class PortableOnBf16 : public testing::Test {
 protected:
  Tensor Floats(const tensor::Shape& sizes, double scale) {
    return make_.Make(sizes, scale).to(tensor::kFloat);
  }
  Tensor Narrow() { return Floats({322, 32}, 1).to(tensor::kBFloat16); }
  static Tensor Wide(const Tensor& x) { return x.to(tensor::kFloat); }
  static void ExpectRounded(const Tensor& got, const Tensor& wide) {
    ASSERT_EQ(got.dtype(), tensor::kBFloat16);
    EXPECT_TRUE(tensor::SameBytes(got, wide.to(tensor::kBFloat16)));
  }

  Inputs make_ = Inputs(5);
  tensor::PackedTokens tokens_ = make_.Tokens({5, 300, 17}, 9);
  Operations operations_;
};

TEST_F(PortableOnBf16, PoolsInFloat) {
  using tensor::Pooling;
  const Tensor x = Narrow();
  for (const Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLastToken, Pooling::kMax,
                                Pooling::kMeanSqrtLen, Pooling::kWeightedMean}) {
    const Tensor pooled = operations_.Pool(x, tokens_, pooling);
    ASSERT_EQ(pooled.dtype(), tensor::kFloat);
    EXPECT_TRUE(tensor::SameBytes(pooled, operations_.Pool(Wide(x), tokens_, pooling)));
  }
}

TEST_F(PortableOnBf16, SumsRowsOfTablesInFloat) {
  const tensor::EmbeddingTables tables{Floats({9, 32}, 1), Floats({300, 32}, 1),
                                       Floats({2, 32}, 1)};
  ExpectRounded(operations_.Embed(tokens_, tables, 3, {}, tensor::kBFloat16),
                operations_.Embed(tokens_, tables, 3, {}, tensor::kFloat));
  const tensor::LayerNorm norm{Floats({32}, 1), Floats({32}, 1)};
  ExpectRounded(operations_.EmbeddingNorm(tokens_, tables, norm, {}, tensor::kBFloat16),
                operations_.EmbeddingNorm(tokens_, tables, norm, {}, tensor::kFloat));
}

// Only the products are bf16.
TEST_F(PortableOnBf16, AddsAndNormalisesInFloat) {
  if (tensor::CurrentIsa() < tensor::Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  const Tensor x = Narrow(), residual = Narrow();
  const tensor::Linear linear({Floats({32, 32}, 0.3)}, {Floats({32}, 0.5)});
  const tensor::LayerNorm layer_norm{Floats({32}, 1), Floats({32}, 1), 1e-6};
  const tensor::Norm norm = NormOf(layer_norm);
  const auto normalised = [&](const Tensor& rows) {
    return operations_.Normalize(rows, norm, tokens_, {});
  };
  const Tensor product = Wide(operations_.Affine(x, linear));
  ExpectRounded(normalised(x), normalised(Wide(x)));
  ExpectRounded(operations_.NormAffine(x, norm, linear),
                Wide(operations_.Affine(normalised(Wide(x)).to(tensor::kBFloat16), linear)));
  ExpectRounded(operations_.AffineNorm(x, residual, linear, layer_norm, tokens_, {}),
                normalised(tensor::Add(Wide(residual), product)));
  ExpectRounded(operations_.AffineAdd(x, residual, linear, norm, tokens_, {}),
                tensor::Add(Wide(residual), normalised(product)));
}

TEST_F(PortableOnBf16, SumsTheGradientOfABiasInFloat) {
  if (tensor::CurrentIsa() < tensor::Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  const Tensor bias = Floats({32}, 0.5).set_requires_grad(true), grad = Narrow();
  operations_.Affine(Narrow(), tensor::Linear({Floats({32, 32}, 0.3)}, {bias})).backward(grad);
  const Tensor ones = tensor::Full({1, grad.size(0)}, 1, tensor::kFloat);
  EXPECT_TRUE(
      tensor::AllClose(bias.grad(), tensor::Product(ones, Wide(grad)).view({32}), 1e-5, 1e-5));
}

// The bias adds less to a score of 64 than bf16 can: the next number is 64.5.
TEST_F(PortableOnBf16, AttentionMakesProbabilitiesInFloat) {
  if (tensor::CurrentIsa() < tensor::Isa::kAvx512) GTEST_SKIP() << "no products of bf16";
  tensor::AttentionProblem problem(
      {.lengths = {2}, .shape = {1, 1, 16}, .rule = {.scale = 1}, .buckets = 8});
  for (int64_t token = 0; token < 2; ++token) {
    std::fill_n(problem.qkv[token].data_ptr<double>(), 32, 2.0);  // scores of 16 channels, 4 each
  }
  problem.table.mul_(0.1);
  const tensor::AttentionResult want = tensor::RunReference(problem);
  const tensor::UsePortableOps portable;
  EXPECT_LE(tensor::Error(tensor::RunAttention(problem, tensor::kBFloat16).out, want.out), 1e-2);
}

}  // namespace
}  // namespace tandem::libtorch

// Fused operations at the ends of their range: 10,000 tokens in one text, many random shapes, any
// number of threads. The everyday shapes are in ops_test.cc.
//
// Error = max|got - want| / max|want| for each array, against float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/core/parallel.h"
#include "tensor/inputs.h"
#include "tensor/ops.h"

namespace tandem::tensor {
namespace {

constexpr int64_t kLong = 10000;

double ErrorOfExtreme(const Tensor& got, const Tensor& want) {
  return LargestDifference(got, want) / LargestSize(want);
}

struct Gradient {
  Tensor out;
  Tensor grad_qkv;
};

// Rows of scores as probabilities, in their place.
void Softmax(const Tensor& scores) {
  const int64_t width = scores.size(1);
  for (int64_t row = 0; row < scores.size(0); ++row) {
    const std::span<double> values(scores.data_ptr<double>() + row * width,
                                   static_cast<size_t>(width));
    const double largest = *std::ranges::max_element(values);
    double sum = 0;
    for (double& value : values) sum += value = std::exp(value - largest);
    for (double& value : values) value /= sum;
  }
}

// p (grad_p - the sum of grad_out out) scale, row by row, in the place of grad_p.
void ScoreGradients(const Tensor& p, const Tensor& grad_out, const Tensor& out, double scale,
                    const Tensor& grad_p) {
  const int64_t keys = p.size(1), width = out.size(1);
  for (int64_t row = 0; row < p.size(0); ++row) {
    const double* grad = grad_out.data_ptr<double>() + row * width;
    const double mean =
        std::inner_product(grad, grad + width, out.data_ptr<double>() + row * width, 0.0);
    const double* share = p.data_ptr<double>() + row * keys;
    double* to = grad_p.data_ptr<double>() + row * keys;
    for (int64_t key = 0; key < keys; ++key) to[key] = share[key] * (to[key] - mean) * scale;
  }
}

// Attention of one head over one text in float64, a block of queries at a time: probabilities of
// the whole text would be 10^8 numbers.
Gradient AttentionByBlocks(const Tensor& qkv, const Tensor& grad_out) {
  const int64_t width = qkv.size(1) / 3, block = 500;
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const Tensor keys = Columns(qkv, width, width), values = Columns(qkv, 2 * width, width);
  const Tensor grad_keys = ZerosLike(keys), grad_values = ZerosLike(values);
  std::vector<Tensor> outs, grad_queries;
  for (int64_t first = 0; first < qkv.size(0); first += block) {
    const int64_t rows = std::min(block, qkv.size(0) - first);
    const Tensor queries = Columns(qkv.narrow(0, first, rows), 0, width);
    const Tensor grad = grad_out.narrow(0, first, rows);
    const Tensor p = Mul(ProductTransposed(queries, keys), scale);
    Softmax(p);
    outs.push_back(Product(p, values));
    const Tensor grad_scores = ProductTransposed(grad, values);
    ScoreGradients(p, grad, outs.back(), scale, grad_scores);
    grad_queries.push_back(Product(grad_scores, keys));
    grad_keys.add_(TransposedProduct(grad_scores, queries));
    grad_values.add_(TransposedProduct(p, grad));
  }
  return {Cat(outs), Cat({Cat(grad_queries), grad_keys, grad_values}, 1)};
}

TEST(ExtremeShapes, AttentionAndItsGradientOverTenThousandTokens) {
  Inputs make(1);
  const PackedTokens tokens = make.Tokens({kLong}, 9);
  // Wide enough that probabilities are far from equal.
  const Tensor qkv = make.Make({kLong, 48}, 3);
  const Tensor grad_out = make.Make({kLong, 16}, 1);
  const Gradient want = AttentionByBlocks(qkv, grad_out);
  for (const Case& c : Cases()) {
    const Tensor leaf = LeafOf(qkv, c.activation);
    const Tensor out = SelfAttention(leaf, tokens, 1, {});
    out.backward(grad_out.to(c.activation));
    EXPECT_LE(ErrorOfExtreme(out.detach(), want.out), c.bound) << Name(c.activation);
    for (int64_t part = 0; part < 3; ++part) {
      EXPECT_LE(ErrorOfExtreme(Columns(leaf.grad(), 16 * part, 16),
                               Columns(want.grad_qkv, 16 * part, 16)),
                c.bound)
          << "of queries, keys or values: " << part << ", " << Name(c.activation);
    }
  }
}

// An encoder layer without attention, over rows of which weight gradients are sums.
struct ExtremeLayer {
  explicit ExtremeLayer(DType parameters)
      : make(2),
        x(make.Make({kLong, 32}, 1)),
        map({Leaf({32, 32}, parameters)}, {Leaf({32}, parameters)}),
        up({Leaf({64, 32}, parameters)}, {Leaf({64}, parameters)}),
        down({Leaf({32, 64}, parameters)}, {Leaf({32}, parameters)}),
        norm{Leaf({32}, parameters), Leaf({32}, parameters), 1e-12} {}

  Tensor Leaf(const Shape& sizes, DType type) { return LeafOf(make.Make(sizes, 0.3), type); }
  std::vector<Tensor> Gradients() const {
    std::vector<Tensor> gradients;
    for (const Linear* linear : {&map, &up, &down}) {
      for (const Tensor& parameter : linear->parameters()) gradients.push_back(parameter.grad());
    }
    gradients.push_back(norm.gamma.grad());
    gradients.push_back(norm.beta.grad());
    return gradients;
  }

  // Output; parameters and `input` have their gradients afterwards.
  Tensor Run(const Tensor& input, const PackedTokens& tokens) {
    const Dropout dropout{.rate = 0.1, .seed = 5, .step = 1, .site = 1};
    for (Linear* linear : {&map, &up, &down}) linear->Prepare(KernelType(input), Passes::kBoth);
    const Tensor mixed = AffineNorm(input, input, map, norm, tokens, dropout);
    const Tensor out = FeedForwardNorm(mixed, up, down, Activation::kGelu, norm, tokens, dropout);
    out.backward(WeightsLike(out).to(kBFloat16).to(out.dtype()));
    return out.detach();
  }

  Inputs make;
  Tensor x;
  Linear map, up, down;
  LayerNorm norm;
};

TEST(ExtremeShapes, LayersOverTenThousandTokens) {
  const PackedTokens tokens = Inputs(3).Tokens({kLong}, 9);
  ExtremeLayer wide(kDouble);
  const Tensor wide_input = LeafOf(wide.x);
  Tensor want;
  {
    const UseReferenceOps reference_ops;
    want = wide.Run(wide_input, tokens);
  }
  for (const Case& c : Cases()) {
    ExtremeLayer layer(kFloat);
    const Tensor input = LeafOf(layer.x, c.activation);
    EXPECT_LE(ErrorOfExtreme(layer.Run(input, tokens), want), c.bound) << Name(c.activation);
    EXPECT_LE(ErrorOfExtreme(input.grad(), wide_input.grad()), c.bound) << Name(c.activation);
    const std::vector<Tensor> got = layer.Gradients(), reference = wide.Gradients();
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_LE(ErrorOfExtreme(got[i], reference[i]), c.bound)
          << "parameter " << i << ", " << Name(c.activation);
    }
  }
}

TEST(ExtremeShapes, AttentionOverManyRandomShapes) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Inputs make(100 + seed);
    const int64_t heads = make.Between(1, 5), width = 16 * make.Between(1, 8);
    std::vector<int64_t> lengths;
    for (int64_t text = make.Between(1, 6); text > 0; --text) {
      const int64_t kind = make.Between(0, 7);
      lengths.push_back(kind < 2 ? 1 : make.Between(1, kind < 7 ? 100 : 600));
    }
    const PackedTokens tokens = make.Tokens(lengths, 9);
    const Dropout dropout{.rate = seed % 2 == 0 ? 0.0 : 0.2, .seed = seed, .step = 3, .site = 2};
    const Tensor qkv = make.Make({tokens.tokens(), 3 * heads * width}, 1.5);
    const Tensor grad_out = make.Make({tokens.tokens(), heads * width}, 1);
    const auto run = [&](DType type) {
      const Tensor leaf = LeafOf(qkv, type);
      const Tensor out = SelfAttention(leaf, tokens, heads, dropout);
      out.backward(grad_out.to(type));
      return Gradient{out.detach(), leaf.grad()};
    };
    std::unique_ptr<UseReferenceOps> reference_ops = std::make_unique<UseReferenceOps>();
    const Gradient want = run(kDouble);
    reference_ops.reset();
    for (const Case& c : Cases()) {
      const Gradient got = run(c.activation);
      EXPECT_LE(ErrorOfExtreme(got.out, want.out), c.bound)
          << "seed " << seed << ", " << Name(c.activation);
      EXPECT_LE(ErrorOfExtreme(got.grad_qkv, want.grad_qkv), c.bound)
          << "seed " << seed << ", " << Name(c.activation);
    }
  }
}

// Dropout must not follow rows in memory or threads: another mask would be another result.
TEST(ExtremeShapes, AnyNumberOfThreadsGivesTheSameResult) {
  const int usual = ThreadCount();
  std::vector<int64_t> lengths;
  while (lengths.size() < 25) lengths.insert(lengths.end(), {700, 1, 17, 982, 300});
  const PackedTokens tokens = Inputs(3).Tokens(lengths, 9);
  ASSERT_EQ(tokens.tokens(), kLong);
  const Tensor qkv = Inputs(4).Make({kLong, 96}, 1).to(kFloat);
  const Tensor grad_out = Inputs(5).Make({kLong, 32}, 1).to(kFloat);
  Tensor attention, attention_grad, layer_out, layer_grad;
  for (const int threads : {1, 2, 3, 7}) {
    SetThreadCount(threads);
    const Tensor leaf = LeafOf(qkv);
    const Tensor out =
        SelfAttention(leaf, tokens, 2, {.rate = 0.1, .seed = 1, .step = 1, .site = 1});
    out.backward(grad_out);
    ExtremeLayer layer(kFloat);
    const Tensor input = LeafOf(layer.x, kFloat);
    const Tensor layer_result = layer.Run(input, tokens);
    if (threads == 1) {
      attention = out.detach();
      attention_grad = leaf.grad();
      layer_out = layer_result.to(kDouble);
      layer_grad = layer.Gradients().front().to(kDouble);
      continue;
    }
    EXPECT_TRUE(SameBytes(out.detach(), attention)) << threads << " threads";
    EXPECT_TRUE(SameBytes(leaf.grad(), attention_grad)) << threads << " threads";
    EXPECT_LE(ErrorOfExtreme(layer_result, layer_out), 1e-5) << threads << " threads";
    EXPECT_LE(ErrorOfExtreme(layer.Gradients().front(), layer_grad), 1e-5) << threads << " threads";
  }
  SetThreadCount(usual);
}

}  // namespace
}  // namespace tandem::tensor

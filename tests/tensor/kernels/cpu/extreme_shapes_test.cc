// Fused operations at the ends of their range: 10,000 tokens in one text, many random shapes, any
// number of threads. The everyday shapes are in ops_test.cc.
//
// Error = max|got - want| / max|want| for each array, against float64.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "tensor/inputs.h"
#include "tensor/ops.h"

namespace tandem::tensor {
namespace {

constexpr int64_t kLong = 10000;

double ErrorOfExtreme(const at::Tensor& got, const at::Tensor& want) {
  return (got.to(at::kDouble) - want).abs().max().item<double>() / want.abs().max().item<double>();
}

struct Gradient {
  at::Tensor out;
  at::Tensor grad_qkv;
};

// Attention of one head over one text in float64, a block of queries at a time: probabilities of
// the whole text would be 10^8 numbers.
Gradient AttentionByBlocks(const at::Tensor& qkv, const at::Tensor& grad_out) {
  const int64_t width = qkv.size(1) / 3, block = 500;
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const at::Tensor keys = qkv.narrow(1, width, width), values = qkv.narrow(1, 2 * width, width);
  Gradient result{at::empty({qkv.size(0), width}, at::kDouble), at::zeros_like(qkv)};
  for (int64_t first = 0; first < qkv.size(0); first += block) {
    const int64_t rows = std::min(block, qkv.size(0) - first);
    const at::Tensor queries = qkv.narrow(0, first, rows).narrow(1, 0, width);
    const at::Tensor grad = grad_out.narrow(0, first, rows);
    const at::Tensor p = at::softmax(at::matmul(queries, keys.t()) * scale, 1);
    const at::Tensor out = at::matmul(p, values);
    result.out.narrow(0, first, rows).copy_(out);
    const at::Tensor grad_scores =
        p * (at::matmul(grad, values.t()) - (grad * out).sum(1, true)) * scale;
    result.grad_qkv.narrow(0, first, rows).narrow(1, 0, width) += at::matmul(grad_scores, keys);
    result.grad_qkv.narrow(1, width, width) += at::matmul(grad_scores.t(), queries);
    result.grad_qkv.narrow(1, 2 * width, width) += at::matmul(p.t(), grad);
  }
  return result;
}

TEST(ExtremeShapes, AttentionAndItsGradientOverTenThousandTokens) {
  Inputs make(1);
  const PackedTokens tokens = make.Tokens({kLong}, 9);
  // Wide enough that probabilities are far from equal.
  const at::Tensor qkv = make.Make({kLong, 48}, 3);
  const at::Tensor grad_out = make.Make({kLong, 16}, 1);
  const Gradient want = AttentionByBlocks(qkv, grad_out);
  for (const Case& c : Cases()) {
    const at::Tensor leaf = qkv.to(c.activation).requires_grad_(true);
    const at::Tensor out = SelfAttention(leaf, tokens, 1, {});
    out.backward(grad_out.to(c.activation));
    EXPECT_LE(ErrorOfExtreme(out.detach(), want.out), c.bound) << c.activation;
    for (int64_t part = 0; part < 3; ++part) {
      EXPECT_LE(ErrorOfExtreme(leaf.grad().narrow(1, 16 * part, 16),
                               want.grad_qkv.narrow(1, 16 * part, 16)),
                c.bound)
          << "of queries, keys or values: " << part << ", " << c.activation;
    }
  }
}

// An encoder layer without attention, over rows of which weight gradients are sums.
struct ExtremeLayer {
  explicit ExtremeLayer(at::ScalarType parameters)
      : make(2),
        x(make.Make({kLong, 32}, 1)),
        map({Leaf({32, 32}, parameters)}, {Leaf({32}, parameters)}),
        up({Leaf({64, 32}, parameters)}, {Leaf({64}, parameters)}),
        down({Leaf({32, 64}, parameters)}, {Leaf({32}, parameters)}),
        norm{Leaf({32}, parameters), Leaf({32}, parameters), 1e-12} {}

  at::Tensor Leaf(at::IntArrayRef sizes, at::ScalarType type) {
    return make.Make(sizes, 0.3).to(type).requires_grad_(true);
  }
  std::vector<at::Tensor> Gradients() const {
    std::vector<at::Tensor> gradients;
    for (const Linear* linear : {&map, &up, &down}) {
      for (const at::Tensor& parameter : linear->parameters())
        gradients.push_back(parameter.grad());
    }
    gradients.push_back(norm.gamma.grad());
    gradients.push_back(norm.beta.grad());
    return gradients;
  }

  // Output; parameters and `input` have their gradients afterwards.
  at::Tensor Run(const at::Tensor& input, const PackedTokens& tokens) {
    const Dropout dropout{.rate = 0.1, .seed = 5, .step = 1, .site = 1};
    for (Linear* linear : {&map, &up, &down}) linear->Prepare(KernelType(input), Passes::kBoth);
    const at::Tensor mixed = AffineNorm(input, input, map, norm, tokens, dropout);
    const at::Tensor out =
        FeedForwardNorm(mixed, up, down, Activation::kGelu, norm, tokens, dropout);
    const at::Tensor weights = at::sin(at::arange(out.numel(), at::kDouble)).view(out.sizes());
    out.backward(weights.to(at::kBFloat16).to(out.scalar_type()));
    return out.detach();
  }

  Inputs make;
  at::Tensor x;
  Linear map, up, down;
  LayerNorm norm;
};

TEST(ExtremeShapes, LayersOverTenThousandTokens) {
  const PackedTokens tokens = Inputs(3).Tokens({kLong}, 9);
  ExtremeLayer wide(at::kDouble);
  const at::Tensor wide_input = wide.x.clone().requires_grad_(true);
  at::Tensor want;
  {
    const UseReferenceOps reference_ops;
    want = wide.Run(wide_input, tokens);
  }
  for (const Case& c : Cases()) {
    ExtremeLayer layer(at::kFloat);
    const at::Tensor input = layer.x.to(c.activation).requires_grad_(true);
    EXPECT_LE(ErrorOfExtreme(layer.Run(input, tokens), want), c.bound) << c.activation;
    EXPECT_LE(ErrorOfExtreme(input.grad(), wide_input.grad()), c.bound) << c.activation;
    const std::vector<at::Tensor> got = layer.Gradients(), reference = wide.Gradients();
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_LE(ErrorOfExtreme(got[i], reference[i]), c.bound)
          << "parameter " << i << ", " << c.activation;
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
    const at::Tensor qkv = make.Make({tokens.tokens(), 3 * heads * width}, 1.5);
    const at::Tensor grad_out = make.Make({tokens.tokens(), heads * width}, 1);
    const auto run = [&](at::ScalarType type) {
      const at::Tensor leaf = qkv.to(type, false, /*copy=*/true).requires_grad_(true);
      const at::Tensor out = SelfAttention(leaf, tokens, heads, dropout);
      out.backward(grad_out.to(type));
      return Gradient{out.detach(), leaf.grad()};
    };
    std::unique_ptr<UseReferenceOps> reference_ops = std::make_unique<UseReferenceOps>();
    const Gradient want = run(at::kDouble);
    reference_ops.reset();
    for (const Case& c : Cases()) {
      const Gradient got = run(c.activation);
      EXPECT_LE(ErrorOfExtreme(got.out, want.out), c.bound)
          << "seed " << seed << ", " << c.activation;
      EXPECT_LE(ErrorOfExtreme(got.grad_qkv, want.grad_qkv), c.bound)
          << "seed " << seed << ", " << c.activation;
    }
  }
}

// Dropout must not follow rows in memory or threads: another mask would be another result.
TEST(ExtremeShapes, AnyNumberOfThreadsGivesTheSameResult) {
  const int usual = at::get_num_threads();
  std::vector<int64_t> lengths;
  while (lengths.size() < 25) lengths.insert(lengths.end(), {700, 1, 17, 982, 300});
  const PackedTokens tokens = Inputs(3).Tokens(lengths, 9);
  ASSERT_EQ(tokens.tokens(), kLong);
  const at::Tensor qkv = Inputs(4).Make({kLong, 96}, 1).to(at::kFloat);
  const at::Tensor grad_out = Inputs(5).Make({kLong, 32}, 1).to(at::kFloat);
  at::Tensor attention, attention_grad, layer_out, layer_grad;
  for (const int threads : {1, 2, 3, 7}) {
    at::set_num_threads(threads);
    const at::Tensor leaf = qkv.clone().requires_grad_(true);
    const at::Tensor out =
        SelfAttention(leaf, tokens, 2, {.rate = 0.1, .seed = 1, .step = 1, .site = 1});
    out.backward(grad_out);
    ExtremeLayer layer(at::kFloat);
    const at::Tensor input = layer.x.to(at::kFloat).requires_grad_(true);
    const at::Tensor layer_result = layer.Run(input, tokens);
    if (threads == 1) {
      attention = out.detach();
      attention_grad = leaf.grad();
      layer_out = layer_result.to(at::kDouble);
      layer_grad = layer.Gradients().front().to(at::kDouble);
      continue;
    }
    EXPECT_TRUE(at::equal(out.detach(), attention)) << threads << " threads";
    EXPECT_TRUE(at::equal(leaf.grad(), attention_grad)) << threads << " threads";
    EXPECT_LE(ErrorOfExtreme(layer_result, layer_out), 1e-5) << threads << " threads";
    EXPECT_LE(ErrorOfExtreme(layer.Gradients().front(), layer_grad), 1e-5) << threads << " threads";
  }
  at::set_num_threads(usual);
}

}  // namespace
}  // namespace tandem::tensor

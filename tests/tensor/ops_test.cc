// Every fused and every portable operation against its reference form in float64: outputs and all
// gradients, with and without dropout, over texts of very different lengths.
//
// Error = max|got - want| / max(1, max|want|) for each array.
#include "tensor/ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "tensor/compare_forms.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/inputs.h"
#include "tensor/machine/process.h"

namespace tandem::tensor {
namespace {

// All threads of the machine, and the instruction set that TANDEM_ISA asks for.
class Machine : public testing::Environment {
 public:
  void SetUp() override {
    try {
      SetUpProcess(0);
    } catch (const UsageError& error) {
      if (std::getenv("TANDEM_ISA_MAY_BE_MISSING") == nullptr) throw;
      std::puts(error.what());
      std::exit(77);  // ctest counts it as skipped
    }
  }
};
const testing::Environment* const kMachine = testing::AddGlobalTestEnvironment(new Machine);

class OpsTest : public testing::TestWithParam<double> {
 protected:
  Dropout Drop(uint32_t site) const {
    return {.rate = GetParam(), .seed = 42, .step = 7, .site = site};
  }
};

TEST_P(OpsTest, Affine) {
  for (const Shape& shape : Shapes()) {
    Inputs make(1);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    ExpectFormsEqualReference(
        [&](const auto& in) {
          return tensor::Affine(in[0], PreparedFor(in[0], {in[1], in[2]}, {in[3], in[4]})).out;
        },
        {make.Make({tokens.tokens(), shape.hidden}, 1), make.Make({shape.inner, shape.hidden}, 0.1),
         make.Make({shape.hidden, shape.hidden}, 0.1), make.Make({shape.inner}, 0.5),
         make.Make({shape.hidden}, 0.5)},
        1);
  }
}

// What reads x besides adds its gradient, whether or not anything reads the product.
TEST_P(OpsTest, AffineBesideWhatElseReadsX) {
  for (const Shape& shape : Shapes()) {
    Inputs make(1);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    for (const bool reads_product : {true, false}) {
      ExpectFormsEqualReference(
          [&](const auto& in) {
            const AffineResult mapped = tensor::Affine(in[0], PreparedFor(in[0], {in[1]}, {in[2]}));
            const at::Tensor product = reads_product ? mapped.out : mapped.out.detach() + 0 * in[2];
            return at::cat({product + 0 * in[1].sum(), mapped.x * mapped.x}, 1);
          },
          {make.Make({tokens.tokens(), shape.hidden}, 1),
           make.Make({shape.inner, shape.hidden}, 0.1), make.Make({shape.inner}, 0.5)},
          1);
    }
  }
}

// The second of two stacked maps has an adapter: merged, or beside the weights under dropout.
TEST_P(OpsTest, AffineWithAnAdapter) {
  for (const Shape& shape : Shapes()) {
    Inputs make(7);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    ExpectFormsEqualReference(
        [&](const auto& in) {
          Linear linear({in[1], in[2]}, {});
          linear.Adapt({.down = {at::Tensor(), in[3]},
                        .up = {at::Tensor(), in[4]},
                        .scale = 2,
                        .dropout = GetParam(),
                        .site = 3});
          linear.Prepare(KernelType(in[0]), Passes::kBoth);
          const AdapterDropout dropout(tokens, 42, 7);
          return tensor::Affine(in[0], linear).out;
        },
        {make.Make({tokens.tokens(), shape.hidden}, 1), make.Make({shape.inner, shape.hidden}, 0.1),
         make.Make({shape.hidden, shape.hidden}, 0.1), make.Make({4, shape.hidden}, 0.3),
         make.Make({shape.hidden, 4}, 0.3)},
        1);
  }
}

TEST_P(OpsTest, AffineNorm) {
  for (const Shape& shape : Shapes()) {
    Inputs make(2);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    ExpectFormsEqualReference(
        [&](const auto& in) {
          const Linear linear = PreparedFor(in[0], {in[2]}, {in[3]});
          return tensor::AffineNorm(in[0], in[1], linear, {in[4], in[5], 1e-12}, tokens, Drop(3));
        },
        {make.Make({tokens.tokens(), shape.inner}, 1),
         make.Make({tokens.tokens(), shape.hidden}, 1), make.Make({shape.hidden, shape.inner}, 0.2),
         make.Make({shape.hidden}, 0.5), make.Make({shape.hidden}, 1),
         make.Make({shape.hidden}, 1)},
        2);
  }
}

// What was normalised is computed from the output where gamma allows it, and kept where it does
// not.
TEST_P(OpsTest, AffineNormWhateverGammaIs) {
  const Shape shape{{5, 1, 37, 12}, 4, 64, 96};
  Inputs make(6);
  const PackedTokens tokens = make.Tokens(shape.lengths, 9);
  const at::Tensor near_one = 1 + 0.2 * make.Make({shape.hidden}, 1);
  at::Tensor with_zero = near_one.clone();
  with_zero[3] = 0;
  at::Tensor negative = -near_one;
  for (const at::Tensor& gamma : {near_one, with_zero, negative}) {
    ExpectFormsEqualReference(
        [&](const auto& in) {
          const Linear linear = PreparedFor(in[0], {in[2]}, {in[3]});
          return tensor::AffineNorm(in[0], in[1], linear, {in[4], in[5], 1e-12}, tokens, Drop(3));
        },
        {make.Make({tokens.tokens(), shape.inner}, 1),
         make.Make({tokens.tokens(), shape.hidden}, 1), make.Make({shape.hidden, shape.inner}, 0.2),
         make.Make({shape.hidden}, 0.5), gamma, make.Make({shape.hidden}, 2)},
        2);
  }
}

TEST_P(OpsTest, FeedForwardNorm) {
  for (const Shape& shape : Shapes()) {
    Inputs make(3);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    ExpectFormsEqualReference(
        [&](const auto& in) {
          const Linear up = PreparedFor(in[0], {in[1]}, {in[2]});
          const Linear down = PreparedFor(in[0], {in[3]}, {in[4]});
          return tensor::FeedForwardNorm(in[0], up, down, tensor::Activation::kGelu,
                                         {in[5], in[6], 1e-12}, tokens, Drop(4));
        },
        {make.Make({tokens.tokens(), shape.hidden}, 1), make.Make({shape.inner, shape.hidden}, 0.3),
         make.Make({shape.inner}, 0.5), make.Make({shape.hidden, shape.inner}, 0.3),
         make.Make({shape.hidden}, 0.5), make.Make({shape.hidden}, 1),
         make.Make({shape.hidden}, 1)},
        1);
  }
}

TEST_P(OpsTest, SelfAttention) {
  for (const Shape& shape : Shapes()) {
    Inputs make(4);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    ExpectFormsEqualReference(
        [&](const auto& in) { return tensor::SelfAttention(in[0], tokens, shape.heads, Drop(5)); },
        {make.Make({tokens.tokens(), 3 * shape.hidden}, 1.5)}, 1);
  }
}

// The texts are of one type, or pairs, whose tokens have types.
TEST_P(OpsTest, EmbeddingNorm) {
  for (const Shape& shape : Shapes()) {
    for (const bool types : {false, true}) {
      Inputs make(5);
      PackedTokens tokens = make.Tokens(shape.lengths, 23);
      if (types) tokens.types = tokens.positions.fmod(2);
      const std::vector<at::Tensor> inputs = {
          make.Make({23, shape.hidden}, 1), make.Make({512, shape.hidden}, 1),
          make.Make({2, shape.hidden}, 1), make.Make({shape.hidden}, 1),
          make.Make({shape.hidden}, 1)};
      const auto operation = [&](at::ScalarType activation) {
        return [&, activation](const std::vector<at::Tensor>& in) {
          return tensor::EmbeddingNorm(tokens, {in[0], in[1], in[2]}, {in[3], in[4], 1e-12},
                                       Drop(6), activation);
        };
      };
      const Result want =
          RunOnce(operation(at::kDouble), inputs,
                  std::vector<at::ScalarType>(inputs.size(), at::kDouble), Form::kReference);
      for (const FormCase& c : FormCases()) {
        const at::ScalarType parameters = c.activation == at::kDouble ? at::kDouble : at::kFloat;
        const Result got = RunOnce(operation(c.activation), inputs,
                                   std::vector<at::ScalarType>(inputs.size(), parameters), c.form);
        EXPECT_LE(Error(got.out, want.out), c.bound) << c.Name();
        for (size_t i = 0; i < inputs.size(); ++i) {
          EXPECT_LE(Error(got.gradients[i], want.gradients[i]), c.bound) << i << ", " << c.Name();
        }
      }
    }
  }
}

TEST(Ops, AWordTableThatCouldNotKeepItsGradientIsRefused) {
  Inputs make(5);
  const PackedTokens tokens = make.Tokens({3}, 9);
  const at::Tensor leaf = make.Make({9, 32}, 1).to(at::kFloat).requires_grad_(true);
  const at::Tensor other = make.Make({512, 32}, 1).to(at::kFloat);
  const LayerNorm norm{at::ones({32}), at::zeros({32}), 1e-12};
  EXPECT_NO_THROW(EmbeddingNorm(tokens, {leaf, other, other}, norm, {}, at::kFloat));
  EXPECT_THROW(EmbeddingNorm(tokens, {leaf * 2, other, other}, norm, {}, at::kFloat),
               std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutDropout, OpsTest, testing::Values(0.0, 0.1));

TEST(Ops, AttentionOverTenThousandTokensInOneText) {
  Inputs make(7);
  const PackedTokens tokens = make.Tokens({10000}, 9);
  const at::Tensor qkv = make.Make({10000, 48}, 1).to(at::kFloat);
  const at::Tensor got = SelfAttention(qkv, tokens, 1, {});
  // The reference has 10^8 probabilities; a few rows of it are enough.
  const at::Tensor wide = qkv.to(at::kDouble);
  const at::Tensor rows = wide.slice(0, 0, 10000, 997);
  const at::Tensor scores = at::matmul(rows.slice(1, 0, 16), wide.slice(1, 16, 32).t()) / 4.0;
  const at::Tensor want = at::matmul(at::softmax(scores, 1), wide.slice(1, 32, 48));
  EXPECT_LE(Error(got.slice(0, 0, 10000, 997).to(at::kDouble), want), 1e-5);
}

TEST(Ops, ATextDoesNotSeeItsNeighbours) {
  Inputs make(8);
  const at::Tensor a = make.Make({7, 96}, 1).to(at::kFloat);
  const at::Tensor b = make.Make({40, 96}, 1).to(at::kFloat);
  const at::Tensor alone = SelfAttention(a, make.Tokens({7}, 9), 2, {});
  const at::Tensor behind = SelfAttention(at::cat({b, a}), make.Tokens({40, 7}, 9), 2, {});
  EXPECT_TRUE(at::equal(alone, behind.slice(0, 40)));
}

TEST(Ops, TheSameThreadCountGivesTheSameBytes) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    Inputs make(9);
    const PackedTokens tokens = make.Tokens({90, 3, 41}, 9);
    static at::Tensor first;
    const at::Tensor x = make.Make({134, 64}, 1).to(at::kFloat);
    const auto leaf = [&](at::IntArrayRef sizes) {
      return make.Make(sizes, 1).to(at::kFloat).requires_grad_(true);
    };
    const Linear up = PreparedFor(x, {leaf({96, 64})}, {leaf({96})});
    const Linear down = PreparedFor(x, {leaf({64, 96})}, {leaf({64})});
    const LayerNorm norm{at::ones({64}), at::zeros({64}), 1e-12};
    const at::Tensor out = FeedForwardNorm(x, up, down, Activation::kGelu, norm, tokens,
                                           {.rate = 0.1, .seed = 1, .step = 2, .site = 3});
    (out * out).sum().backward();
    const at::Tensor gradient = up.weights()[0].grad();
    if (attempt == 0) {
      first = gradient;
    } else {
      EXPECT_TRUE(at::equal(first, gradient));
    }
  }
}

}  // namespace
}  // namespace tandem::tensor

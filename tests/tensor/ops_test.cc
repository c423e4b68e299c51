// Every fused operation, and with a back end every portable one, against its reference form in
// float64: outputs and all gradients, with and without dropout, over texts of very different
// lengths.
//
// Error = max|got - want| / max(1, max|want|) for each array.
#include "tensor/ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tensor/compare_forms.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/inputs.h"

namespace tandem::tensor {
namespace {

class OpsTest : public testing::TestWithParam<double> {
 protected:
  Dropout Drop(uint32_t site) const {
    return {.rate = GetParam(), .seed = 42, .step = 7, .site = site};
  }
};

TEST_P(OpsTest, Affine) {
  for (const TextShape& shape : Shapes()) {
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
  for (const TextShape& shape : Shapes()) {
    Inputs make(1);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    for (const bool reads_product : {true, false}) {
      ExpectFormsEqualReference(
          [&](const auto& in) {
            const AffineResult mapped = tensor::Affine(in[0], PreparedFor(in[0], {in[1]}, {in[2]}));
            const Tensor product = reads_product ? mapped.out : mapped.out.detach();
            return Cat({product, Mul(mapped.x, mapped.x)}, 1);
          },
          {make.Make({tokens.tokens(), shape.hidden}, 1),
           make.Make({shape.inner, shape.hidden}, 0.1), make.Make({shape.inner}, 0.5)},
          1);
    }
  }
}

// The second of two stacked maps has an adapter: merged, or beside the weights under dropout.
TEST_P(OpsTest, AffineWithAnAdapter) {
  for (const TextShape& shape : Shapes()) {
    Inputs make(7);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    ExpectFormsEqualReference(
        [&](const auto& in) {
          Linear linear({in[1], in[2]}, {});
          linear.Adapt({.down = {Tensor(), in[3]},
                        .up = {Tensor(), in[4]},
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
  for (const TextShape& shape : Shapes()) {
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
  const TextShape shape{{5, 1, 37, 12}, 4, 64, 96};
  Inputs make(6);
  const PackedTokens tokens = make.Tokens(shape.lengths, 9);
  const Tensor near_one =
      Mapped(make.Make({shape.hidden}, 1), [](double number) { return 1 + 0.2 * number; });
  const Tensor with_zero = near_one.clone();
  with_zero[3].zero_();
  const Tensor negative = Mul(near_one, -1);
  for (const Tensor& gamma : {near_one, with_zero, negative}) {
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
  for (const TextShape& shape : Shapes()) {
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
  for (const TextShape& shape : Shapes()) {
    Inputs make(4);
    const PackedTokens tokens = make.Tokens(shape.lengths, 9);
    ExpectFormsEqualReference(
        [&](const auto& in) { return tensor::SelfAttention(in[0], tokens, shape.heads, Drop(5)); },
        {make.Make({tokens.tokens(), 3 * shape.hidden}, 1.5)}, 1);
  }
}

// The texts are of one type, or pairs, whose tokens have types.
TEST_P(OpsTest, EmbeddingNorm) {
  for (const TextShape& shape : Shapes()) {
    for (const bool types : {false, true}) {
      Inputs make(5);
      PackedTokens tokens = make.Tokens(shape.lengths, 23);
      if (types) tokens.types = AlternatingTypes(tokens);
      const std::vector<Tensor> inputs = {
          make.Make({23, shape.hidden}, 1), make.Make({512, shape.hidden}, 1),
          make.Make({2, shape.hidden}, 1), make.Make({shape.hidden}, 1),
          make.Make({shape.hidden}, 1)};
      const auto operation = [&](DType activation) {
        return [&, activation](const std::vector<Tensor>& in) {
          return tensor::EmbeddingNorm(tokens, {in[0], in[1], in[2]}, {in[3], in[4], 1e-12},
                                       Drop(6), activation);
        };
      };
      const Result want = RunOnce(operation(kDouble), inputs,
                                  std::vector<DType>(inputs.size(), kDouble), Form::kReference);
      for (const FormCase& c : FormCases()) {
        const DType parameters = c.activation == kDouble ? kDouble : kFloat;
        const Result got = RunOnce(operation(c.activation), inputs,
                                   std::vector<DType>(inputs.size(), parameters), c.form);
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
  const Tensor leaf = make.Make({9, 32}, 1).to(kFloat).set_requires_grad(true);
  const Tensor other = make.Make({512, 32}, 1).to(kFloat);
  const LayerNorm norm{Ones({32}), Zeros({32}, kFloat), 1e-12};
  EXPECT_NO_THROW(EmbeddingNorm(tokens, {leaf, other, other}, norm, {}, kFloat));
  EXPECT_THROW(EmbeddingNorm(tokens, {Mul(leaf, 2), other, other}, norm, {}, kFloat),
               std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutDropout, OpsTest, testing::Values(0.0, 0.1));

TEST(Ops, AttentionOverTenThousandTokensInOneText) {
  Inputs make(7);
  const PackedTokens tokens = make.Tokens({10000}, 9);
  const Tensor qkv = make.Make({10000, 48}, 1).to(kFloat);
  const Tensor got = SelfAttention(qkv, tokens, 1, {});
  // The reference has 10^8 probabilities; a few rows of it are enough.
  const std::vector<double> rows = DoublesOf(qkv), found = DoublesOf(got);
  for (size_t query = 0; query < 10000; query += 997) {
    std::vector<double> weights(10000), want(16);
    double total = 0;
    for (size_t key = 0; key < weights.size(); ++key) {
      const double product =
          std::inner_product(&rows[query * 48], &rows[query * 48 + 16], &rows[key * 48 + 16], 0.0);
      total += weights[key] = std::exp(product / 4.0);
    }
    for (size_t key = 0; key < weights.size(); ++key) {
      for (size_t c = 0; c < 16; ++c) want[c] += weights[key] / total * rows[key * 48 + 32 + c];
    }
    for (size_t c = 0; c < 16; ++c) EXPECT_NEAR(found[query * 16 + c], want[c], 1e-5) << query;
  }
}

TEST(Ops, ATextDoesNotSeeItsNeighbours) {
  Inputs make(8);
  const Tensor a = make.Make({7, 96}, 1).to(kFloat);
  const Tensor b = make.Make({40, 96}, 1).to(kFloat);
  const Tensor alone = SelfAttention(a, make.Tokens({7}, 9), 2, {});
  const Tensor behind = SelfAttention(Cat({b, a}), make.Tokens({40, 7}, 9), 2, {});
  EXPECT_TRUE(SameBytes(alone, behind.narrow(0, 40, 7)));
}

TEST(Ops, TheSameThreadCountGivesTheSameBytes) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    Inputs make(9);
    const PackedTokens tokens = make.Tokens({90, 3, 41}, 9);
    static Tensor first;
    const Tensor x = make.Make({134, 64}, 1).to(kFloat);
    const auto leaf = [&](const Shape& sizes) {
      return make.Make(sizes, 1).to(kFloat).set_requires_grad(true);
    };
    const Linear up = PreparedFor(x, {leaf({96, 64})}, {leaf({96})});
    const Linear down = PreparedFor(x, {leaf({64, 96})}, {leaf({64})});
    const LayerNorm norm{Ones({64}), Zeros({64}, kFloat), 1e-12};
    const Tensor out = FeedForwardNorm(x, up, down, Activation::kGelu, norm, tokens,
                                       {.rate = 0.1, .seed = 1, .step = 2, .site = 3});
    Sum(Mul(out, out)).backward();
    const Tensor gradient = up.weights()[0].grad();
    if (attempt == 0) {
      first = gradient;
    } else {
      EXPECT_TRUE(SameBytes(first, gradient));
    }
  }
}

}  // namespace
}  // namespace tandem::tensor

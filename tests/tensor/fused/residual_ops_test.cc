// The operations of encoders that normalise what a layer reads: fused, or with a back end portable,
// against reference forms, and the reference forms' gradients against differences.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "tensor/compare_forms.h"
#include "tensor/inputs.h"
#include "tensor/ops.h"

namespace tandem::tensor {
namespace {

using Tensors = std::vector<Tensor>;

// A kind of norm, with or without beta.
struct NormCase {
  Norm::Kind kind;
  bool has_beta;
};
constexpr NormCase kNorms[] = {{Norm::Kind::kLayerNorm, true},
                               {Norm::Kind::kLayerNorm, false},
                               {Norm::Kind::kRms, false},
                               {Norm::Kind::kRmsPlusOne, false}};
constexpr Activation kActivations[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
                                       Activation::kSilu};

// The inputs of an operation, which are added one by one, and read in the same order.
class InputList {
 public:
  explicit InputList(uint64_t seed) : make_(seed) {}
  // Adds an input and returns its place.
  size_t Add(const Shape& sizes, double scale) {
    values.push_back(make_.Make(sizes, scale));
    return values.size() - 1;
  }
  PackedTokens Tokens(const std::vector<int64_t>& lengths) { return make_.Tokens(lengths, 23); }

  Tensors values;

 private:
  Inputs make_;
};

// A norm or a linear map by the places of its parameters; none where there is no such parameter.
struct NormPlaces {
  Norm::Kind kind = Norm::Kind::kLayerNorm;
  std::optional<size_t> gamma, beta;

  static NormPlaces Add(InputList* inputs, const NormCase& c, int64_t width) {
    NormPlaces places{c.kind, inputs->Add({width}, 1), {}};
    if (c.has_beta) places.beta = inputs->Add({width}, 1);
    return places;
  }
  Norm Of(const Tensors& in) const {
    Norm norm{.kind = kind, .epsilon = 1e-6};
    if (gamma) norm.gamma = in[*gamma];
    if (beta) norm.beta = in[*beta];
    return norm;
  }
};

struct LinearPlaces {
  size_t weight;
  std::optional<size_t> bias;

  static LinearPlaces Add(InputList* inputs, int64_t out, int64_t in, bool has_bias) {
    LinearPlaces places{inputs->Add({out, in}, 0.3), {}};
    if (has_bias) places.bias = inputs->Add({out}, 0.5);
    return places;
  }
  Linear Of(const Tensors& in) const {
    return PreparedFor(in[0], {in[weight]}, bias ? Tensors{in[*bias]} : Tensors{});
  }
};

class ResidualOpsTest : public testing::TestWithParam<double> {
 protected:
  Dropout Drop(uint32_t site) const {
    return {.rate = GetParam(), .seed = 42, .step = 7, .site = site};
  }
};

TEST_P(ResidualOpsTest, Normalize) {
  for (const TextShape& shape : Shapes()) {
    for (const NormCase& c : kNorms) {
      InputList inputs(1);
      const PackedTokens tokens = inputs.Tokens(shape.lengths);
      inputs.Add({tokens.tokens(), shape.hidden}, 2);
      const NormPlaces norm = NormPlaces::Add(&inputs, c, shape.hidden);
      ExpectFormsEqualReference(
          [&](const Tensors& in) { return Normalize(in[0], norm.Of(in), tokens, Drop(1)); },
          inputs.values, 1);
    }
  }
}

TEST_P(ResidualOpsTest, NormalizeWithoutANormDropsOnly) {
  InputList inputs(1);
  const PackedTokens tokens = inputs.Tokens({5, 17});
  inputs.Add({22, 48}, 2);
  ExpectFormsEqualReference(
      [&](const Tensors& in) { return Normalize(Mul(in[0], 1), Norm(), tokens, Drop(1)); },
      inputs.values, 1);
}

// What reads x besides adds its gradient, whether or not anything reads the product.
TEST_P(ResidualOpsTest, NormAffineBesideWhatElseReadsX) {
  for (const TextShape& shape : Shapes()) {
    for (const NormCase& c : kNorms) {
      for (const bool reads_product : {true, false}) {
        InputList inputs(2);
        const PackedTokens tokens = inputs.Tokens(shape.lengths);
        inputs.Add({tokens.tokens(), shape.hidden}, 1);
        const NormPlaces norm = NormPlaces::Add(&inputs, c, shape.hidden);
        const LinearPlaces linear =
            LinearPlaces::Add(&inputs, shape.inner, shape.hidden, shape.heads % 2 == 0);
        ExpectFormsEqualReference(
            [&](const Tensors& in) {
              const AffineResult mapped = NormAffine(in[0], norm.Of(in), linear.Of(in));
              const Tensor product = reads_product ? mapped.out : mapped.out.detach();
              return Cat({product, Mul(mapped.x, mapped.x)}, 1);
            },
            inputs.values, 1);
      }
    }
  }
}

TEST_P(ResidualOpsTest, NormAffineAlone) {
  for (const TextShape& shape : Shapes()) {
    InputList inputs(3);
    const PackedTokens tokens = inputs.Tokens(shape.lengths);
    inputs.Add({tokens.tokens(), shape.hidden}, 1);
    const NormPlaces norm = NormPlaces::Add(&inputs, kNorms[2], shape.hidden);
    const LinearPlaces linear = LinearPlaces::Add(&inputs, shape.inner, shape.hidden, true);
    ExpectFormsEqualReference(
        [&](const Tensors& in) { return NormAffine(in[0], norm.Of(in), linear.Of(in)).out; },
        inputs.values, 1);
  }
}

TEST_P(ResidualOpsTest, AffineAdd) {
  for (const TextShape& shape : Shapes()) {
    for (size_t kind = 0; kind <= std::size(kNorms) + 1; ++kind) {
      InputList inputs(4);
      const PackedTokens tokens = inputs.Tokens(shape.lengths);
      inputs.Add({tokens.tokens(), shape.inner}, 1);
      inputs.Add({tokens.tokens(), shape.hidden}, 1);
      const LinearPlaces linear =
          LinearPlaces::Add(&inputs, shape.hidden, shape.inner, kind % 2 == 0);
      NormPlaces norm;  // none at last
      if (kind < std::size(kNorms)) norm = NormPlaces::Add(&inputs, kNorms[kind], shape.hidden);
      ExpectFormsEqualReference(
          [&](const Tensors& in) {
            return AffineAdd(in[0], in[1], linear.Of(in), norm.Of(in), tokens, Drop(3));
          },
          inputs.values, 2);
    }
  }
}

// Takes every activation, plain and gated, with a norm of each kind before and after or without
// one, with biases or without: each with several of the others, over all shapes.
TEST_P(ResidualOpsTest, FeedForwardAdd) {
  const std::vector<TextShape> shapes = Shapes();
  for (size_t turn = 0; turn < 30; ++turn) {
    const TextShape& shape = shapes[turn % shapes.size()];
    const Activation activation = kActivations[turn % 4];
    const bool gated = turn / 4 % 2 == 1, has_bias = turn % 3 != 0;
    InputList inputs(5);
    const PackedTokens tokens = inputs.Tokens(shape.lengths);
    inputs.Add({tokens.tokens(), shape.hidden}, 1);
    const LinearPlaces up =
        LinearPlaces::Add(&inputs, (gated ? 2 : 1) * shape.inner, shape.hidden, has_bias);
    const LinearPlaces down = LinearPlaces::Add(&inputs, shape.hidden, shape.inner, has_bias);
    NormPlaces norm, out_norm;
    if (turn % 5 < 4) norm = NormPlaces::Add(&inputs, kNorms[turn % 5], shape.hidden);
    if (turn % 7 < 4) out_norm = NormPlaces::Add(&inputs, kNorms[turn % 7], shape.hidden);
    ExpectFormsEqualReference(
        [&](const Tensors& in) {
          const FeedForward layer{.norm = norm.Of(in),
                                  .up = up.Of(in),
                                  .down = down.Of(in),
                                  .activation = activation,
                                  .gated = gated,
                                  .out_norm = out_norm.Of(in)};
          return FeedForwardAdd(in[0], layer, tokens, Drop(4), Drop(5));
        },
        inputs.values, 1);
  }
}

TEST_P(ResidualOpsTest, FeedForwardNormWithEveryActivation) {
  for (const TextShape& shape : Shapes()) {
    for (const Activation activation : kActivations) {
      InputList inputs(6);
      const PackedTokens tokens = inputs.Tokens(shape.lengths);
      inputs.Add({tokens.tokens(), shape.hidden}, 1);
      const bool has_bias = shape.heads % 2 == 1;
      const LinearPlaces up = LinearPlaces::Add(&inputs, shape.inner, shape.hidden, has_bias);
      const LinearPlaces down = LinearPlaces::Add(&inputs, shape.hidden, shape.inner, has_bias);
      const NormPlaces norm = NormPlaces::Add(&inputs, kNorms[has_bias ? 1 : 0], shape.hidden);
      ExpectFormsEqualReference(
          [&](const Tensors& in) {
            const Norm of = norm.Of(in);
            return FeedForwardNorm(in[0], up.Of(in), down.Of(in), activation,
                                   {of.gamma, of.beta, 1e-6}, tokens, Drop(7));
          },
          inputs.values, 1);
    }
  }
}

TEST_P(ResidualOpsTest, AffineNormWithoutBetaAndBias) {
  for (const TextShape& shape : Shapes()) {
    InputList inputs(7);
    const PackedTokens tokens = inputs.Tokens(shape.lengths);
    inputs.Add({tokens.tokens(), shape.inner}, 1);
    inputs.Add({tokens.tokens(), shape.hidden}, 1);
    const LinearPlaces linear = LinearPlaces::Add(&inputs, shape.hidden, shape.inner, false);
    const NormPlaces norm = NormPlaces::Add(&inputs, kNorms[1], shape.hidden);
    ExpectFormsEqualReference(
        [&](const Tensors& in) {
          return AffineNorm(in[0], in[1], linear.Of(in), {norm.Of(in).gamma, {}, 1e-6}, tokens,
                            Drop(8));
        },
        inputs.values, 2);
  }
}

TEST_P(ResidualOpsTest, RotateHeads) {
  struct HeadCase {
    int64_t heads, key_heads, width;
  };
  const std::vector<int64_t> lengths = {5, 1, 37, 130};
  for (const HeadCase& heads : {HeadCase{1, 1, 16}, {4, 2, 32}, {6, 1, 48}, {2, 2, 80}}) {
    for (const bool turns : {true, false}) {
      for (size_t kind = 0; kind <= std::size(kNorms); ++kind) {
        InputList inputs(8);
        const PackedTokens tokens = inputs.Tokens(lengths);
        const HeadShape shape{heads.heads, heads.key_heads, heads.width};
        inputs.Add({tokens.tokens(), shape.qkv_width()}, 1);
        NormPlaces query, key;
        if (kind < std::size(kNorms)) {
          query = NormPlaces::Add(&inputs, kNorms[kind], heads.width);
          if (kind != 2) key = NormPlaces::Add(&inputs, kNorms[(kind + 1) % 4], heads.width);
        }
        ExpectFormsEqualReference(
            [&](const Tensors& in) {
              const bool wide = in[0].dtype() == kDouble;
              const Rotary rotary =
                  turns ? RotaryOf(heads.width, wide ? kDouble : kFloat) : Rotary();
              return RotateHeads(Mul(in[0], 1), tokens, shape, query.Of(in), key.Of(in), rotary);
            },
            inputs.values, 1);
      }
    }
  }
}

// Embeddings, whose activation has no input of its own.
void ExpectEmbeddings(const std::function<Tensor(const Tensors&, DType)>& operation,
                      const Tensors& inputs) {
  const Result want = RunOnce([&](const Tensors& in) { return operation(in, kDouble); }, inputs,
                              std::vector<DType>(inputs.size(), kDouble), Form::kReference);
  for (const FormCase& c : FormCases()) {
    const DType parameters = c.activation == kDouble ? kDouble : kFloat;
    const Result got = RunOnce([&](const Tensors& in) { return operation(in, c.activation); },
                               inputs, std::vector<DType>(inputs.size(), parameters), c.form);
    EXPECT_LE(Error(got.out, want.out), c.bound) << c.Name();
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_LE(Error(got.gradients[i], want.gradients[i]), c.bound) << i << ", " << c.Name();
    }
  }
}

TEST_P(ResidualOpsTest, EmbeddingsWithAndWithoutTheirTables) {
  for (const TextShape& shape : Shapes()) {
    for (int tables = 0; tables < 4; ++tables) {
      InputList inputs(9);
      const PackedTokens tokens = inputs.Tokens(shape.lengths);
      inputs.Add({23, shape.hidden}, 1);
      std::optional<size_t> position, type;
      if (tables % 2 == 1) position = inputs.Add({514, shape.hidden}, 1);
      if (tables / 2 == 1) type = inputs.Add({2, shape.hidden}, 1);
      const auto tables_of = [&](const Tensors& in) {
        EmbeddingTables of{.word = in[0], .position_offset = position ? 2 : 0};
        if (position) of.position = in[*position];
        if (type) of.type = in[*type];
        return of;
      };
      ExpectEmbeddings(
          [&](const Tensors& in, DType activation) {
            return Embed(tokens, tables_of(in), tables == 0 ? 1 : 5.5, Drop(10), activation);
          },
          inputs.values);
      const NormPlaces norm = NormPlaces::Add(&inputs, kNorms[tables == 3 ? 0 : 1], shape.hidden);
      ExpectEmbeddings(
          [&](const Tensors& in, DType activation) {
            const Norm of = norm.Of(in);
            return EmbeddingNorm(tokens, tables_of(in), {of.gamma, of.beta, 1e-6}, Drop(11),
                                 activation);
          },
          inputs.values);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutDropout, ResidualOpsTest, testing::Values(0.0, 0.1));

// The sum over outputs times fixed weights, as a function of the inputs, by the reference form.
double Weighted(const Operation& operation, const Tensors& inputs) {
  const UseReferenceOps reference_ops;
  return WeightedSum(operation(inputs));
}

// Gradients of the reference form against central differences in float64.
void ExpectGradientsAreDifferences(const Operation& operation, const Tensors& inputs) {
  Tensors leaves;
  for (const Tensor& input : inputs) leaves.push_back(LeafOf(input));
  {
    const UseReferenceOps reference_ops;
    const Tensor out = operation(leaves);
    out.backward(WeightsLike(out));
  }
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t stride = std::max<int64_t>(1, inputs[i].numel() / 7);
    for (int64_t place = 0; place < inputs[i].numel(); place += stride) {
      Tensors moved = inputs;
      moved[i] = inputs[i].clone();
      auto* value = moved[i].data_ptr<double>() + place;
      *value += kStep;
      const double above = Weighted(operation, moved);
      *value -= 2 * kStep;
      const double difference = (above - Weighted(operation, moved)) / (2 * kStep);
      const double gradient = GradientOf(leaves[i]).data_ptr<double>()[place];
      EXPECT_NEAR(gradient, difference, 1e-7 * (1 + std::fabs(difference)))
          << "input " << i << ", place " << place;
    }
  }
}

TEST(ResidualOps, ReferenceGradientsAreDifferences) {
  for (size_t kind = 0; kind < std::size(kNorms); ++kind) {
    InputList inputs(12);
    const PackedTokens tokens = inputs.Tokens({3, 2});
    inputs.Add({5, 6}, 1);
    const LinearPlaces up = LinearPlaces::Add(&inputs, 8, 6, true);
    const LinearPlaces down = LinearPlaces::Add(&inputs, 6, 4, kind % 2 == 0);
    const LinearPlaces mixed = LinearPlaces::Add(&inputs, 12, 6, false);
    const NormPlaces norm = NormPlaces::Add(&inputs, kNorms[kind], 6);
    const NormPlaces out_norm = NormPlaces::Add(&inputs, kNorms[(kind + 1) % 4], 6);
    const NormPlaces head_norm = NormPlaces::Add(&inputs, kNorms[(kind + 2) % 4], 2);
    ExpectGradientsAreDifferences(
        [&](const Tensors& in) {
          const FeedForward layer{.norm = norm.Of(in),
                                  .up = up.Of(in),
                                  .down = down.Of(in),
                                  .activation = kActivations[kind],
                                  .gated = true,
                                  .out_norm = out_norm.Of(in)};
          const Tensor x = FeedForwardAdd(in[0], layer, tokens, {}, {});
          const AffineResult qkv = NormAffine(x, norm.Of(in), mixed.Of(in));
          const Tensor heads =
              RotateHeads(qkv.out, tokens, {2, 2, 2}, head_norm.Of(in), {}, RotaryOf(2, kDouble));
          return Cat({heads, Normalize(qkv.x, out_norm.Of(in), tokens, {})}, 1);
        },
        inputs.values);
  }
}

}  // namespace
}  // namespace tandem::tensor

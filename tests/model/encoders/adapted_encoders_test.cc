// Low-rank adapters and frozen weights of every architecture: each form of the operations against
// the reference in float64, and folders whose weights are used in the type of their file.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/dual_encoder.h"
#include "model/encoders/encoder_cases.h"
#include "model/encoders/formula_weights.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/bf16_products.h"
#include "tensor/machine/process.h"
#include "weights/encoder_parts.h"

namespace tandem::model {
namespace {

constexpr int64_t kRank = 5;

// The case's encoder, frozen, with adapters of these linear maps; `scale` 0: they add nothing.
std::unique_ptr<Encoder> Adapted(const EncoderCase& one, tensor::DType type, double scale,
                                 double dropout = 0, const std::string& target = "all-linear") {
  const weights::EncoderSpec spec = SpecOf(one);
  const auto tensors = [&](std::string_view name) {
    const auto found = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    return FormulaTensor(name, found->shape, type);
  };
  AdapterPlan plan{.linears = weights::AdapterTargets(spec, std::vector<std::string>{target}, {}),
                   .rank = kRank,
                   .scale = scale,
                   .dropout = dropout,
                   .start = {}};
  plan.start = [type](const std::string& linear, bool up, const tensor::Shape& shape) {
    return FormulaTensor(linear + (up ? ".up" : ".down"), shape, type).set_requires_grad(true);
  };
  return MakeTransformer(spec, 0.0, tensors, plan);
}

tensor::Tensor Pooled(Encoder& encoder, const EncoderCase& one,
                      const ForwardOptions& options = {}) {
  const tensor::PackedTokens tokens = PackTexts(TextsOf(one));
  return PooledRows(TokenRows(&encoder, tokens, options), tokens);
}

double RelativeError(const tensor::Tensor& got, const tensor::Tensor& want) {
  return Distance(got, want) / NormOf(want);
}

class AdaptedEncoder : public testing::TestWithParam<EncoderCase> {
 protected:
  AdaptedEncoder() { tensor::SetUpProcess(0); }

  // Embeddings, and gradients of every adapter, are those of the reference in float64.
  void ExpectReference(double dropout, const ForwardOptions& options) const {
    const auto reference = Adapted(GetParam(), tensor::kDouble, 0.5, dropout);
    const auto fused = Adapted(GetParam(), tensor::kFloat, 0.5, dropout);
    const tensor::Tensor want = Pooled(*reference, GetParam(), options);
    const tensor::Tensor got = Pooled(*fused, GetParam(), options);
    EXPECT_LT(RelativeError(got, want), 1e-5);
    SineLoss(want).backward();
    SineLoss(got).backward();
    const auto wants = reference->Parameters(), gots = fused->Parameters();
    size_t compared = 0;
    for (size_t i = 0; i < wants.size(); ++i) {
      if (!wants[i].trained()) continue;
      ++compared;
      EXPECT_LT(RelativeError(gots[i].value.grad(), wants[i].value.grad()), 1e-4) << wants[i].name;
    }
    EXPECT_EQ(compared, 2 * weights::LinearNames(SpecOf(GetParam())).size());
  }
};

TEST_P(AdaptedEncoder, MergedIsTheReference) { ExpectReference(0, {}); }

TEST_P(AdaptedEncoder, WithDropoutIsTheReference) {
  ExpectReference(0.3, {.training = true, .seed = 4, .step = 9});
}

// Operations of two maps, of which one has an adapter beside its weights. The first layer that has
// the map stands for all.
TEST_P(AdaptedEncoder, OfOneMapIsTheReference) {
  const tensor::NoGradGuard no_gradient;
  const ForwardOptions options{.training = true, .seed = 4, .step = 9};
  const tensor::Tensor without = Pooled(*Adapted(GetParam(), tensor::kDouble, 0), GetParam());
  const weights::LayerSpec layer = SpecOf(GetParam()).layers.front();
  for (const weights::LinearSpec* linear :
       {&layer.query_key_value, &layer.attention_output, &layer.up, &layer.down}) {
    const std::string& name = linear->names.back();
    const tensor::Tensor want =
        Pooled(*Adapted(GetParam(), tensor::kDouble, 4, 0.3, name), GetParam(), options);
    const tensor::Tensor got =
        Pooled(*Adapted(GetParam(), tensor::kFloat, 4, 0.3, name), GetParam(), options);
    EXPECT_GT(RelativeError(without, want), 1e-2) << name;
    EXPECT_LT(RelativeError(got, want), 1e-5) << name;
  }
}

// What adapters change is far more than what bf16 rounds.
TEST_P(AdaptedEncoder, InBf16AdaptersCount) {
  if (!tensor::HasBf16Products()) GTEST_SKIP() << "no products of bf16";
  const tensor::NoGradGuard no_gradient;
  const ForwardOptions bf16{.precision = tensor::Precision::kBf16};
  const tensor::Tensor want = Pooled(*Adapted(GetParam(), tensor::kDouble, 4), GetParam());
  const tensor::Tensor without = Pooled(*Adapted(GetParam(), tensor::kDouble, 0), GetParam());
  const tensor::Tensor got = Pooled(*Adapted(GetParam(), tensor::kFloat, 4), GetParam(), bf16);
  const double change = RelativeError(without, want);
  EXPECT_GT(change, 0.2);
  EXPECT_LT(RelativeError(got, want), 0.25 * change);
}

tensor::Tensor Embeddings(DualEncoder& model, const tensor::PackedTokens& tokens) {
  const tensor::NoGradGuard no_gradient;
  model.Prepare(TextKind::kDocument, tensor::Precision::kFp32, tensor::Passes::kForward);
  return model.Encode(tokens, TextKind::kDocument, {});
}

// Weights and word tables that stay in the file's type are the floats that they stand for.
TEST_P(AdaptedEncoder, FrozenWeightsInTheTypeOfTheirFileChangeNoByte) {
  nlohmann::json config = GetParam().config();
  config["vocab_size"] = FormulaVocabulary();
  const std::vector<int32_t> a = {5, 9, 4, 17}, b = {7, 3};
  const tensor::PackedTokens tokens = tensor::Pack(std::vector<std::span<const int32_t>>{a, b});
  for (const weights::Dtype dtype : {weights::Dtype::kF32, weights::Dtype::kBF16}) {
    const TemporaryFolder folder;
    WriteFormulaFolder(folder.path() / "base", config, {.dtype = dtype});
    const auto all = DualEncoder::Load(folder.path() / "base");
    const tensor::Tensor want = Embeddings(*all, tokens);
    for (const Trained what : {Trained::kNothing, Trained::kLora}) {
      const auto frozen = DualEncoder::Load(folder.path() / "base", {.training = {.what = what}});
      EXPECT_TRUE(AreEqual(Embeddings(*frozen, tokens), want)) << static_cast<int>(what);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, AdaptedEncoder, testing::ValuesIn(EncoderCases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tandem::model

// Gradients of a small encoder in float64 against central differences, and the fused form in float
// against the float64 one.
#include "model/encoders/transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/tensors.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"
#include "tensor/ops.h"
#include "weights/architecture.h"
#include "weights/settings/settings_file.h"

namespace tandem::model {
namespace {

weights::EncoderSpec SmallBert(int64_t hidden, int64_t intermediate) {
  const weights::Settings config("config.json", {{"model_type", "bert"},
                                                 {"vocab_size", 19},
                                                 {"hidden_size", hidden},
                                                 {"num_hidden_layers", 2},
                                                 {"num_attention_heads", 2},
                                                 {"intermediate_size", intermediate},
                                                 {"max_position_embeddings", 16}});
  return weights::FindArchitecture("bert")->read(config);
}

// Hands out random leaves of the shapes that the spec asks for.
class RandomTensors {
 public:
  RandomTensors(weights::EncoderSpec spec, tensor::DType type)
      : spec_(std::move(spec)), type_(type), stream_({.seed = 3, .purpose = "bert_test"}) {}

  tensor::Tensor operator()(std::string_view name) {
    const auto found = std::find_if(spec_.tensors.begin(), spec_.tensors.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    const std::vector<int64_t> shape(found->shape.begin(), found->shape.end());
    tensor::Tensor values = tensor::Empty(shape, tensor::kDouble);
    const bool gamma = shape.size() == 1 && name.ends_with(".weight");
    for (int64_t i = 0; i < values.numel(); ++i) {
      values.data_ptr<double>()[i] = (gamma ? 1.0 : 0.0) + 0.6 * (stream_.Uniform() - 0.5);
    }
    return values.to(type_).set_requires_grad(true);
  }

 private:
  weights::EncoderSpec spec_;
  tensor::DType type_;
  RandomStream stream_;
};

tensor::PackedTokens SomeTokens() {
  const std::vector<int32_t> a = {3, 1, 18, 7}, b = {5}, c = {2, 2, 9, 11, 0, 4, 17};
  return tensor::Pack(std::vector<std::span<const int32_t>>{a, b, c});
}

double Loss(Encoder* encoder, const tensor::PackedTokens& tokens, const ForwardOptions& options,
            tensor::Tensor* graph = nullptr) {
  encoder->Prepare(options.precision, tensor::Passes::kBoth);
  const tensor::Tensor pooled =
      tensor::Pool(encoder->Forward(tokens, options), tokens, tensor::Pooling::kMean);
  const tensor::Tensor loss = SineLoss(pooled);
  if (graph) *graph = loss;
  return loss.item<double>();
}

class BertGradient : public testing::TestWithParam<bool> {};

// Compares a few elements of every parameter, with dropout off and on. (Dropout's mask depends on
// the step and the text only, so the loss is differentiable with it.)
TEST_P(BertGradient, EqualsCentralDifferencesInFloat64) {
  const weights::EncoderSpec config = SmallBert(8, 12);
  const auto encoder = MakeTransformer(config, 0.2, RandomTensors(config, tensor::kDouble));
  const tensor::PackedTokens tokens = SomeTokens();
  const ForwardOptions options{.training = GetParam(), .seed = 5, .step = 6};
  tensor::Tensor loss;
  Loss(encoder.get(), tokens, options, &loss);
  loss.backward();
  const tensor::NoGradGuard no_gradient;
  RandomStream stream({.seed = 8, .purpose = "elements"});
  constexpr double kStep = 1e-5;
  for (const NamedParameter& parameter : encoder->Parameters()) {
    auto* values = parameter.value.data_ptr<double>();
    const auto count = static_cast<uint64_t>(parameter.value.numel());
    for (int i = 0; i < 6; ++i) {
      const uint64_t element = stream.Below(count);
      const double kept = values[element];
      values[element] = kept + kStep;
      const double above = Loss(encoder.get(), tokens, options);
      values[element] = kept - kStep;
      const double below = Loss(encoder.get(), tokens, options);
      values[element] = kept;
      const double got = GradientOf(parameter.value).data_ptr<double>()[element];
      EXPECT_NEAR(got, (above - below) / (2 * kStep), 1e-7)
          << parameter.name << "[" << element << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dropout, BertGradient, testing::Bool());

TEST(Bert, FusedFloatGradientsFollowTheFloat64Reference) {
  tensor::SetUpProcess(0);
  const weights::EncoderSpec config = SmallBert(64, 96);
  const auto reference = MakeTransformer(config, 0.2, RandomTensors(config, tensor::kDouble));
  const auto fused = MakeTransformer(config, 0.2, RandomTensors(config, tensor::kFloat));
  const tensor::PackedTokens tokens = SomeTokens();
  const ForwardOptions options{.training = true, .seed = 5, .step = 6};
  tensor::Tensor want, got;
  Loss(reference.get(), tokens, options, &want);
  Loss(fused.get(), tokens, options, &got);
  want.backward();
  got.backward();
  EXPECT_NEAR(got.item<double>(), want.item<double>(), 1e-4);
  const std::vector<NamedParameter> expected = reference->Parameters();
  const std::vector<NamedParameter> parameters = fused->Parameters();
  for (size_t i = 0; i < expected.size(); ++i) {
    const tensor::Tensor want_gradient = GradientOf(expected[i].value);
    const double error = LargestDifference(want_gradient, GradientOf(parameters[i].value));
    EXPECT_LE(error, 5e-5 * std::max(1.0, LargestOf(want_gradient))) << expected[i].name;
  }
}

TEST(Bert, WeightDecayLeavesOutBiasesAndNorms) {
  const weights::EncoderSpec config = SmallBert(8, 12);
  const auto encoder = MakeTransformer(config, {}, RandomTensors(config, tensor::kFloat));
  EXPECT_EQ(encoder->Parameters().size(), 5U + 2U * 16U);
  for (const NamedParameter& parameter : encoder->Parameters()) {
    const bool matrix = parameter.value.dim() == 2;
    EXPECT_EQ(parameter.decay, matrix) << parameter.name;
  }
}

TEST(Bert, CountsTheFlopsOfItsProducts) {
  const weights::EncoderSpec config = SmallBert(8, 12);
  const auto encoder = MakeTransformer(config, {}, RandomTensors(config, tensor::kFloat));
  EXPECT_EQ(encoder->flops_per_token(), 2.0 * 2 * (4 * 8 * 8 + 2 * 8 * 12));
}

}  // namespace
}  // namespace tandem::model

// Low-rank adapters: values and gradients against PEFT's (tools/golden/make_lora_golden.py),
// central differences, and each form of the operations against the reference in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "base/random.h"
#include "model/encoders/transformer.h"
#include "support/tensors.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/bf16_products.h"
#include "tensor/machine/process.h"
#include "tensor/ops.h"
#include "weights/architecture.h"
#include "weights/encoder_parts.h"
#include "weights/folders/adapter_folder.h"
#include "weights/settings/settings_file.h"

namespace tandem::model {
namespace {

using nlohmann::json;

// formula_values of tools/golden/make_lora_golden.py.
tensor::Tensor FormulaTensor(std::string_view name, const tensor::Shape& shape) {
  uint64_t seed = 0xCBF29CE484222325U;
  for (const char byte : name) seed = (seed ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  int64_t power = 1;
  while (shape.size() == 2 && power * power < shape[1]) power *= 2;
  const bool norm = shape.size() == 1 && name.ends_with(".weight");
  tensor::Tensor values = tensor::Empty(shape, tensor::kDouble);
  for (int64_t i = 0; i < values.numel(); ++i) {
    uint64_t x = (seed + static_cast<uint64_t>(i)) * 0x9E3779B97F4A7C15U;
    x ^= x >> 32;
    x *= 0xBF58476D1CE4E5B9U;
    x ^= x >> 29;
    const double value = (static_cast<double>((x >> 11) % 2049) - 1024) / 1024;
    values.data_ptr<double>()[i] = shape.size() == 2 ? value / static_cast<double>(power)
                                   : norm            ? 1 + value / 4
                                                     : value / 8;
  }
  return values;
}

struct Case {
  weights::EncoderSpec spec;
  json golden;
};

json LoraGolden() {
  return json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/model/golden/lora.json"));
}

bool IsKnown(const json& golden) {
  return weights::FindArchitecture(golden["config"]["model_type"].get<std::string>()) != nullptr;
}

Case CaseOf(const json& golden) {
  const std::string type = golden["config"]["model_type"];
  return {weights::FindArchitecture(type)->read(
              weights::Settings("config.json", ParseJson(golden["config"].dump()))),
          golden};
}

AdapterPlan PlanOf(const Case& one, tensor::DType type, double dropout = 0) {
  const json& lora = one.golden["lora"];
  const json& targets = lora["target_modules"];
  const auto names = targets.is_string() ? std::vector<std::string>{targets.get<std::string>()}
                                         : targets.get<std::vector<std::string>>();
  const weights::AdapterSettings settings{.rank = lora["r"],
                                          .alpha = lora["lora_alpha"],
                                          .rank_stabilized = lora["use_rslora"],
                                          .base = "",
                                          .targets = {}};
  AdapterPlan plan{.linears = weights::AdapterTargets(one.spec, names, {}),
                   .rank = settings.rank,
                   .scale = settings.scale(),
                   .dropout = dropout,
                   .start = {}};
  plan.start = [type](const std::string& linear, bool up, const tensor::Shape& shape) {
    return FormulaTensor(linear + (up ? ".lora_B.weight" : ".lora_A.weight"), shape)
        .to(type)
        .set_requires_grad(true);
  };
  return plan;
}

// A frozen encoder with adapters.
std::unique_ptr<Encoder> EncoderOf(const Case& one, tensor::DType type, double dropout = 0) {
  const auto source = [&](std::string_view name) {
    const auto found = std::find_if(one.spec.tensors.begin(), one.spec.tensors.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    return FormulaTensor(name, found->shape).to(type);
  };
  return MakeTransformer(one.spec, 0.0, source, PlanOf(one, type, dropout));
}

tensor::PackedTokens TokensOf(const Case& one) {
  const auto texts = one.golden["texts"].get<std::vector<std::vector<int32_t>>>();
  return tensor::Pack(std::vector<std::span<const int32_t>>(texts.begin(), texts.end()));
}

tensor::Tensor Pooled(Encoder& encoder, const Case& one, const ForwardOptions& options = {}) {
  encoder.Prepare(options.precision, tensor::Passes::kBoth);
  const tensor::PackedTokens tokens = TokensOf(one);
  return tensor::Pool(encoder.Forward(tokens, options), tokens, tensor::Pooling::kMean)
      .to(tensor::kDouble);
}

void ExpectNumbers(const tensor::Tensor& got, const json& want, double tolerance) {
  const std::vector<double> elements = ElementsOf(got);
  const double norm = want["norm"];
  EXPECT_NEAR(NormOf(got), norm, tolerance * std::max(norm, 1.0));
  for (size_t i = 0; i < want["first"].size(); ++i) {
    EXPECT_NEAR(elements.at(i), want["first"][i], tolerance * std::max(norm, 1.0));
  }
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  const json all = LoraGolden();
  for (const auto& [name, golden] : all.items()) {
    if (IsKnown(golden)) names.push_back(name);
  }
  return names;
}

class Peft : public testing::TestWithParam<std::string> {
 protected:
  const Case case_ = CaseOf(LoraGolden()[GetParam()]);

  void ExpectGolden(tensor::DType type, double tolerance) const {
    const auto encoder = EncoderOf(case_, type);
    const tensor::Tensor pooled = Pooled(*encoder, case_);
    for (size_t b = 0; b < case_.golden["pooled"].size(); ++b) {
      ExpectNumbers(pooled[static_cast<int64_t>(b)], case_.golden["pooled"][b], tolerance);
    }
    SineLoss(pooled).backward();
    size_t compared = 0;
    for (const NamedParameter& parameter : encoder->Parameters()) {
      SCOPED_TRACE(parameter.name);
      if (!parameter.trained()) {
        EXPECT_FALSE(parameter.value.grad().defined());
        continue;
      }
      ++compared;
      ASSERT_TRUE(case_.golden["gradients"].contains(parameter.name));
      ExpectNumbers(parameter.value.grad(), case_.golden["gradients"][parameter.name], tolerance);
    }
    EXPECT_EQ(compared, case_.golden["gradients"].size());
  }
};

TEST_P(Peft, AdaptsTheSameMaps) {
  const std::set<std::string> linears = PlanOf(case_, tensor::kFloat).linears;
  EXPECT_EQ(std::vector<std::string>(linears.begin(), linears.end()),
            case_.golden["targets"].get<std::vector<std::string>>());
}

// transformers computes norms and rotary tables of decoders in float32.
TEST_P(Peft, ReferenceFormsInFloat64AreItsOwn) {
  ExpectGolden(tensor::kDouble, case_.golden["config"]["model_type"] == "bert" ? 1e-9 : 1e-6);
}

TEST_P(Peft, FusedFormsInFloat32AreItsOwn) {
  tensor::SetUpProcess(0);
  ExpectGolden(tensor::kFloat, 1e-5);
}

// Error of a gradient and of embeddings, relative to the float64 reference.
double RelativeError(const tensor::Tensor& got, const tensor::Tensor& want) {
  return Distance(got, want) / NormOf(want);
}

// Adapters are computed beside bf16 weights. Rounding explains errors of a few 2^-8.
TEST_P(Peft, Bf16FollowsTheReference) {
  tensor::SetUpProcess(0);
  if (!tensor::HasBf16Products()) GTEST_SKIP() << "no products of bf16";
  const auto reference = EncoderOf(case_, tensor::kDouble),
             fused = EncoderOf(case_, tensor::kFloat);
  const tensor::Tensor want = Pooled(*reference, case_);
  const tensor::Tensor got = Pooled(*fused, case_, {.precision = tensor::Precision::kBf16});
  EXPECT_LT(RelativeError(got, want), 0.02);
  SineLoss(want).backward();
  SineLoss(got).backward();
  const auto wants = reference->Parameters(), gots = fused->Parameters();
  for (size_t i = 0; i < wants.size(); ++i) {
    if (!wants[i].trained()) continue;
    EXPECT_LT(RelativeError(gots[i].value.grad(), wants[i].value.grad()), 0.06) << wants[i].name;
  }
}

// With dropout, fused forms compute the adapter beside the weights in float32 too, with the masks
// that the reference forms have.
TEST_P(Peft, DropoutIsTheReferences) {
  tensor::SetUpProcess(0);
  const ForwardOptions options{.training = true, .seed = 4, .step = 9};
  const auto reference = EncoderOf(case_, tensor::kDouble, 0.3);
  const auto fused = EncoderOf(case_, tensor::kFloat, 0.3);
  const tensor::Tensor want = Pooled(*reference, case_, options);
  const tensor::Tensor got = Pooled(*fused, case_, options);
  EXPECT_LT(RelativeError(got, want), 1e-6);
  EXPECT_GT(RelativeError(Pooled(*fused, case_), want), 1e-3);  // without
  SineLoss(want).backward();
  SineLoss(got).backward();
  const auto wants = reference->Parameters(), gots = fused->Parameters();
  for (size_t i = 0; i < wants.size(); ++i) {
    if (!wants[i].trained()) continue;
    EXPECT_LT(RelativeError(gots[i].value.grad(), wants[i].value.grad()), 1e-5) << wants[i].name;
  }
}

TEST_P(Peft, DropoutIsOfTrainingOnly) {
  tensor::SetUpProcess(0);
  const tensor::Tensor want = Pooled(*EncoderOf(case_, tensor::kDouble), case_);
  EXPECT_TRUE(AreEqual(Pooled(*EncoderOf(case_, tensor::kDouble, 0.3), case_), want));
  EXPECT_LT(RelativeError(Pooled(*EncoderOf(case_, tensor::kFloat, 0.3), case_), want), 1e-6);
}

// The columns of its input that a map's A has read, for one token.
std::string ColumnsRead(const tensor::Tensor& down) {
  const auto width = static_cast<size_t>(down.size(1));
  std::string columns(width, '-');
  size_t i = 0;
  for (const double slope : ElementsOf(down.grad())) {
    if (slope != 0) columns[i % width] = 'x';
    ++i;
  }
  return columns;
}

// Maps of one input (a stack) share their dropout; no others do.
TEST_P(Peft, EachInputHasADropoutOfItsOwn) {
  const auto encoder = EncoderOf(case_, tensor::kDouble, 0.3);
  const std::vector<int32_t> text = {17};
  const tensor::PackedTokens tokens = tensor::Pack(std::vector<std::span<const int32_t>>{text});
  SineLoss(encoder->Forward(tokens, {.training = true, .seed = 4, .step = 9})).backward();
  std::vector<std::string> seen;
  for (const AdaptedLinear& adapted : encoder->Adapters()) {
    const std::string columns = ColumnsRead(adapted.down);
    if (columns.find('x') == std::string::npos) continue;  // a query of one key has no gradient
    if (adapted.linear.ends_with("up_proj") && !seen.empty() && seen.back() == columns) continue;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), columns), 0) << adapted.linear;
    seen.push_back(columns);
  }
  EXPECT_GE(seen.size(), 4U);
}

TEST_P(Peft, GradientsEqualCentralDifferencesWithDropout) {
  const ForwardOptions options{.training = true, .seed = 4, .step = 9};
  const auto encoder = EncoderOf(case_, tensor::kDouble, 0.3);
  SineLoss(Pooled(*encoder, case_, options)).backward();
  const tensor::NoGradGuard no_gradient;
  RandomStream stream({.seed = 8, .purpose = "elements"});
  constexpr double kStep = 1e-5;
  for (const NamedParameter& parameter : encoder->Parameters()) {
    if (!parameter.trained()) continue;
    auto* values = parameter.value.data_ptr<double>();
    for (int i = 0; i < 3; ++i) {
      const uint64_t element = stream.Below(static_cast<uint64_t>(parameter.value.numel()));
      const double kept = values[element];
      double losses[2];
      for (const int side : {0, 1}) {
        values[element] = kept + (side == 0 ? kStep : -kStep);
        losses[side] = SineLoss(Pooled(*encoder, case_, options)).item<double>();
      }
      values[element] = kept;
      EXPECT_NEAR(parameter.value.grad().data_ptr<double>()[element],
                  (losses[0] - losses[1]) / (2 * kStep), 1e-7)
          << parameter.name << "[" << element << "]";
    }
  }
}

// A copy that is packed where it is used is the copy that Prepare makes.
TEST_P(Peft, PackingOnUseChangesNoByte) {
  tensor::SetUpProcess(0);
  for (const tensor::Precision precision : tensor::TestedPrecisions()) {
    const auto kept = EncoderOf(case_, tensor::kFloat), on_use = EncoderOf(case_, tensor::kFloat);
    on_use->PackFrozenOnUse();
    const tensor::Tensor want = Pooled(*kept, case_, {.precision = precision});
    const tensor::Tensor got = Pooled(*on_use, case_, {.precision = precision});
    EXPECT_TRUE(AreEqual(want, got));
    SineLoss(want).backward();
    SineLoss(got).backward();
    const auto wants = kept->Parameters(), gots = on_use->Parameters();
    for (size_t i = 0; i < wants.size(); ++i) {
      if (!wants[i].trained()) continue;
      EXPECT_TRUE(AreEqual(gots[i].value.grad(), wants[i].value.grad())) << wants[i].name;
    }
  }
}

// The inner width may be the width, so that all maps have one shape.
TEST_P(Peft, PackingOnUseKeepsMapsOfOneShapeApart) {
  tensor::SetUpProcess(0);
  json golden = case_.golden;
  golden["config"]["intermediate_size"] = golden["config"]["hidden_size"];
  const Case square = CaseOf(golden);
  const auto kept = EncoderOf(square, tensor::kFloat), on_use = EncoderOf(square, tensor::kFloat);
  on_use->PackFrozenOnUse();
  EXPECT_TRUE(AreEqual(Pooled(*kept, square), Pooled(*on_use, square)));
}

INSTANTIATE_TEST_SUITE_P(Golden, Peft, testing::ValuesIn(CaseNames()));

}  // namespace
}  // namespace tandem::model

// What holds for every encoder of the catalogue, without comparing it to another program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/random.h"
#include "model/dual_encoder.h"
#include "model/encoders/encoder_cases.h"
#include "model/encoders/formula_weights.h"
#include "support/host_device.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/bf16_products.h"
#include "tensor/machine/device.h"
#include "tensor/machine/process.h"
#include "tensor/ops.h"
#include "weights/architecture.h"

namespace tandem::model {
namespace {

// The cosine of embeddings in int8 with those in fp32, of untrained weights.
constexpr double kLeastCosine = 0.98;
constexpr tensor::Precision kInt8 = tensor::Precision::kInt8;

// Other shapes are computed by reference operations, which round nothing.
bool FitsKernels(const weights::EncoderSpec& spec) {
  return spec.hidden_size % 16 == 0 && spec.intermediate_size % 16 == 0 &&
         spec.heads * spec.head_width % 16 == 0;
}

class EncoderContract : public testing::TestWithParam<EncoderCase> {
 protected:
  void SetUp() override { tensor::SetUpProcess(0); }
};

TEST_P(EncoderContract, AsksForEveryTensorOnce) {
  const weights::EncoderSpec spec = SpecOf(GetParam());
  std::set<std::string> names;
  for (const weights::EncoderTensor& tensor : spec.tensors) names.insert(tensor.name);
  EXPECT_EQ(names.size(), spec.tensors.size());
  const auto encoder = EncoderOf(GetParam(), tensor::kFloat);
  std::set<std::string> asked;
  for (const NamedParameter& parameter : encoder->Parameters()) asked.insert(parameter.name);
  EXPECT_EQ(asked, names);
  for (const NamedParameter& parameter : encoder->Parameters()) {
    EXPECT_EQ(parameter.decay, parameter.value.dim() == 2) << parameter.name;
  }
}

// Holds with dropout too, which depends on the step and the text only, so that the loss is
// differentiable.
TEST_P(EncoderContract, GradientsEqualCentralDifferences) {
  const auto encoder = EncoderOf(GetParam(), tensor::kDouble, 0.2);
  const tensor::PackedTokens tokens = PackTexts({{3, 7, 18, 7}, {5}, {4, 4, 9, 11, 3, 9, 17, 30}});
  const ForwardOptions options{.training = true, .seed = 5, .step = 6};
  const auto loss = [&] {
    return SineLoss(PooledRows(TokenRows(encoder.get(), tokens, options), tokens));
  };
  loss().backward();
  const tensor::NoGradGuard no_gradient;
  RandomStream stream({.seed = 8, .purpose = "elements"});
  constexpr double kStep = 1e-6;  // gradients reach 50: at 1e-5 the third derivative shows
  for (const NamedParameter& parameter : encoder->Parameters()) {
    auto* values = parameter.value.data_ptr<double>();
    const tensor::Tensor gradient = GradientOf(parameter.value);
    for (int i = 0; i < 3; ++i) {
      const uint64_t element = stream.Below(static_cast<uint64_t>(parameter.value.numel()));
      const double kept = values[element];
      values[element] = kept + kStep;
      const double above = loss().item<double>();
      values[element] = kept - kStep;
      const double below = loss().item<double>();
      values[element] = kept;
      EXPECT_NEAR(gradient.data_ptr<double>()[element], (above - below) / (2 * kStep), 2e-7)
          << parameter.name << "[" << element << "]";
    }
  }
}

// An encoder that was moved to a device reads no memory there, where nobody may, waits for nothing
// there, and computes what the operations of its back end give.
TEST_P(EncoderContract, ComputesOnADeviceWhatItsOperationsCompute) {
  if (tensor::DeviceFormsForced()) GTEST_SKIP() << "a process has one back end; it has libtorch's";
  UseHostDevice();
  const auto encoder = EncoderOf(GetParam(), tensor::kFloat, 0.2);
  const auto moved = EncoderOf(GetParam(), tensor::kFloat, 0.2);
  moved->To(kHostDevice);
  const tensor::PackedTokens tokens = PackTexts(TextsOf(GetParam()));
  const tensor::PackedTokens tokens_there = tokens.To(kHostDevice);
  std::vector<tensor::Precision> precisions = {tensor::Precision::kFp32};
  if (tensor::HasBf16Products()) precisions.push_back(tensor::Precision::kBf16);
  for (const auto precision : precisions) {
    const ForwardOptions options{.precision = precision, .training = true, .seed = 5};
    const int64_t copies = CopiesFromHostDevice();
    const tensor::Tensor there = TokenRows(moved.get(), tokens_there, options);
    EXPECT_EQ(CopiesFromHostDevice(), copies);
    EXPECT_EQ(there.device(), kHostDevice);
    SineLoss(tensor::OnCpu(there)).backward();
    const tensor::UseReferenceOps reference;
    const tensor::Tensor here = TokenRows(encoder.get(), tokens, options);
    EXPECT_TRUE(AreEqual(tensor::OnCpu(there), here));
    SineLoss(here).backward();
    const auto wants = encoder->Parameters(), gots = moved->Parameters();
    for (size_t i = 0; i < wants.size(); ++i) {
      const tensor::Tensor want = GradientOf(wants[i].value);
      const tensor::Tensor got = GradientOf(gots[i].value);
      ASSERT_TRUE(got.defined()) << wants[i].name;
      EXPECT_LE(Distance(tensor::OnCpu(got), want), 1e-6 * NormOf(want)) << wants[i].name;
      wants[i].value.set_grad(tensor::Tensor());
      gots[i].value.set_grad(tensor::Tensor());
    }
  }
  EXPECT_THROW(moved->Prepare(kInt8, tensor::Passes::kForward), UsageError);
}

// The products of other forms than the kernels' round by their shapes; in double they are as exact.
TEST_P(EncoderContract, ATextIsTheSameAloneAndPacked) {
  const tensor::NoGradGuard no_gradient;
  const bool fused = tensor::UseForm::Wanted() == tensor::Form::kFused;
  const double bound = fused ? 2e-6 : 1e-13;
  const auto encoder = EncoderOf(GetParam(), fused ? tensor::kFloat : tensor::kDouble);
  const std::vector<std::vector<int32_t>> texts = TextsOf(GetParam());
  const tensor::PackedTokens packed = PackTexts(texts);
  const tensor::Tensor together = PooledRows(TokenRows(encoder.get(), packed), packed);
  for (size_t b = 0; b < texts.size(); ++b) {
    const tensor::PackedTokens tokens = PackTexts({texts[b]});
    const tensor::Tensor alone = PooledRows(TokenRows(encoder.get(), tokens), tokens)[0];
    const tensor::Tensor row = together[static_cast<int64_t>(b)];
    EXPECT_LE(Distance(alone, row), bound * NormOf(row)) << b;
  }
}

TEST_P(EncoderContract, ANeighbourNeverMatters) {
  const tensor::NoGradGuard no_gradient;
  std::vector<std::vector<int32_t>> texts = TextsOf(GetParam());
  for (const tensor::DType type : {tensor::kFloat, tensor::kDouble}) {
    const auto encoder = EncoderOf(GetParam(), type);
    const tensor::PackedTokens tokens = PackTexts(texts);
    const tensor::Tensor before = PooledRows(TokenRows(encoder.get(), tokens), tokens);
    std::vector<std::vector<int32_t>> others = texts;
    for (int32_t& id : others[2]) id = 3 + (id + 11) % 50;
    const tensor::PackedTokens changed = PackTexts(others);
    const tensor::Tensor after = PooledRows(TokenRows(encoder.get(), changed), changed);
    for (int64_t b = 0; b < before.size(0); ++b) {
      EXPECT_EQ(AreEqual(before[b], after[b]), b != 2) << b;
    }
  }
}

TEST_P(EncoderContract, InEightBitsTextsAreNearAndNeighboursNeverMatter) {
  const tensor::NoGradGuard no_gradient;
  const auto encoder = EncoderOf(GetParam(), tensor::kFloat);
  std::vector<std::vector<int32_t>> texts = TextsOf(GetParam());
  const tensor::PackedTokens tokens = PackTexts(texts);
  const tensor::Tensor fp32 = PooledRows(TokenRows(encoder.get(), tokens), tokens);
  const bool fits = FitsKernels(SpecOf(GetParam()));
  const ForwardOptions options{.precision = kInt8};
  const tensor::Tensor before = PooledRows(TokenRows(encoder.get(), tokens, options), tokens);
  for (int32_t& id : texts[2]) id = 3 + (id + 11) % 50;
  const tensor::PackedTokens changed = PackTexts(texts);
  const tensor::Tensor after = PooledRows(TokenRows(encoder.get(), changed, options), changed);
  for (int64_t b = 0; b < before.size(0); ++b) {
    const double length = NormOf(fp32[b]) * NormOf(before[b]);
    EXPECT_GT(DotOf(fp32[b], before[b]), kLeastCosine * length) << b;
    EXPECT_TRUE(!fits || !AreEqual(before[b], fp32[b])) << b;
    EXPECT_EQ(AreEqual(before[b], after[b]), b != 2) << b;
  }
}

TEST_P(EncoderContract, EightBitsAreForForwardPassesOnly) {
  const auto encoder = EncoderOf(GetParam(), tensor::kFloat);
  EXPECT_THROW(encoder->Prepare(kInt8, tensor::Passes::kBoth), std::logic_error);
  const tensor::PackedTokens tokens = PackTexts(TextsOf(GetParam()));
  encoder->Prepare(kInt8, tensor::Passes::kForward);
  EXPECT_THROW(encoder->Forward(tokens, {}), std::logic_error);
  EXPECT_NO_THROW(encoder->Forward(tokens, {.precision = kInt8}));
  encoder->Prepare(tensor::Precision::kFp32, tensor::Passes::kForward);
  EXPECT_THROW(encoder->Forward(tokens, {.precision = kInt8}), std::logic_error);
}

// Dropout changes what an encoder with a rate computes, and rate 0 is no dropout.
TEST_P(EncoderContract, DropoutIsOfTrainingOnly) {
  const tensor::NoGradGuard no_gradient;
  const tensor::PackedTokens tokens = PackTexts(TextsOf(GetParam()));
  const ForwardOptions training{.training = true, .seed = 5, .step = 6};
  const auto rows = [&](double rate, const ForwardOptions& options) {
    return TokenRows(EncoderOf(GetParam(), tensor::kFloat, rate).get(), tokens, options);
  };
  const tensor::Tensor wanted = rows(0.3, {});
  EXPECT_TRUE(AreEqual(rows(0, training), wanted));
  EXPECT_FALSE(AreEqual(rows(0.3, training), wanted));
}

nlohmann::json FolderConfig(const EncoderCase& one) {
  nlohmann::json config = one.config();
  config["vocab_size"] = FormulaVocabulary();
  return config;
}

tensor::Tensor EncodeSome(DualEncoder* model) {
  const tensor::NoGradGuard no_gradient;
  model->Prepare(TextKind::kDocument, tensor::Precision::kFp32, tensor::Passes::kForward);
  const std::vector<std::string_view> texts = {"alpha beta fast", "music", "x1 y2 red"};
  const text::EncodedTexts encoded = model->tokenizer(TextKind::kDocument).EncodeAll(texts, 20, 1);
  std::vector<std::span<const int32_t>> spans;
  for (size_t b = 0; b < encoded.size(); ++b) spans.push_back(encoded[b]);
  return model->Encode(tensor::Pack(spans), TextKind::kDocument, {});
}

TEST_P(EncoderContract, ASavedModelHasTheSameBytes) {
  const TemporaryFolder folder;
  const std::filesystem::path first = folder.path() / "first", second = folder.path() / "second";
  const weights::Architecture& architecture = *weights::FindArchitecture(GetParam().model_type());
  for (const bool prefixed : {false, true}) {
    const std::string_view prefix = prefixed ? architecture.prefixes.front() : std::string_view();
    WriteFormulaFolder(first, FolderConfig(GetParam()), {.prefix = prefix});
    const auto model = DualEncoder::Load(first);
    model->Save(second);
    EXPECT_EQ(ReadFile(second / "model.safetensors"), ReadFile(first / "model.safetensors"));
    EXPECT_EQ(ReadFile(second / "config.json"), ReadFile(first / "config.json"));
    EXPECT_TRUE(AreEqual(EncodeSome(DualEncoder::Load(second).get()), EncodeSome(model.get())));
  }
}

TEST_P(EncoderContract, ABf16FileIsRead) {
  const TemporaryFolder folder;
  nlohmann::json config = FolderConfig(GetParam());
  config["torch_dtype"] = "bfloat16";
  WriteFormulaFolder(folder.path() / "wide", config);
  WriteFormulaFolder(folder.path() / "narrow", config, {.dtype = weights::Dtype::kBF16});
  const auto model = DualEncoder::Load(folder.path() / "narrow");
  const tensor::Tensor wanted = EncodeSome(DualEncoder::Load(folder.path() / "wide").get());
  const double error = Distance(EncodeSome(model.get()), wanted);
  EXPECT_GT(error, 0);
  EXPECT_LE(error, 0.05 * NormOf(wanted));
  model->Save(folder.path() / "saved");
  const nlohmann::json saved =
      nlohmann::json::parse(ReadFile(folder.path() / "saved" / "config.json"));
  EXPECT_EQ(saved["torch_dtype"], "float32");  // what the written weights are
}

TEST(EncoderDirection, IsWrittenWithTheModel) {
  for (const EncoderCase& one : EncoderCases()) {
    if (!weights::FindArchitecture(one.model_type())->decoder) continue;
    const bool causal = SpecOf(one).layers[0].attention.causal;
    if (!causal && one.config().contains("use_bidirectional_attention")) continue;
    const TemporaryFolder folder;
    WriteFormulaFolder(folder.path() / "base", FolderConfig(one));
    const auto base = DualEncoder::Load(folder.path() / "base");
    const auto other = DualEncoder::Load(folder.path() / "base", {.is_causal = !causal});
    const tensor::Tensor wanted = EncodeSome(other.get());
    EXPECT_FALSE(AreEqual(EncodeSome(base.get()), wanted)) << one.name;
    EXPECT_NE(base->settings(), other->settings());
    other->Save(folder.path() / "saved");
    const nlohmann::json saved =
        nlohmann::json::parse(ReadFile(folder.path() / "saved" / "config.json"));
    EXPECT_EQ(saved["is_causal"], !causal);
    EXPECT_TRUE(AreEqual(EncodeSome(DualEncoder::Load(folder.path() / "saved").get()), wanted));
    // What the folder says already changes nothing.
    const auto same = DualEncoder::Load(folder.path() / "base", {.is_causal = causal});
    same->Save(folder.path() / "same");
    EXPECT_EQ(ReadFile(folder.path() / "same" / "config.json"),
              ReadFile(folder.path() / "base" / "config.json"));
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EncoderContract, testing::ValuesIn(EncoderCases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tandem::model

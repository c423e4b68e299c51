#include "model/dual_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/isa/isa.h"
#include "tensor/machine/process.h"

namespace tandem::model {
namespace {

using testing::HasSubstr;

tensor::Tensor EncodeTexts(DualEncoder* model, const std::vector<std::string_view>& texts,
                           const ForwardOptions& options = {}) {
  const tensor::NoGradGuard no_gradient;
  const text::EncodedTexts encoded =
      model->tokenizer(TextKind::kDocument)
          .EncodeAll(texts, model->max_tokens(TextKind::kDocument), 1);
  std::vector<std::span<const int32_t>> spans;
  for (size_t b = 0; b < encoded.size(); ++b) spans.push_back(encoded[b]);
  model->Prepare(TextKind::kDocument, options.precision, tensor::Passes::kForward);
  return model->Encode(tensor::Pack(spans), TextKind::kDocument, options);
}

struct NamedShape {
  const char* name;
  TinyModelOptions options;
};
constexpr size_t kShapes = 4;
NamedShape ShapeAt(size_t index) {
  const NamedShape shapes[kShapes] = {{"Mean", {}},
                                      {"WidthsWithoutFusedForm", {.hidden = 24, .heads = 3}},
                                      {"Dense", {.dense = true}},
                                      {"Cls", {.pooling = "cls"}}};
  return shapes[index];
}

class DualEncoderTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(0);
    WriteTinyModel(folder_.path() / "model", ShapeAt(GetParam()).options);
    model_ = DualEncoder::Load(folder_.path() / "model");
  }
  TemporaryFolder folder_;
  std::unique_ptr<DualEncoder> model_;
};

// Packs of a few texts, each of other texts.
std::vector<tensor::PackedTokens> SomePacks(const DualEncoder& model) {
  const std::vector<std::vector<std::string_view>> batches = {
      {"red photo editor", "a"}, {"fast music server", "slow file", "blue game"}, {"alpha beta"}};
  std::vector<tensor::PackedTokens> packs;
  for (const auto& texts : batches) {
    const text::EncodedTexts encoded = model.tokenizer(TextKind::kDocument).EncodeAll(texts, 0, 1);
    std::vector<std::span<const int32_t>> spans;
    for (size_t b = 0; b < encoded.size(); ++b) spans.push_back(encoded[b]);
    packs.push_back(tensor::Pack(spans));
  }
  return packs;
}

TEST_P(DualEncoderTest, SeveralThreadsThatEncodeGetTheBytesOfOne) {
  std::vector<tensor::Precision> precisions = {tensor::Precision::kFp32};
  if (tensor::CurrentIsa() >= tensor::Isa::kAvx512Bf16) {
    precisions.push_back(tensor::Precision::kBf16);
  }
  const std::vector<tensor::PackedTokens> packs = SomePacks(*model_);
  for (const tensor::Precision precision : precisions) {
    model_->Prepare(TextKind::kDocument, precision, tensor::Passes::kForward);
    const DualEncoder& model = *model_;
    const auto encode = [&](size_t pack) {
      const tensor::NoGradGuard no_gradient;
      return model.Encode(packs[pack], TextKind::kDocument, {.precision = precision});
    };
    std::vector<tensor::Tensor> want;
    for (size_t pack = 0; pack < packs.size(); ++pack) want.push_back(encode(pack));
    constexpr size_t kThreads = 4, kRounds = 10;
    std::vector<int> equal(kThreads);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (size_t round = 0; round < kRounds; ++round) {
          const size_t pack = (t + round) % packs.size();
          equal[t] += AreEqual(encode(pack), want[pack]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(equal, std::vector<int>(kThreads, kRounds)) << tensor::PrecisionName(precision);
  }
}

TEST_P(DualEncoderTest, ABackwardPassMayOutliveTheModel) {
  const tensor::PackedTokens pack = SomePacks(*model_)[1];
  std::vector<tensor::Tensor> gradients;
  for (const bool ends_before : {false, true}) {
    auto model = DualEncoder::Load(folder_.path() / "model");
    const tensor::Tensor word = model->Parameters().front().value;
    model->Prepare(TextKind::kDocument, tensor::Precision::kFp32, tensor::Passes::kBoth);
    const tensor::Tensor rows = model->Encode(pack, TextKind::kDocument, {});
    if (ends_before) model.reset();
    SineLoss(rows).backward();
    gradients.push_back(GradientOf(word));
  }
  EXPECT_TRUE(AreEqual(gradients[0], gradients[1]));
  EXPECT_GT(LargestOf(gradients[0]), 0);
}

TEST_P(DualEncoderTest, AnEmbeddingDoesNotDependOnItsNeighbours) {
  const tensor::Tensor alone = EncodeTexts(model_.get(), {"red photo editor"});
  const tensor::Tensor among = EncodeTexts(
      model_.get(), {"a", "fast music server for alpha beta gamma", "red photo editor", "game"});
  EXPECT_EQ(alone.size(1), model_->embedding_width());
  EXPECT_LE(LargestDifference(alone[0], among[2]), 1e-6);
  EXPECT_GT(LargestDifference(alone[0], among[1]), 1e-3);
}

TEST_P(DualEncoderTest, EmbeddingsHaveUnitLength) {
  const tensor::Tensor embeddings = EncodeTexts(model_.get(), {"red", "", "slow file"});
  for (int64_t b = 0; b < 3; ++b) EXPECT_NEAR(NormOf(embeddings[b]), 1, 1e-6);
}

TEST_P(DualEncoderTest, SaveAndLoadGiveTheSameBytes) {
  for (const NamedParameter& parameter : model_->Parameters()) AddToEach(parameter.value, 0.01);
  const tensor::Tensor before = EncodeTexts(model_.get(), {"green graph", "slow game server"});
  model_->Save(folder_.path() / "saved");
  const auto loaded = DualEncoder::Load(folder_.path() / "saved");
  EXPECT_TRUE(AreEqual(EncodeTexts(loaded.get(), {"green graph", "slow game server"}), before));
  loaded->Save(folder_.path() / "again");
  EXPECT_EQ(ReadFile(folder_.path() / "again" / "model.safetensors"),
            ReadFile(folder_.path() / "saved" / "model.safetensors"));
}

TEST_P(DualEncoderTest, DropoutIsOnInTrainingOnlyAndFollowsItsNames) {
  const std::vector<std::string_view> texts = {"red photo editor", "fast music"};
  const ForwardOptions training{.training = true, .seed = 1, .step = 1};
  const tensor::Tensor plain = EncodeTexts(model_.get(), texts);
  const tensor::Tensor dropped = EncodeTexts(model_.get(), texts, training);
  EXPECT_GT(LargestDifference(plain, dropped), 1e-4);
  EXPECT_TRUE(AreEqual(dropped, EncodeTexts(model_.get(), texts, training)));
  const tensor::Tensor next =
      EncodeTexts(model_.get(), texts, {.training = true, .seed = 1, .step = 2});
  EXPECT_GT(LargestDifference(next, dropped), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DualEncoderTest, testing::Range(size_t{0}, kShapes),
                         [](const auto& shape) { return ShapeAt(shape.param).name; });

TEST(DualEncoder, LengthsAndPromptsCanBeGiven) {
  const TemporaryFolder folder;
  WriteTinyModel(folder.path() / "model");
  const auto model = DualEncoder::Load(
      folder.path() / "model",
      {.max_query_tokens = 8, .max_document_tokens = 0, .query_prompt = "find: "});
  EXPECT_EQ(model->max_tokens(TextKind::kQuery), 8U);
  EXPECT_EQ(model->max_tokens(TextKind::kDocument), 64U);
  EXPECT_EQ(model->prompt(TextKind::kQuery), "find: ");
  EXPECT_EQ(model->prompt(TextKind::kDocument), "");
}

TEST(DualEncoder, ALengthAboveThePositionTableIsAUsageError) {
  const TemporaryFolder folder;
  WriteTinyModel(folder.path() / "model");
  try {
    DualEncoder::Load(folder.path() / "model", {.max_document_tokens = 65});
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("max_document_tokens is 65, but a text may have at most 64 tokens"));
  }
}

TEST(DualEncoder, ATokenizerOfAnotherModelIsAModelError) {
  const TemporaryFolder folder;
  WriteTinyModel(folder.path() / "model");
  const auto vocabulary = folder.path() / "model" / "vocab.txt";
  WriteFileAtomically(vocabulary, ReadFile(vocabulary) + "another\n");
  try {
    DualEncoder::Load(folder.path() / "model");
    FAIL() << "no error";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tokenizer has 94 tokens and its word embeddings 93 rows"));
  }
}

}  // namespace
}  // namespace tandem::model

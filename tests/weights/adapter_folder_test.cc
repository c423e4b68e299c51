#include "weights/adapter_folder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/captured_messages.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "weights/architecture.h"
#include "weights/error_matching.h"
#include "weights/model_folder.h"
#include "weights/small_model_folder.h"

namespace tandem::weights {
namespace {

constexpr const char* kQuery = "encoder.layer.1.attention.self.query";

class AdapterFolderTest : public testing::Test {
 protected:
  AdapterFolderTest() {
    WriteSmallModel(folder_.path() / "base");
    spec_ = ReadEncoderSpec(folder_.path() / "base" / "config.json");
    Write({DownName(kQuery), UpName(kQuery)});
  }
  std::filesystem::path path() const { return folder_.path() / "adapter"; }

  // Adapters [2, 8] and [8, 2] under these names, A before B.
  void Write(const std::vector<std::string>& names,
             const AdapterSettings& settings = {.rank = 2, .base = "base", .targets = {"query"}}) {
    std::vector<TensorToWrite> tensors;
    for (size_t i = 0; i < names.size(); ++i) {
      tensors.push_back(Float32Tensor(names[i], i % 2 == 0 ? Shape{2, 8} : Shape{8, 2}, kValues));
    }
    WriteAdapterFolder(path(), settings, tensors);
  }
  AdapterFolder Read() const {
    return ReadAdapterFolder(path(), spec_, FindArchitecture("bert")->prefixes);
  }
  void SetKey(const std::string& key, const nlohmann::json& value) const {
    nlohmann::json config = nlohmann::json::parse(ReadFile(path() / kAdapterConfig));
    config[key] = value;
    WriteFileAtomically(path() / kAdapterConfig, config.dump());
  }
  void ExpectBroken(const std::vector<std::string>& texts) const {
    ExpectError([&] { Read(); }, ExitCode::kModel, texts);
  }

  inline static const std::vector<float> kValues = std::vector<float>(16, 0.5F);
  TemporaryFolder folder_;
  EncoderSpec spec_;
};

TEST_F(AdapterFolderTest, IsReadAsItWasWritten) {
  Write({DownName(kQuery), UpName(kQuery)}, {.rank = 2,
                                             .alpha = 6,
                                             .dropout = 0.25,
                                             .rank_stabilized = true,
                                             .base = "hub/base",
                                             .targets = {"query"}});
  const AdapterFolder adapter = Read();
  EXPECT_EQ(adapter.settings.rank, 2);
  EXPECT_DOUBLE_EQ(adapter.settings.scale(), 6 / std::sqrt(2.0));
  EXPECT_EQ(adapter.settings.dropout, 0.25);
  EXPECT_EQ(adapter.settings.base, "hub/base");
  EXPECT_EQ(adapter.settings.targets, std::vector<std::string>{"query"});
  ASSERT_EQ(adapter.pairs.size(), 1U);
  EXPECT_EQ(ToFloat32(*adapter.pairs.at(kQuery).down), kValues);
  EXPECT_DOUBLE_EQ((AdapterSettings{.rank = 4, .alpha = 2}.scale()), 0.5);
}

TEST_F(AdapterFolderTest, APrefixOfATaskModelIsUnderstood) {
  const std::string linear = std::string("bert.") + kQuery;
  Write({DownName(linear), UpName(linear)});
  EXPECT_TRUE(Read().pairs.contains(kQuery));
}

TEST_F(AdapterFolderTest, WhatEmbeddingsDoNotDependOnIsLeftOutAndSaid) {
  for (const std::string module :
       {"pooler.dense", "decoder.block.0.layer.0.SelfAttention.q",
        "cls.predictions.transform.dense", "lm_head.dense", "head.dense", "vocab_transform",
        "classifier.out_proj", "pre_classifier", "score"}) {
    Write({DownName(kQuery), UpName(kQuery), DownName(module), UpName(module)});
    const CapturedMessages messages;
    EXPECT_EQ(Read().pairs.size(), 1U);
    EXPECT_NE(messages.text().find(module), std::string::npos) << messages.text();
  }
  const std::string other = "encoder.layer.1.attention.heads.dense";  // a whole component counts
  Write({DownName(kQuery), UpName(kQuery), DownName(other), UpName(other)});
  ExpectBroken({other, "of another base"});
}

TEST_F(AdapterFolderTest, WhatIsNotSupportedSaysSo) {
  const std::pair<const char*, nlohmann::json> kKeys[] = {{"peft_type", "IA3"},
                                                          {"use_dora", true},
                                                          {"bias", "all"},
                                                          {"alpha_pattern", {{"query", 4}}},
                                                          {"rank_pattern", {{"query", 4}}},
                                                          {"modules_to_save", {"pooler"}},
                                                          {"lora_bias", true}};
  for (const auto& [key, value] : kKeys) {
    Write({DownName(kQuery), UpName(kQuery)});
    SetKey(key, value);
    ExpectBroken({kAdapterConfig, key, "supported"});
  }
  Write({DownName(kQuery), UpName(kQuery)});
  for (const char* key : {"use_dora", "lora_bias"}) SetKey(key, false);
  for (const char* key : {"alpha_pattern", "modules_to_save"}) SetKey(key, nullptr);
  EXPECT_NO_THROW(Read());
}

TEST_F(AdapterFolderTest, AnotherBaseIsRefused) {
  SetKey("r", 4);
  ExpectBroken({"[2, 8]", "[4, 8]", "of another base"});
  Write({DownName("encoder.layer.7.attention.self.query"), UpName(kQuery)});
  ExpectBroken({"encoder.layer.7.attention.self.query, which the base has not"});
  Write({DownName(kQuery)});
  ExpectBroken({"has no lora_B"});
  Write({"base_model.model.embeddings.word_embeddings.lora_embedding_A"});
  ExpectBroken({"adapters of other modules are not supported"});
  std::filesystem::remove(path() / kAdapterConfig);
  ExpectBroken({"is no adapter folder"});
}

TEST_F(AdapterFolderTest, SomethingElseIsNotReplaced) {
  ExpectError([&] { WriteAdapterFolder(folder_.path() / "base", {}, {}); }, ExitCode::kUsage,
              {"is no adapter folder"});
}

TEST_F(AdapterFolderTest, TargetsAreTheShortestThatNameNothingElse) {
  const std::vector<std::string> linears = {"encoder.layer.0.output.dense",
                                            "encoder.layer.1.output.dense", kQuery};
  EXPECT_EQ(
      TargetModules(spec_, linears, {"pooler.dense"}),
      (std::vector<std::string>{"0.output.dense", "1.attention.self.query", "1.output.dense"}));
}

// "query" is no suffix of "subquery": components count whole.
TEST_F(AdapterFolderTest, TargetsAreComparedByWholeComponents) {
  const std::vector<std::string> linears = {"encoder.layer.0.attention.self.query", kQuery};
  EXPECT_EQ(TargetModules(spec_, linears, {"head.subquery"}), std::vector<std::string>{"query"});
}

TEST(MergedWeight, AddsTheScaledProduct) {
  const std::vector<float> base = {1, 2, 3, 4, 5, 6}, down = {1, 0, -1, 2, 2, 2},
                           up = {1, 10, 3, 0};
  const TensorView view{"w", Dtype::kF32, {2, 3}, {reinterpret_cast<const char*>(base.data()), 24}};
  const std::string bytes =
      MergedWeight{.weight = view, .down = down.data(), .up = up.data(), .rank = 2, .scale = 0.5}
          .Bytes();
  std::vector<float> merged(6);
  ASSERT_EQ(bytes.size(), 24U);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(merged.data()));
  EXPECT_EQ(merged, (std::vector<float>{11.5, 12, 12.5, 5.5, 5, 4.5}));
}

}  // namespace
}  // namespace tandem::weights

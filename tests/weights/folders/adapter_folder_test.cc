#include "weights/folders/adapter_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "weights/architecture.h"
#include "weights/folders/model_folder.h"

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
  void WriteTensors(const std::vector<TensorToWrite>& tensors) const {
    WriteAdapterFolder(path(), {.rank = 2, .base = "base", .targets = {"query"}}, tensors);
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

TEST_F(AdapterFolderTest, CopiesThatPeftSavesBesideAHeadsAdapterAreLeftOut) {
  WriteTensors({Float32Tensor(DownName(kQuery), {2, 8}, kValues),
                Float32Tensor(UpName(kQuery), {8, 2}, kValues),
                Float32Tensor("base_model.model.lm_head.base_layer.weight", {4, 4}, kValues)});
  const CapturedMessages messages;
  EXPECT_EQ(Read().pairs.size(), 1U);
  EXPECT_NE(messages.text().find("lm_head.base_layer"), std::string::npos) << messages.text();
}

// The word table is left out where it is the base's; another one would change embeddings.
TEST_F(AdapterFolderTest, AWordTableMustBeTheBases) {
  const ModelFolder base = ReadModelFolder(folder_.path() / "base");
  spec_ = base.encoder;
  const TensorView& table = *base.tensor(spec_.embedding.word).view;
  std::vector<float> words = ToFloat32(table);
  const auto write = [&](const std::string& name) {
    WriteTensors({Float32Tensor(DownName(kQuery), {2, 8}, kValues),
                  Float32Tensor(UpName(kQuery), {8, 2}, kValues),
                  Float32Tensor("base_model.model." + name, table.shape, words)});
  };
  for (const std::string prefix : {"", "bert."}) {
    write(prefix + spec_.embedding.word);
    EXPECT_EQ(Read().pairs.size(), 1U);
  }
  words.back() += 1;
  write(spec_.embedding.word);
  ExpectBroken({spec_.embedding.word, "trained weights beside adapters", "merge_and_unload()"});
}

TEST_F(AdapterFolderTest, WhatIsNotSupportedSaysSo) {
  const std::pair<const char*, nlohmann::json> kKeys[] = {
      {"peft_type", "IA3"},
      {"use_dora", true},
      {"bias", "all"},
      {"alpha_pattern", {{"query", 4}}},
      {"rank_pattern", {{"query", 4}}},
      {"modules_to_save", {"pooler"}},
      {"lora_bias", true},
      {"alora_invocation_tokens", {5, 6}},
      {"kasa_config", {{"svd_rank", 2}}},
      {"monteclora_config", {{"sample_scaler", 0.1}}},
      {"velora_config", {{"num_groups", 8}}},
      {"use_newthing", true},
      {"another_config", {{"scale", 2}}}};
  for (const auto& [key, value] : kKeys) {
    Write({DownName(kQuery), UpName(kQuery)});
    SetKey(key, value);
    ExpectBroken({kAdapterConfig, key, "supported"});
  }
  SetKey("use_dora", true);
  ExpectBroken({"merge_and_unload()"});
  Write({DownName(kQuery), UpName(kQuery)});
  for (const char* key : {"use_dora", "lora_bias"}) SetKey(key, false);
  for (const char* key : {"alpha_pattern", "modules_to_save", "alora_invocation_tokens", "new_key"})
    SetKey(key, nullptr);
  EXPECT_NO_THROW(Read());
}

// PEFT changes the base where an adapter says that it started so (lora/layer.py, update_layer).
TEST_F(AdapterFolderTest, StartsThatChangeTheBaseAreRefused) {
  for (const char* start :
       {"pissa", "pissa_niter_4", "olora", "OLoRA", "corda", "loftq", "lora_ga", "unknown"}) {
    SetKey("init_lora_weights", start);
    ExpectBroken({kAdapterConfig, "init_lora_weights", start, "merge_and_unload()"});
  }
  SetKey("init_lora_weights", 3);
  ExpectBroken({"init_lora_weights"});
  for (const nlohmann::json& start :
       {nlohmann::json(true), nlohmann::json(false), nlohmann::json("gaussian"),
        nlohmann::json("eva"), nlohmann::json("orthogonal"), nlohmann::json("mica")}) {
    SetKey("init_lora_weights", start);
    EXPECT_NO_THROW(Read()) << start;
  }
}

// Keys of PEFT 0.21 that say how an adapter was made.
TEST_F(AdapterFolderTest, HowItWasMadeIsNoMatter) {
  const std::pair<const char*, nlohmann::json> kKeys[] = {
      {"exclude_modules", {"key"}},  {"layers_to_transform", {1}},
      {"layers_pattern", "layer"},   {"megatron_core", "megatron.core"},
      {"qalora_group_size", 16},     {"peft_version", "0.21.2"},
      {"revision", "main"},          {"auto_mapping", {{"base_model_class", "BertModel"}}},
      {"ensure_weight_tying", true}, {"eva_config", {{"rho", 2.0}}},
      {"task_type", "CAUSAL_LM"}};
  for (const auto& [key, value] : kKeys) SetKey(key, value);
  EXPECT_EQ(Read().pairs.size(), 1U);
  SetKey("target_modules", {{"query", "key"}});
  ExpectBroken({"target_modules", "a list of texts"});
}

TEST_F(AdapterFolderTest, AnotherBaseIsRefused) {
  Write({DownName("encoder.layer.1.output.dense"), UpName("encoder.layer.1.output.dense")});
  ExpectBroken({"[2, 8]", "[2, 16]", "of another base"});
  Write({DownName("encoder.layer.7.attention.self.query"), UpName(kQuery)});
  ExpectBroken({"encoder.layer.7.attention.self.query, which the base has not"});
  Write({DownName(kQuery)});
  ExpectBroken({"has no lora_B"});
  Write({"base_model.model.embeddings.word_embeddings.lora_embedding_A"});
  ExpectBroken({"adapters of other modules", "not supported", "merge_and_unload()"});
  std::filesystem::remove(path() / kAdapterConfig);
  ExpectBroken({"is no adapter folder"});
}

TEST_F(AdapterFolderTest, FilesOfTwoAdaptersAreFound) {
  SetKey("r", 4);
  ExpectBroken({"lora_A", "[2, 8], rank 2", "r = 4", "two files of one adapter"});
}

TEST_F(AdapterFolderTest, AMapHasOneAdapter) {
  const std::string again = std::string("bert.") + kQuery;
  Write({DownName(kQuery), UpName(kQuery), DownName(again), UpName(again)});
  ExpectBroken({"is a second lora_", kQuery, "beside"});
}

TEST_F(AdapterFolderTest, NumbersMustBeFinite) {
  for (const float broken : {std::nanf(""), INFINITY}) {
    std::vector<float> values = kValues;
    values[9] = broken;
    WriteTensors({Float32Tensor(DownName(kQuery), {2, 8}, kValues),
                  Float32Tensor(UpName(kQuery), {8, 2}, values)});
    ExpectBroken({UpName(kQuery), "number 10 of 16", "finite numbers are expected"});
  }
}

TEST_F(AdapterFolderTest, AFolderWithoutSafetensorsSaysHowToMakeThem) {
  std::filesystem::remove(path() / kAdapterWeights);
  ExpectBroken({"has no adapter_model.safetensors"});
  WriteFileAtomically(path() / "adapter_model.bin", "x");
  ExpectBroken({"has no adapter_model.safetensors", "safe_serialization=True"});
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

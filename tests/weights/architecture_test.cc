// What each architecture reads from config.json, and what it refuses, by its exact message.
#include "weights/architecture.h"

#include <gtest/gtest.h>

#include <set>

#include "model/encoders/formula_weights.h"
#include "support/captured_messages.h"
#include "weights/architecture_fixture.h"
#include "weights/folders/model_folder.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

TEST_F(ArchitectureTest, UnknownOnesNameTheKnownAndTheNearest) {
  const std::string known =
      "bert, roberta, xlm-roberta, camembert, distilbert, mpnet, modernbert, t5, llama, mistral, "
      "qwen2, qwen3, gemma3_text";
  ExpectMessage(Changed(Bert(), {{"model_type", "robertta"}}),
                "the architecture 'robertta' is not supported; supported: " + known +
                    "; did you mean roberta?");
  ExpectMessage(Changed(Bert(), {{"model_type", "nomic_bert"},
                                 {"auto_map", {{"AutoModel", "modeling.NomicBertModel"}}}}),
                "the architecture 'nomic_bert' is not supported; supported: " + known +
                    "; its code is in the folder (auto_map: modeling.NomicBertModel) and is not "
                    "run. Needed is a model that transformers computes without trust_remote_code");
  ExpectMessage(Changed(Bert(), {{"model_type", "gemma3"}}),
                "the architecture 'gemma3' is not supported; supported: " + known +
                    "; gemma3 reads images and text: of it only the text model is supported, whose "
                    "config.json has model_type gemma3_text (in Python: save "
                    "model.language_model)");
}

TEST_F(ArchitectureTest, QuantisedWeightsAreRefused) {
  for (const char* method : {"gptq", "awq", "bitsandbytes"}) {
    ExpectMessage(
        Changed(Decoder("llama"), {{"quantization_config", {{"quant_method", method}}}}),
        std::string("the weights are quantised (quantization_config: ") + method +
            "), and only F32, F16 and BF16 are supported. Take the model that they were quantised "
            "from, or load this one in Python, model.dequantize(), and save it");
  }
}

TEST_F(ArchitectureTest, CodeOfTheFolderIsNotRunAndSaid) {
  const CapturedMessages messages;
  const json map = {{"auto_map", {{"AutoModel", "modeling_qwen.Qwen2Model"}}}};
  Read(Changed(Decoder("qwen2"), map));
  EXPECT_NE(messages.text().find("names code of the folder (auto_map: modeling_qwen.Qwen2Model), "
                                 "which is not run; the model is computed as qwen2, as "
                                 "transformers does without trust_remote_code. If that code makes "
                                 "it bidirectional, say model.is_causal = false"),
            std::string::npos)
      << messages.text();
}

TEST_F(ArchitectureTest, AttentionImplementationsSayNothing) {
  const CapturedMessages messages;
  Read(Changed(Decoder("llama"), {{"attn_implementation", "flash_attention_2"},
                                  {"_attn_implementation", "flash_attention_2"}}));
  EXPECT_EQ(messages.text(), "");
}

TEST_F(ArchitectureTest, HeadCountsMustDivide) {
  ExpectMessage(Changed(Bert(), {{"num_attention_heads", 3}}),
                "'num_attention_heads' is 3; a divisor of hidden_size 8 expected");
  ExpectMessage(Changed(DistilBert(), {{"n_heads", 3}}),
                "'n_heads' is 3; a divisor of dim 16 expected");
  ExpectMessage(Changed(Decoder("llama"), {{"num_attention_heads", 3}, {"num_key_value_heads", 3}}),
                "'num_attention_heads' is 3; a divisor of hidden_size 32 expected");
  ExpectMessage(Changed(Decoder("mistral"), {{"num_key_value_heads", 3}}),
                "'num_key_value_heads' is 3; a divisor of num_attention_heads 4 expected");
  ExpectMessage(Changed(Decoder("qwen3"), {{"head_dim", 7}}),
                "'head_dim' is 7; heads of an even number of channels, not 7, for rotary "
                "positions, expected");
  ExpectMessage(Changed(ModernBert(), {{"hidden_size", 6}}),
                "'num_attention_heads' is 2; a number of heads of even width (hidden_size is 6) "
                "expected");
}

TEST_F(ArchitectureTest, KeyValueHeadsHaveTheDefaultOfTheirClass) {
  json config = Decoder("llama");
  config.erase("num_key_value_heads");
  EXPECT_EQ(Read(config).key_value_heads, 4);
  config["model_type"] = "mistral";
  config["num_key_value_heads"] = nullptr;
  EXPECT_EQ(Read(config).key_value_heads, 4);
  config.erase("num_key_value_heads");
  config["num_attention_heads"] = 16;
  EXPECT_EQ(Read(config).key_value_heads, 8);
}

TEST_F(ArchitectureTest, ActivationsNameTheSupported) {
  ExpectMessage(Changed(Bert(), {{"hidden_act", "mish"}}),
                "'hidden_act' is \"mish\"; \"gelu\" or \"gelu_python\" or \"gelu_new\" or "
                "\"gelu_pytorch_tanh\" or \"gelu_python_tanh\" or \"gelu_fast\" or "
                "\"gelu_accurate\" or \"relu\" or \"silu\" or \"swish\" expected");
  ExpectMessage(Changed(T5(), {{"feed_forward_proj", "gated-mish"}}),
                "'feed_forward_proj' is \"gated-mish\"; one of gelu, gelu_python, gelu_new, "
                "gelu_pytorch_tanh, gelu_python_tanh, gelu_fast, gelu_accurate, relu, silu, swish, "
                "or one of them after \"gated-\", expected");
  EXPECT_EQ(Read(Changed(Bert(), {{"hidden_act", "swish"}})).activation, HiddenActivation::kSilu);
  EXPECT_EQ(Read(Changed(Bert(), {{"hidden_act", "gelu_fast"}})).activation,
            HiddenActivation::kGeluTanh);
}

TEST_F(ArchitectureTest, PositionsThatPaddingTakes) {
  const EncoderSpec spec = Read(Changed(Bert(), {{"model_type", "roberta"}, {"pad_token_id", 1}}));
  EXPECT_EQ(spec.max_positions, 22);
  EXPECT_EQ(spec.embedding.position_offset, 2);
  EXPECT_EQ(spec.embedding.unplaced_id, 1);
  EXPECT_EQ(Read(Changed(Bert(), {{"model_type", "camembert"}, {"pad_token_id", 5}}))
                .embedding.unplaced_id,
            5);
  EXPECT_EQ(
      Read(Changed(Bert(), {{"model_type", "mpnet"}, {"pad_token_id", 0}})).embedding.unplaced_id,
      1);  // MPNet's own, whatever config.json says
  EXPECT_EQ(Read(Bert()).embedding.unplaced_id, std::nullopt);
  ExpectMessage(Changed(Bert(), {{"model_type", "roberta"}, {"pad_token_id", 30}}),
                "'max_position_embeddings' is 24; more than 31, which precede the first position, "
                "expected");
  EXPECT_EQ(Read(Changed(Bert(), {{"model_type", "mpnet"}})).max_positions, 22);
  ExpectMessage(Changed(Bert(), {{"model_type", "mpnet"}, {"relative_attention_num_buckets", 64}}),
                "'relative_attention_num_buckets' is 64; an integer from 32 to 32 expected");
}

TEST_F(ArchitectureTest, IsCausalCanBeChangedForDecodersOnly) {
  EXPECT_TRUE(Read(Decoder("llama")).layers[0].attention.causal);
  EXPECT_FALSE(Read(Decoder("llama"), false).layers[0].attention.causal);
  EXPECT_FALSE(Read(Changed(Decoder("qwen3"), {{"is_causal", false}})).layers[3].attention.causal);
  EXPECT_TRUE(
      Read(Changed(Decoder("qwen3"), {{"is_causal", false}}), true).layers[3].attention.causal);
  EXPECT_FALSE(Read(Bert(), false).layers[0].attention.causal);
  for (const json& config : {Bert(), Changed(Gemma(), {{"use_bidirectional_attention", true}})}) {
    const std::string type = config["model_type"];
    ExpectError(
        [&] { Read(config, true); }, ExitCode::kUsage,
        {"config.json: is_causal cannot be true: the encoder (" + type + ") is bidirectional"});
  }
}

TEST_F(ArchitectureTest, SettingsTellApartWhatComputesDifferently) {
  std::set<std::string> texts;
  const std::vector<json> configs = {
      Decoder("qwen2"),
      Changed(Decoder("qwen2"), {{"is_causal", false}}),
      Changed(Decoder("qwen2"), {{"rope_theta", 5.0}}),
      Changed(Decoder("qwen2"), {{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}}),
      Changed(Decoder("qwen2"), {{"use_sliding_window", true}, {"max_window_layers", 1}}),
      Changed(Decoder("qwen2"), {{"use_sliding_window", true}, {"max_window_layers", 2}}),
      Changed(Decoder("qwen2"), {{"rms_norm_eps", 1e-5}}),
      Changed(Decoder("qwen2"), {{"hidden_act", "relu"}}),
      Changed(Decoder("qwen2"), {{"attention_dropout", 0.5}}),
      Changed(Gemma(), {{"query_pre_attn_scalar", 16}}),
      Changed(Gemma(), {{"query_pre_attn_scalar", 17}}),
      Changed(Gemma(), {{"hidden_size", 48}}),
      Changed(T5(), {{"feed_forward_proj", "gated-gelu"}}),
      Changed(T5(), {{"relative_attention_max_distance", 40}}),
      T5()};
  for (const json& config : configs) texts.insert(SpecText(Read(config)));
  EXPECT_EQ(texts.size(), configs.size());
}

TEST_F(ArchitectureTest, T5HasADefaultLengthAndNoLimit) {
  WriteText(folder_.path() / "x", "");
  tandem::WriteFormulaFolder(folder_.path() / "m", Changed(T5(), {{"n_positions", 300}}));
  EXPECT_EQ(ReadModelFolder(folder_.path() / "m").tokenizer.max_tokens.tokens, 300U);
  WriteText(folder_.path() / "m" / "sentence_bert_config.json", R"({"max_seq_length": 5000})");
  EXPECT_EQ(ReadModelFolder(folder_.path() / "m").tokenizer.max_tokens.tokens, 5000U);
}

TEST_F(ArchitectureTest, TextsAreCutAtThePositionsThatAreLeft) {
  tandem::WriteFormulaFolder(folder_.path() / "m",
                             Changed(Bert(), {{"model_type", "roberta"}, {"pad_token_id", 1}}));
  TokenLimit limit = ReadModelFolder(folder_.path() / "m").tokenizer.max_tokens;
  EXPECT_EQ(limit.tokens, 22U);
  EXPECT_EQ(limit.source, "config.json");
  WriteText(folder_.path() / "m" / "sentence_bert_config.json", R"({"max_seq_length": 23})");
  limit = ReadModelFolder(folder_.path() / "m").tokenizer.max_tokens;
  EXPECT_EQ(limit.tokens, 22U);
  EXPECT_EQ(limit.source,
            "config.json; sentence_bert_config.json says 23, for which there are no positions");
}

// sentence-transformers 6.2 pools a folder without modules.json like this.
TEST_F(ArchitectureTest, PlainCausalLanguageModelsArePooledByTheLastToken) {
  const std::filesystem::path folder = folder_.path() / "m";
  const auto pooling = [&](const json& config, const std::optional<bool>& is_causal = {}) {
    tandem::WriteFormulaFolder(folder, Changed(config, {{"vocab_size", 100}}));
    std::filesystem::remove(folder / "modules.json");
    ModelFolder read = ReadModelFolder(folder);
    if (is_causal) SetCausal(&read, *is_causal);
    return PoolingText(PoolingOf(read));
  };
  const json causal = Changed(Decoder("llama"), {{"architectures", {"LlamaForCausalLM"}}});
  const json bidirectional = Changed(causal, {{"is_causal", false}});
  const CapturedMessages captured;
  EXPECT_EQ(pooling(causal), "lasttoken");
  EXPECT_THAT(captured.text(),
              testing::HasSubstr("no modules.json; read as encoder with pooling by the "
                                 "last token (lasttoken)"));
  EXPECT_EQ(pooling(Changed(causal, {{"is_causal", true}})), "lasttoken");
  EXPECT_EQ(pooling(bidirectional), "mean");
  EXPECT_EQ(pooling(Decoder("llama")), "mean");
  EXPECT_EQ(pooling(Changed(Decoder("llama"), {{"architectures", {"LlamaModel"}}})), "mean");
  EXPECT_EQ(pooling(Changed(causal, {{"architectures", json::array()}})), "mean");
  EXPECT_EQ(pooling(causal, false), "mean");
  EXPECT_THAT(captured.text(),
              testing::HasSubstr("bidirectional by is_causal, and without modules.json: "
                                 "mean pooling"));
  EXPECT_EQ(pooling(bidirectional, true), "lasttoken");
  tandem::WriteFormulaFolder(folder, Changed(causal, {{"vocab_size", 100}}));  // with modules.json
  EXPECT_EQ(PoolingText(PoolingOf(ReadModelFolder(folder))), "mean");
}

TEST_F(ArchitectureTest, FurtherLayersAreRefusedAndDecodersCarried) {
  const std::filesystem::path folder = folder_.path() / "m";
  tandem::WriteFormulaFolder(folder, Changed(Decoder("llama"), {{"num_hidden_layers", 3}}),
                             {.prefix = "model."});
  WriteText(folder / "config.json", Changed(Decoder("llama"), {{"num_hidden_layers", 2}}).dump());
  ExpectError([&] { ReadModelFolder(folder); }, ExitCode::kModel,
              {"model.safetensors: belongs to layer 2 (from 0), but config.json says "
               "num_hidden_layers is 2; one of the two is of another model (tensor "
               "model.layers.2."});
  WriteText(folder / "config.json", Changed(Decoder("llama"), {{"num_hidden_layers", 4}}).dump());
  ExpectError([&] { ReadModelFolder(folder); }, ExitCode::kModel,
              {"the weights lack it; config.json asks for [32] (tensor layers.3.input_layernorm"});
}

TEST_F(ArchitectureTest, AliasesOfSharedTensors) {
  const std::filesystem::path folder = folder_.path() / "m";
  tandem::WriteFormulaFolder(folder, T5());
  std::vector<TensorToWrite> tensors;
  const WeightFiles weights(folder);
  for (const TensorView* view : weights.tensors()) {
    tensors.push_back(Unchanged(*view));
    if (view->name == "shared.weight") tensors.back().name = "encoder.embed_tokens.weight";
  }
  const float value = 1;
  tensors.push_back(Float32Tensor("decoder.block.7.layer.0.layer_norm.weight", {1}, {&value, 1}));
  WriteSafetensors(folder_.path() / "t.safetensors", tensors);
  std::filesystem::rename(folder_.path() / "t.safetensors", folder / "model.safetensors");
  const ModelFolder read = ReadModelFolder(folder);
  EXPECT_EQ(read.tensor("shared.weight").view->name, "encoder.embed_tokens.weight");
  EXPECT_EQ(read.carried_tensors.size(), 1U);
}

TEST(Architectures, HaveDocumentedKeysOfTheirOwnNames) {
  std::set<std::string_view> names;
  for (const Architecture* architecture : Architectures()) {
    EXPECT_TRUE(names.insert(architecture->name).second) << architecture->name;
    EXPECT_FALSE(architecture->prefixes.empty());
    EXPECT_NE(architecture->tokenizers, "");
    std::set<std::string> keys;
    for (const ConfigKey& key : architecture->keys()) {
      const ConfigKeyText text = TextOf(key);
      EXPECT_TRUE(keys.insert(text.name).second) << architecture->name << " " << text.name;
      EXPECT_NE(text.meaning, "") << text.name;
    }
    EXPECT_TRUE(keys.contains("vocab_size"));
  }
}

}  // namespace
}  // namespace tandem::weights

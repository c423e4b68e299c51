// What each architecture reads from config.json: windows, rotary positions, limits; and what it
// refuses, by its exact message.
#include "weights/architecture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/captured_messages.h"
#include "base/temporary_folder.h"
#include "model/formula_weights.h"
#include "weights/error_matching.h"
#include "weights/model_folder.h"
#include "weights/settings_file.h"
#include "weights/small_model_folder.h"

namespace tandem::weights {
namespace {

using nlohmann::json;

json Changed(json config, const json& changes) {
  config.update(changes);
  return config;
}

json Bert() { return json::parse(kSmallConfig); }
json Decoder(const std::string& type) {
  return {{"model_type", type},       {"vocab_size", 40},
          {"hidden_size", 32},        {"num_hidden_layers", 4},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"intermediate_size", 24},  {"max_position_embeddings", 100},
          {"sliding_window", 8}};
}
json ModernBert() {
  return {{"model_type", "modernbert"}, {"vocab_size", 40},         {"hidden_size", 32},
          {"num_hidden_layers", 6},     {"num_attention_heads", 2}, {"intermediate_size", 24}};
}
json Gemma() { return Changed(Decoder("gemma3_text"), {{"head_dim", 16}}); }
json T5() {
  return {{"model_type", "t5"}, {"vocab_size", 40}, {"d_model", 16}, {"num_layers", 2},
          {"num_heads", 2},     {"d_kv", 4},        {"d_ff", 24}};
}
json DistilBert() {
  return {{"model_type", "distilbert"},
          {"vocab_size", 40},
          {"dim", 16},
          {"n_layers", 2},
          {"n_heads", 2},
          {"hidden_dim", 24}};
}

class ArchitectureTest : public testing::Test {
 protected:
  EncoderSpec Read(const json& config, const std::optional<bool>& is_causal = {}) {
    WriteText(path(), config.dump());
    return ReadEncoderSpec(path(), is_causal);
  }
  std::filesystem::path path() const { return folder_.path() / "config.json"; }
  // "what", behind the file's name.
  void ExpectMessage(const json& config, const std::string& what) {
    try {
      Read(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::kModel);
      EXPECT_EQ(std::string(error.what()), path().native() + ": " + what);
      return;
    }
    ADD_FAILURE() << "no error: " << what;
  }
  static std::vector<int64_t> Windows(const EncoderSpec& spec) {
    std::vector<int64_t> windows;
    for (const LayerSpec& layer : spec.layers) windows.push_back(layer.attention.window);
    return windows;
  }
  static std::vector<int> Rotaries(const EncoderSpec& spec) {
    std::vector<int> rotaries;
    for (const LayerSpec& layer : spec.layers) rotaries.push_back(layer.attention.rotary);
    return rotaries;
  }

  TemporaryFolder folder_;
};

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

TEST_F(ArchitectureTest, WindowsOfDecoders) {
  EXPECT_EQ(Windows(Read(Decoder("llama"))), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(Windows(Read(Decoder("mistral"))), (std::vector<int64_t>{7, 7, 7, 7}));
  EXPECT_EQ(Windows(Read(Decoder("mistral"), false)), (std::vector<int64_t>{8, 8, 8, 8}));
  EXPECT_EQ(Windows(Read(Changed(Decoder("mistral"), {{"sliding_window", nullptr}}))),
            (std::vector<int64_t>{0, 0, 0, 0}));
  json absent = Decoder("mistral");
  absent.erase("sliding_window");
  EXPECT_EQ(Windows(Read(absent)), (std::vector<int64_t>{4095, 4095, 4095, 4095}));
  json qwen = Changed(Decoder("qwen2"), {{"max_window_layers", 3}});
  EXPECT_EQ(Windows(Read(qwen)), (std::vector<int64_t>{0, 0, 0, 0}));
  qwen["use_sliding_window"] = true;
  EXPECT_EQ(Windows(Read(qwen)), (std::vector<int64_t>{0, 0, 0, 7}));
  qwen["layer_types"] = {"sliding_attention", "full_attention", "full_attention",
                         "sliding_attention"};
  EXPECT_EQ(Windows(Read(qwen)), (std::vector<int64_t>{7, 0, 0, 7}));
  qwen["use_sliding_window"] = false;
  ExpectMessage(qwen,
                "'use_sliding_window' is false; true, because layer_types names "
                "sliding_attention, expected");
}

TEST_F(ArchitectureTest, WindowsOfModernBertAndGemma) {
  EXPECT_EQ(Windows(Read(ModernBert())), (std::vector<int64_t>{0, 64, 64, 0, 64, 64}));
  EXPECT_EQ(Rotaries(Read(ModernBert())), (std::vector<int>{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(Windows(Read(Changed(ModernBert(),
                                 {{"local_attention", 7}, {"global_attn_every_n_layers", 2}}))),
            (std::vector<int64_t>{0, 3, 0, 3, 0, 3}));
  const json gemma = Changed(Gemma(), {{"sliding_window_pattern", 2}, {"sliding_window", 9}});
  EXPECT_EQ(Windows(Read(gemma)), (std::vector<int64_t>{8, 0, 8, 0}));
  EXPECT_EQ(Rotaries(Read(gemma)), (std::vector<int>{1, 0, 1, 0}));
  EXPECT_EQ(Windows(Read(gemma, false)), (std::vector<int64_t>{9, 0, 9, 0}));
  const EncoderSpec both = Read(Changed(gemma, {{"use_bidirectional_attention", true}}));
  EXPECT_EQ(Windows(both), (std::vector<int64_t>{4, 0, 4, 0}));
  EXPECT_FALSE(both.layers[0].attention.causal);
  EXPECT_EQ(both.embedding.scale, static_cast<double>(std::sqrt(32.0F)));
}

TEST_F(ArchitectureTest, WindowsBelowTwoAreRefused) {
  const std::string range = "; an integer from 2 to 16777216 expected";
  ExpectMessage(Changed(Decoder("mistral"), {{"sliding_window", 0}}),
                "'sliding_window' is 0" + range);
  ExpectMessage(Changed(Gemma(), {{"sliding_window", 1}}), "'sliding_window' is 1" + range);
  ExpectMessage(Changed(ModernBert(), {{"local_attention", 0}}), "'local_attention' is 0" + range);
  ExpectMessage(Changed(ModernBert(), {{"layer_types", {"full_attention"}}}),
                "'layer_types' is [\"full_attention\"]; a list of 6 names, one for each layer, "
                "expected");
  ExpectMessage(Changed(Changed(ModernBert(), {{"num_hidden_layers", 1}}),
                        {{"layer_types", {"chunked_attention"}}}),
                "'layer_types' is [\"chunked_attention\"]; names that are \"full_attention\" or "
                "\"sliding_attention\" (the supported ones) expected");
}

TEST_F(ArchitectureTest, RotaryScalingsNameTheSupported) {
  ExpectMessage(Changed(Decoder("llama"), {{"rope_scaling", {{"type", "yarn"}, {"factor", 4}}}}),
                "'type' is \"yarn\"; \"default\", \"linear\" or \"llama3\" (the supported scalings "
                "of rotary positions) expected");
  ExpectMessage(Changed(Decoder("llama"), {{"rope_parameters", {{"rope_type", "longrope"}}}}),
                "'rope_type' is \"longrope\"; \"default\", \"linear\" or \"llama3\" (the supported "
                "scalings of rotary positions) expected");
  ExpectMessage(Changed(Decoder("llama"), {{"rope_scaling", {{"rope_type", "linear"}}}}),
                "'factor' is missing; a number, which this scaling of rotary positions needs, "
                "expected");
  ExpectMessage(Changed(Decoder("llama"), {{"partial_rotary_factor", 0.5}}),
                "'partial_rotary_factor' is 0.5; 1 (all channels of a head turn) expected");
  ExpectMessage(Changed(ModernBert(), {{"rope_parameters", {{"rope_theta", 100}}}}),
                "'rope_parameters' is {\"rope_theta\":100}; an object with full_attention and "
                "sliding_attention expected");
}

TEST_F(ArchitectureTest, RotaryBasesInEitherSpelling) {
  const auto base = [&](const json& config, size_t rotary = 0) {
    return Read(config).rotaries[rotary].text;
  };
  EXPECT_EQ(base(Decoder("llama")), "base 10000");
  EXPECT_EQ(base(Changed(Decoder("llama"), {{"rope_theta", 500.0}})), "base 500");
  EXPECT_EQ(base(Changed(Decoder("llama"),
                         {{"rope_theta", 500.0}, {"rope_parameters", {{"rope_theta", 700.0}}}})),
            "base 700");
  EXPECT_EQ(base(ModernBert()), "base 160000");
  EXPECT_EQ(base(ModernBert(), 1), "base 10000");
  EXPECT_EQ(base(Gemma()), "base 1000000");
  EXPECT_EQ(base(Changed(Gemma(), {{"rope_local_base_freq", 77.0}}), 1), "base 77");
  // Gemma scales its layers that read all, ModernBERT both kinds.
  const json scaling = {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}};
  EXPECT_EQ(base(Changed(Gemma(), scaling)), "base 1000000, linear scaling by 8");
  EXPECT_EQ(base(Changed(Gemma(), scaling), 1), "base 10000");
  EXPECT_EQ(base(Changed(ModernBert(), scaling), 1), "base 10000, linear scaling by 8");
}

TEST_F(ArchitectureTest, ActivationsNameTheSupported) {
  ExpectMessage(Changed(Bert(), {{"hidden_act", "mish"}}),
                "'hidden_act' is \"mish\"; \"gelu\" or \"gelu_python\" or \"gelu_new\" or "
                "\"gelu_pytorch_tanh\" or \"gelu_python_tanh\" or \"gelu_fast\" or "
                "\"gelu_accurate\" or \"relu\" or \"silu\" or \"swish\" expected");
  ExpectMessage(Changed(T5(), {{"feed_forward_proj", "gated-mish"}}),
                "'feed_forward_proj' is \"gated-mish\"; one of gelu, gelu_python, gelu_new, "
                "gelu_pytorch_tanh, gelu_python_tanh, gelu_fast, gelu_accurate, relu, silu, swish, "
                "or one of them behind \"gated-\", expected");
  EXPECT_EQ(Read(Changed(Bert(), {{"hidden_act", "swish"}})).activation, HiddenActivation::kSilu);
  EXPECT_EQ(Read(Changed(Bert(), {{"hidden_act", "gelu_fast"}})).activation,
            HiddenActivation::kGeluTanh);
}

TEST_F(ArchitectureTest, PositionsThatPaddingTakes) {
  const EncoderSpec spec = Read(Changed(Bert(), {{"model_type", "roberta"}, {"pad_token_id", 1}}));
  EXPECT_EQ(spec.max_positions, 22);
  EXPECT_EQ(spec.embedding.position_offset, 2);
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

// As sentence-transformers 6.2 pools a folder without modules.json.
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

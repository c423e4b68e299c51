// Model folders and adapters of every architecture whose settings say other things: reading them
// gives a model, an adapter, or a tandem::Error. The input is a list of edits of valid files, since
// bytes that are no JSON end before anything reads them.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "small_model_folder.h"
#include "weights/architecture.h"
#include "weights/folders/adapter_config.h"
#include "weights/folders/cross_encoder_folder.h"
#include "weights/folders/tower_folders.h"

namespace {

using nlohmann::json;

// Keys of all files; one that a file does not know is ignored there.
constexpr const char* kKeys[] = {
    // config.json
    "architectures", "model_type", "hidden_size", "d_model", "dim", "num_hidden_layers", "n_layers",
    "num_layers", "num_attention_heads", "n_heads", "num_heads", "num_key_value_heads", "head_dim",
    "d_kv", "intermediate_size", "hidden_dim", "d_ff", "vocab_size", "type_vocab_size",
    "max_position_embeddings", "hidden_act", "activation", "hidden_activation", "feed_forward_proj",
    "layer_norm_eps", "layer_norm_epsilon", "rms_norm_eps", "norm_eps", "rope_theta",
    "rope_scaling", "rope_parameters", "rope_local_base_freq", "sliding_window",
    "use_sliding_window", "layer_types", "local_attention", "global_attn_every_n_layers",
    "relative_attention_num_buckets", "relative_attention_max_distance", "attention_bias",
    "mlp_bias", "is_causal", "is_decoder", "use_bidirectional_attention", "query_pre_attn_scalar",
    "attn_logit_softcapping", "pad_token_id", "quantization_config", "auto_map", "id2label",
    "num_labels", "classifier_pooling",
    // modules, pooling, lengths, prompts
    "max_seq_length", "query_length", "document_length", "do_lower_case", "transformer_task",
    "processing_kwargs", "pooling_mode", "pooling_mode_cls_token", "pooling_mode_mean_tokens",
    "pooling_mode_lasttoken", "include_prompt", "word_embedding_dimension", "prompts",
    "default_prompt_name", "similarity_fn_name", "truncate_dim", "model_max_length",
    // adapters
    "peft_type", "r", "lora_alpha", "lora_dropout", "target_modules", "use_rslora", "use_dora",
    "bias", "modules_to_save", "alpha_pattern", "rank_pattern", "layers_to_transform",
    "base_model_name_or_path", "init_lora_weights", "fan_in_fan_out"};

constexpr const char* kValues[] = {"null",
                                   "true",
                                   "false",
                                   "0",
                                   "1",
                                   "2",
                                   "-1",
                                   "7",
                                   "8",
                                   "24",
                                   "2147483648",
                                   "1e300",
                                   "-0.5",
                                   "9223372036854775807",
                                   "18446744073709551615",
                                   "\"\"",
                                   "\"x\"",
                                   "\"gelu\"",
                                   "\"relu\"",
                                   "\"silu\"",
                                   "\"gated-gelu\"",
                                   "\"cls\"",
                                   "\"mean\"",
                                   "\"dot\"",
                                   "\"LORA\"",
                                   "\"all-linear\"",
                                   "\"query\"",
                                   "\"\\u0000\"",
                                   "[]",
                                   "[1]",
                                   "[\"query\", 3]",
                                   "[\"sliding_attention\", \"full_attention\"]",
                                   "[\"BertForSequenceClassification\"]",
                                   "{}",
                                   "{\"query\": 7}",
                                   "{\"query\": \"q: \"}",
                                   "{\"rope_type\": \"llama3\", \"factor\": 8.0, "
                                   "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0,"
                                   " \"original_max_position_embeddings\": 16}",
                                   "{\"type\": \"linear\", \"factor\": 0}",
                                   "{\"rope_type\": \"yarn\"}",
                                   "{\"full_attention\": {\"rope_theta\": -1}}",
                                   "{\"0\": \"a\", \"1\": \"b\", \"x\": \"c\"}"};

constexpr const char* kFiles[] = {"config.json",
                                  "modules.json",
                                  "1_Pooling/config.json",
                                  "sentence_bert_config.json",
                                  "config_sentence_transformers.json",
                                  "tokenizer_config.json",
                                  "adapter_config.json"};

// What every architecture finds its sizes in.
json ConfigOf(const tandem::weights::Architecture& architecture) {
  json config = json::parse(tandem::weights::kSmallConfig);
  config["model_type"] = architecture.model_types.front();
  for (const char* key : {"d_model", "dim"}) config[key] = 8;
  for (const char* key :
       {"n_layers", "num_layers", "n_heads", "num_heads", "num_key_value_heads"}) {
    config[key] = 2;
  }
  for (const char* key : {"head_dim", "d_kv"}) config[key] = 4;
  for (const char* key : {"hidden_dim", "d_ff"}) config[key] = 16;
  return config;
}

std::map<std::string, json> ValidFiles(const tandem::weights::Architecture& architecture) {
  return {{"config.json", ConfigOf(architecture)},
          {"modules.json", json::parse(tandem::weights::kSmallModules)},
          {"1_Pooling/config.json", {{"word_embedding_dimension", 8}}},
          {"sentence_bert_config.json", {{"max_seq_length", 16}}},
          {"config_sentence_transformers.json", json::object()},
          {"tokenizer_config.json", json::object()},
          {"adapter_config.json",
           {{"peft_type", "LORA"}, {"r", 2}, {"lora_alpha", 4}, {"target_modules", {"query"}}}}};
}

template <typename Read>
void Try(const Read& read) {
  try {
    read();
  } catch (const tandem::Error&) {
  }
}

const std::filesystem::path& Folder() {
  static const std::filesystem::path folder = [] {
    const auto path =
        std::filesystem::temp_directory_path() / ("tandem-fuzz-" + std::to_string(getpid()));
    tandem::weights::WriteSmallModel(path);
    return path;
  }();
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tandem;
  if (size == 0) return 0;
  const auto architectures = weights::Architectures();
  std::map<std::string, json> files = ValidFiles(*architectures[data[0] % architectures.size()]);
  for (size_t i = 1; i + 3 <= size && i < 30; i += 3) {
    json& file = files.at(kFiles[data[i] % std::size(kFiles)]);
    json& entry = file.is_array() ? file[data[i] % file.size()] : file;
    entry[kKeys[data[i + 1] % std::size(kKeys)]] =
        json::parse(kValues[data[i + 2] % std::size(kValues)]);
  }
  for (const auto& [name, settings] : files) {
    if (name != "adapter_config.json") std::ofstream(Folder() / name) << settings;
  }
  Try([] { weights::ReadTowerFolders(Folder()); });
  Try([] { weights::ReadCrossEncoderFolder(Folder()); });
  std::ofstream(Folder() / "adapter_config.json") << files["adapter_config.json"];
  Try([] { weights::ReadAdapterConfig(Folder()); });
  std::filesystem::remove(Folder() / "adapter_config.json");
  return 0;
}

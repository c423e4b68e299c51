#include "weights/modules/module_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json/json.h"
#include "base/suggest.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

// The settings that release 6.2 accepts; unpad_inputs only decides how quick it is.
constexpr std::string_view kKnown[] = {
    "max_seq_length",    "do_lower_case",         "transformer_task", "modality_config",
    "processing_kwargs", "module_output_name",    "unpad_inputs",     "query_length",
    "document_length",   "query_expansion",       "model_args",       "model_kwargs",
    "tokenizer_args",    "processor_kwargs",      "config_args",      "config_kwargs",
    "backend",           "tokenizer_name_or_path"};

// Arguments that Python's loaders get. The second list's change no embedding beyond its precision:
// where code and weights come from, in which type and by which kernel it is computed.
constexpr std::string_view kArguments[] = {"model_args",       "model_kwargs", "tokenizer_args",
                                           "processor_kwargs", "config_args",  "config_kwargs"};
constexpr std::string_view kHarmless[] = {"trust_remote_code",
                                          "torch_dtype",
                                          "dtype",
                                          "attn_implementation",
                                          "add_pooling_layer",
                                          "device_map",
                                          "use_fast",
                                          "low_cpu_mem_usage",
                                          "use_safetensors",
                                          "use_cache",
                                          "padding_side",
                                          "clean_up_tokenization_spaces",
                                          "local_files_only",
                                          "_attn_implementation",
                                          "cache_dir",
                                          "force_download",
                                          "revision",
                                          "token"};

bool IsAmong(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void CheckArguments(const Settings& settings) {
  for (const std::string_view key : kArguments) {
    const Json* arguments = settings.Find(key);
    if (arguments == nullptr) continue;
    if (!arguments->is_object()) settings.Fail(key, "an object");
    for (const auto& [name, value] : arguments->items()) {
      if (IsAmong(name, kHarmless)) continue;
      settings.Fail(key, fmt::format("no \"{}\" in it (write it into the folder's own config.json "
                                     "or tokenizer files)",
                                     name));
    }
  }
}

// Texts must go to the encoder as they are, and the output of its task must come out: the last
// layer's or, of a cross-encoder, the logits. Where "message" is there too, texts become messages
// of a conversation, which a template writes out.
void CheckModality(const Settings& settings) {
  const Json* modality = settings.Find("modality_config");
  if (modality == nullptr) return;
  const bool scores = settings.String("transformer_task") == "sequence-classification";
  const std::string_view output = scores ? "logits" : "last_hidden_state";
  const std::string_view name = scores ? "scores" : "token_embeddings";
  const Json wanted = {{"method", "forward"}, {"method_output_name", output}};
  if (!modality->is_object() || !modality->contains("text") || (*modality)["text"] != wanted) {
    settings.Fail("modality_config",
                  fmt::format("\"text\" by the method \"forward\" to its output \"{}\"", output));
  }
  if (modality->contains("message")) {
    settings.Fail("modality_config",
                  "no \"message\" in it (texts would pass through the chat template, which is not "
                  "supported)");
  }
  if (settings.String("module_output_name").value_or("") != name) {
    settings.Fail("module_output_name", fmt::format("\"{}\", with modality_config,", name));
  }
}

}  // namespace

void CheckModuleKeys(const Settings& settings, std::span<const std::string_view> known,
                     std::string_view module) {
  for (const std::string& key : settings.Keys()) {
    if (IsAmong(key, known)) continue;
    throw ModelError(settings.file(), "",
                     fmt::format("the key '{}' is unknown, to sentence-transformers too{}; its {} "
                                 "module has {}",
                                 key, DidYouMean(key, known), module, fmt::join(known, ", ")));
  }
}

void CheckTransformerSettings(const Settings& settings) {
  CheckModuleKeys(settings, kKnown, "Transformer");
  CheckArguments(settings);
  CheckModality(settings);
  if (settings.Has("query_expansion")) {
    settings.Fail("query_expansion", "null (mask tokens after queries are not supported)");
  }
  if (settings.Has("tokenizer_name_or_path")) {
    settings.Fail("tokenizer_name_or_path", "null: the tokenizer's files in the folder itself");
  }
}

}  // namespace tandem::weights

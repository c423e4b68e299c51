#include "weights/settings/tokenizer_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "weights/architecture.h"
#include "weights/folders/folder_check.h"
#include "weights/folders/tandem_file.h"
#include "weights/modules/module_settings.h"
#include "weights/modules/modules.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

// Python's tokenizers write 1e30 for "no limit"; no text has a billion tokens.
constexpr double kNoLimit = 1e9;

// sentence-transformers' names of the Transformer module's settings, newest first.
constexpr const char* kSentenceConfigs[] = {
    "sentence_bert_config.json",       "sentence_roberta_config.json",
    "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
};

// Whether it is a Hugging Face folder without sentence-transformers' files.
bool IsPlain(const ModelFiles& files) {
  return !files.Has(kModulesFile) && files.Has("config.json");
}

Settings ReadSentenceConfig(const ModelFiles& files, bool plain) {
  for (const char* name : kSentenceConfigs) {
    if (plain || !files.Has(name)) continue;
    const Settings& settings = files.Read(name);
    if (!settings.Keys().empty()) return settings;  // after an empty one the next name is tried
  }
  return Settings(files.PathOf(kSentenceConfigs[0]).native(), Json::object());
}

// The first limit that a file of settings states; `tokens` 0 where none does.
TokenLimit StatedLimit(const ModelFiles& files, const Settings& sentence_config) {
  if (const auto length = sentence_config.Integer("max_seq_length", 1, INT32_MAX)) {
    return {static_cast<size_t>(*length),
            std::filesystem::path(sentence_config.file()).filename().native()};
  }
  const Settings& config = files.ReadIfThere("tokenizer_config.json");
  std::optional<double> length =
      config.Number("model_max_length", 1, std::numeric_limits<double>::infinity());
  if (!length)
    length =
        config.Number("max_len", 1, std::numeric_limits<double>::infinity());  // its older name
  if (length && *length < kNoLimit) {
    return {static_cast<size_t>(*length), "tokenizer_config.json"};
  }
  return {};
}

// How many tokens the encoder of config.json can read, and where texts are cut if no file says it.
struct EncoderLength {
  size_t most = 0;  // 0: not known
  size_t usual = 0;
};

// By the encoder's architecture; of one that is not known, the rows of its position table.
EncoderLength LengthOfEncoder(const ModelFiles& files) {
  const Settings& config = files.ReadIfThere("config.json");
  const Architecture* known = FindArchitecture(config.String("model_type").value_or(""));
  if (known == nullptr) {
    const auto rows = config.Integer("max_position_embeddings", 1, INT32_MAX).value_or(0);
    return {static_cast<size_t>(rows), static_cast<size_t>(rows)};
  }
  const EncoderSpec spec = known->read(config);
  const int64_t usual = spec.default_tokens > 0 ? spec.default_tokens : spec.max_positions;
  return {static_cast<size_t>(spec.max_positions), static_cast<size_t>(usual)};
}

TokenLimit WithinPositions(const TokenLimit& stated, const EncoderLength& encoder) {
  if (encoder.most == 0) return stated;
  if (stated.tokens == 0) return {encoder.usual, "config.json"};
  if (stated.tokens <= encoder.most) return stated;
  return {encoder.most, fmt::format("config.json; {} says {}, for which there are no positions",
                                    stated.source, stated.tokens)};
}

std::optional<size_t> LengthOfKind(const Settings& sentence_config, std::string_view key,
                                   const EncoderLength& encoder) {
  const auto length = sentence_config.Integer(key, 1, INT32_MAX);
  if (!length) return std::nullopt;
  const auto tokens = static_cast<size_t>(*length);
  return encoder.most == 0 ? tokens : std::min(tokens, encoder.most);
}

// sentence-transformers hands these to each call of the tokenizer. Padding changes no embedding.
void RefuseProcessingSettings(const Settings& sentence_config) {
  const Json* all = sentence_config.Find("processing_kwargs");
  if (all == nullptr || !all->is_object()) return;
  for (const char* group : {"common", "text"}) {
    const Json* const settings = all->Find(group);
    if (settings == nullptr || !settings->is_object()) continue;
    for (const auto& [name, value] : settings->items()) {
      if (name == "padding" || name == "return_tensors") continue;
      sentence_config.Fail("processing_kwargs",
                           fmt::format("no \"{}\" in its \"{}\" (max_seq_length and the "
                                       "tokenizer's own files say how texts are cut)",
                                       name, group));
    }
  }
}

// From the folder of the tokenizer's files.
TokenizerSettings SettingsIn(const ModelFiles& files, bool plain) {
  TokenizerSettings settings{.folder = files.path(), .files = files};
  const Settings sentence_config = ReadSentenceConfig(files, plain);
  const std::string task =
      sentence_config.String("transformer_task").value_or("feature-extraction");
  if (task != "feature-extraction" && task != "sequence-classification") {
    sentence_config.Fail("transformer_task",
                         "\"feature-extraction\" or, of a cross-encoder, "
                         "\"sequence-classification\" (the supported ones)");
  }
  CheckTransformerSettings(sentence_config);
  RefuseProcessingSettings(sentence_config);
  const EncoderLength encoder = LengthOfEncoder(files);
  settings.max_tokens = WithinPositions(StatedLimit(files, sentence_config), encoder);
  settings.max_query_tokens = LengthOfKind(sentence_config, "query_length", encoder);
  settings.max_document_tokens = LengthOfKind(sentence_config, "document_length", encoder);
  settings.lower_case = sentence_config.Boolean("do_lower_case").value_or(false);
  return settings;
}

}  // namespace

TokenizerSettings ReadTokenizerSettings(const ModelFiles& files) {
  CheckIsFolder(files.path());
  return SettingsIn(files.Below(EncoderFolderOf(files)), IsPlain(files));
}

void TakeLengths(const ModelFiles& from, TokenizerSettings* base, TandemFile* file) {
  if (!from.Has(kModulesFile)) return;
  const ModelFiles module = from.Below(EncoderFolderOf(from));
  const Settings sentence_config = ReadSentenceConfig(module, /*plain=*/false);
  const EncoderLength encoder = LengthOfEncoder(base->files);
  const TokenLimit stated = StatedLimit(module, sentence_config);
  if (stated.tokens > 0) {
    base->max_tokens = WithinPositions(stated, encoder);
    file->max_query_tokens = file->max_document_tokens = base->max_tokens.tokens;
  }
  if (const auto query = LengthOfKind(sentence_config, "query_length", encoder)) {
    file->max_query_tokens = query;
  }
  if (const auto document = LengthOfKind(sentence_config, "document_length", encoder)) {
    file->max_document_tokens = document;
  }
}

TokenizerSettings ReadTokenizerOfModule(const ModelFiles& transformer) {
  CheckIsFolder(transformer.path());
  return SettingsIn(transformer, /*plain=*/false);
}

}  // namespace tandem::weights

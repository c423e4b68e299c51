#include "text/max_length.h"

#include <algorithm>
#include <optional>

#include "text/settings_file.h"

namespace tandem::text {
namespace {

std::optional<size_t> ConfiguredLength(const std::filesystem::path& folder) {
  if (const auto length =
          SettingsFile(folder / "sentence_bert_config.json").Length("max_seq_length")) {
    return length;
  }
  if (const auto length =
          SettingsFile(folder / "tokenizer_config.json").Length("model_max_length")) {
    return length;
  }
  return SettingsFile(folder / "tokenizer.json").Section("truncation").Length("max_length");
}

}  // namespace

size_t ModelMaxLength(const std::filesystem::path& model_folder) {
  const std::optional<size_t> length = ConfiguredLength(model_folder);
  const std::optional<size_t> positions =
      SettingsFile(model_folder / "config.json").Length("max_position_embeddings");
  if (!length) return positions.value_or(0);
  return positions ? std::min(*length, *positions) : *length;
}

}  // namespace tandem::text

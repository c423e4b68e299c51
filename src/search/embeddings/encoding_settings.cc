#include "search/embeddings/encoding_settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::search {
namespace {

constexpr EncodingSetting kSettings[] = {
    {"kind", "--kind", "give the same --kind"},
    {"id_field", "--id-field", "give the same --id-field"},
    {"text_field", "--text-field", "give the same --text-field"},
    {"block", "--block-texts", "give the same --block-texts"},
    {"shard", "--shard", "give the same --shard"},
    {"input", "an input of", "give the same input"},
    {"precision", "precision", "give the same --precision"},
    {"device", "device", "give the same --device", true, true},
    {"width", "numbers an embedding", "give the same --dimensions and model"},
    {"max_tokens", "tokens a text", "give the same --max-document-tokens or --max-query-tokens"},
    {"prompt", "prompt", "give the same --prompt", false},
    {"threads", "threads", "give the same --threads", true, true},
    {"instructions", "instructions", "go on with a processor of the same kind", true, true},
    {"made", "version", "go on with the same version", true, true},
    {"batch", "batches", "go on with the same version", true, true},
    {"tokenizer", "tokenizer", "give the same model", false},
    {"model", "model", "give the same model", false},
};

}  // namespace

std::string_view SettingOf(std::string_view lines, std::string_view key) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) {
      return line.substr(key.size() + 1);
    }
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return "";
}

std::string SettingDifference::Text() const {
  if (!setting->is_shown) return fmt::format("another {}; {}", setting->name, setting->remedy);
  return fmt::format("{} {}, and now it is {}; {}", setting->name, was, is, setting->remedy);
}

std::optional<SettingDifference> FindDifference(std::string_view was, std::string_view is) {
  for (const EncodingSetting& setting : kSettings) {
    const SettingDifference found{&setting, SettingOf(was, setting.key),
                                  SettingOf(is, setting.key)};
    if (found.was != found.is) return found;
  }
  return std::nullopt;
}

std::optional<SettingDifference> FindDifferenceOfMeaning(std::string_view was,
                                                         std::string_view wanted) {
  for (const EncodingSetting& setting : kSettings) {
    if (setting.is_place) continue;
    const SettingDifference found{&setting, SettingOf(was, setting.key),
                                  SettingOf(wanted, setting.key)};
    if (!found.is.empty() && found.was != found.is) return found;
  }
  return std::nullopt;
}

}  // namespace tandem::search

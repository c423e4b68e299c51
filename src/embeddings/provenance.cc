#include "embeddings/provenance.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::embeddings {
namespace {

// The names by which a user knows the setting of a line.
struct Setting {
  std::string_view key;     // its line's first word
  std::string_view name;    // in a message
  std::string_view remedy;  // advice for restoring the setting
  bool is_shown = true;     // whether its value says something to a person
  bool is_place = false;    // where embeddings were made: it changes them by rounding alone
};

constexpr Setting kSettings[] = {
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

bool IsModel(const Setting& setting) {
  return setting.key == "model" || setting.key == "tokenizer";
}

// "precision fp32, and now it is bf16; give the same --precision", or, where the values say nothing
// to a person, "another model; give the same model".
std::string TextOf(const Setting& setting, std::string_view was, std::string_view is) {
  if (!setting.is_shown) return fmt::format("another {}; {}", setting.name, setting.remedy);
  return fmt::format("{} {}, and now it is {}; {}", setting.name, was, is, setting.remedy);
}

}  // namespace

Provenance& Provenance::Add(std::string_view name, std::string_view value) {
  lines_.append(name).append(" ").append(value).append("\n");
  return *this;
}

Provenance& Provenance::Add(const Provenance& further) {
  lines_ += further.lines_;
  return *this;
}

std::string_view Provenance::Of(std::string_view name) const {
  std::string_view rest = lines_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(' ')) {
      return line.substr(name.size() + 1);
    }
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return "";
}

void CheckSame(std::string_view file, const Provenance& was, const Provenance& wanted,
               Sameness sameness, std::string_view remedy) {
  for (const Setting& setting : kSettings) {
    const std::string_view before = was.Of(setting.key), now = wanted.Of(setting.key);
    if (before == now) continue;
    if (sameness == Sameness::kMeaning && (setting.is_place || now.empty())) continue;
    const std::string message =
        fmt::format("was encoded with {}, {}", TextOf(setting, before, now), remedy);
    if (IsModel(setting)) throw ModelError(file, "", message);
    throw UsageError(fmt::format("{}: {}", file, message));
  }
}

}  // namespace tandem::embeddings

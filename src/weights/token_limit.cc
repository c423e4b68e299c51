#include "weights/token_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tandem::weights {
namespace {

// transformers writes 1e30 where a tokenizer has no limit.
constexpr double kNoLimit = 1e9;

// tokenizer.json without its vocabulary.
Settings ReadTokenizer(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return Settings(path.native(), nlohmann::json::object());
  return Settings(path.native(), ParseSettings(ReadModelFile(path, kMaxTokenizerBytes),
                                               path.native(), {"model", "added_tokens"}));
}

std::optional<size_t> TruncationOf(const Settings& tokenizer) {
  const nlohmann::json* truncation = tokenizer.Find("truncation");
  if (truncation == nullptr) return std::nullopt;
  const auto length = Settings(tokenizer.file(), *truncation).Integer("max_length", 1, INT32_MAX);
  return length ? std::optional<size_t>(static_cast<size_t>(*length)) : std::nullopt;
}

TokenLimit StatedLimit(const std::filesystem::path& folder, const Settings& sentence_config,
                       int64_t max_positions) {
  if (const auto length = sentence_config.Integer("max_seq_length", 1, INT32_MAX)) {
    return {static_cast<size_t>(*length),
            std::filesystem::path(sentence_config.file()).filename().native()};
  }
  const Settings tokenizer_config = Settings::ReadIfThere(folder / "tokenizer_config.json");
  const auto length = tokenizer_config.Number("model_max_length", 1, 1e300);
  if (length && *length < kNoLimit) {
    return {static_cast<size_t>(*length), "tokenizer_config.json"};
  }
  if (const auto truncation = TruncationOf(ReadTokenizer(folder / "tokenizer.json"))) {
    return {*truncation, "tokenizer.json"};
  }
  return {static_cast<size_t>(max_positions), "config.json"};
}

bool LowerCases(const nlohmann::json& normalizer) {
  if (!normalizer.is_object()) return false;
  const auto type = normalizer.find("type");
  if (type == normalizer.end()) return false;
  if (*type == "Lowercase") return true;
  if (*type == "BertNormalizer") {
    const auto lowercase = normalizer.find("lowercase");
    return lowercase != normalizer.end() && *lowercase == true;
  }
  const auto parts = normalizer.find("normalizers");
  return *type == "Sequence" && parts != normalizer.end() && parts->is_array() &&
         std::any_of(parts->begin(), parts->end(), LowerCases);
}

}  // namespace

TokenLimit ReadTokenLimit(const std::filesystem::path& encoder_folder,
                          const Settings& sentence_config, int64_t max_positions) {
  TokenLimit limit = StatedLimit(encoder_folder, sentence_config, max_positions);
  const auto positions = static_cast<size_t>(max_positions);
  if (limit.tokens <= positions) return limit;
  return {positions, fmt::format("config.json; {} says {}, for which there are no positions",
                                 limit.source, limit.tokens)};
}

bool TokenizerLowerCases(const std::filesystem::path& encoder_folder) {
  const std::filesystem::path path = encoder_folder / "tokenizer.json";
  if (std::filesystem::exists(path)) {
    const Settings tokenizer = ReadTokenizer(path);
    const nlohmann::json* normalizer = tokenizer.Find("normalizer");
    return normalizer != nullptr && LowerCases(*normalizer);
  }
  return Settings::ReadIfThere(encoder_folder / "tokenizer_config.json")
      .Boolean("do_lower_case")
      .value_or(true);
}

}  // namespace tandem::weights

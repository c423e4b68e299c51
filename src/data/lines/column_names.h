// The names of sentence-transformers' columns: keys of training lines and columns of tables.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace tandem::data {

inline constexpr std::array<std::string_view, 5> kQueryNames = {"anchor", "query", "question",
                                                                "sentence1", "premise"};
inline constexpr std::array<std::string_view, 5> kPositiveNames = {"positive", "document", "answer",
                                                                   "sentence2", "hypothesis"};
inline constexpr std::array<std::string_view, 4> kScoreNames = {"score", "scores", "label",
                                                                "labels"};

// "negative" or "negative_N".
inline bool IsNegativeName(std::string_view key) {
  constexpr std::string_view kName = "negative";
  if (!key.starts_with(kName)) return false;
  key.remove_prefix(kName.size());
  if (key.empty()) return true;
  return key.size() > 1 && key[0] == '_' &&
         key.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

inline bool IsOneOf(std::string_view key, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (key == name) return true;
  }
  return false;
}

}  // namespace tandem::data

// What embeddings were made with, as lines NAME VALUE (EncodingSource and what `tandem encode` adds
// to it): what a user knows each of them by, and which of them differ.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tandem::search {

struct EncodingSetting {
  std::string_view key;     // its line's first word
  std::string_view name;    // in a message
  std::string_view remedy;  // what makes it the same again
  bool is_shown = true;     // whether its value says something to a person
  bool is_place = false;    // where embeddings were made: it changes them by rounding alone
};

// The value behind `key`; "" where `lines` have no such line.
std::string_view SettingOf(std::string_view lines, std::string_view key);

struct SettingDifference {
  const EncodingSetting* setting = nullptr;
  std::string_view was, is;  // views into the lines

  // Whether it is the model that differs.
  bool is_model() const { return setting->key == "model" || setting->key == "tokenizer"; }
  // "precision fp32, and now it is bf16; give the same --precision", or, where the values say
  // nothing to a person, "another model; give the same model".
  std::string Text() const;
};

// The first that differs, of those first that change others: a model of another width has another
// fingerprint too. Nothing where none does.
std::optional<SettingDifference> FindDifference(std::string_view was, std::string_view is);
// The same among those that `wanted` has, and without those of a place.
std::optional<SettingDifference> FindDifferenceOfMeaning(std::string_view was,
                                                         std::string_view wanted);

}  // namespace tandem::search

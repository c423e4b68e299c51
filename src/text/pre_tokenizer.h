// The second stage of a tokenizer: cuts a normal form into words.
#pragma once

#include <string_view>
#include <vector>

namespace tandem::text {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  // Appends the words of `text` (valid UTF-8) to `words`, as views into it, none of them empty.
  virtual void Split(std::string_view text, std::vector<std::string_view>* words) const = 0;

  // Whether a text may be cut before any U+0020 and its parts split one by one.
  virtual bool CutsAtSpaces() const = 0;
};

// For `"pre_tokenizer": null`: the whole text is one word.
class NoPreTokenizer final : public PreTokenizer {
 public:
  void Split(std::string_view text, std::vector<std::string_view>* words) const override {
    if (!text.empty()) words->push_back(text);
  }
  bool CutsAtSpaces() const override { return false; }
};

}  // namespace tandem::text

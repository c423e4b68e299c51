// `WhitespaceSplit` and `Whitespace`: words between white space.
#pragma once

#include <string_view>

#include "text/pre_tokenizers/pre_tokenizer.h"

namespace tandem::text {

// Words end at white space, which is dropped.
class WhitespaceSplit final : public PreTokenizer {
 public:
  void Split(std::string_view text, bool first, Words* words) const override;
  Cuts cuts() const override { return Cuts::kAtSpaces; }
};

// A word is a run of word characters (\w) or a run of others, without white space.
class Whitespace final : public PreTokenizer {
 public:
  void Split(std::string_view text, bool first, Words* words) const override;
  Cuts cuts() const override { return Cuts::kAtSpaces; }
};

}  // namespace tandem::text

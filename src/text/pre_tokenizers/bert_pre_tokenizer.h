// `BertPreTokenizer`: words end at white space, each punctuation character is a word of its own.
#pragma once

#include <string_view>

#include "text/pre_tokenizers/pre_tokenizer.h"

namespace tandem::text {

class BertPreTokenizer final : public PreTokenizer {
 public:
  void Split(std::string_view text, bool first, Words* words) const override;
  Cuts cuts() const override { return Cuts::kAtSpaces; }
};

}  // namespace tandem::text

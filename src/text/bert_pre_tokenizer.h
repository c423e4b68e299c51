// `BertPreTokenizer`: words end at white space, each punctuation character is a word of its own.
#pragma once

#include <string_view>
#include <vector>

#include "text/pre_tokenizer.h"

namespace tandem::text {

class BertPreTokenizer final : public PreTokenizer {
 public:
  void Split(std::string_view text, std::vector<std::string_view>* words) const override;
  bool CutsAtSpaces() const override { return true; }
};

}  // namespace tandem::text

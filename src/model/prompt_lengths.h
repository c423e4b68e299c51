// Says how many tokens of a text are its prompt's, for pooling that leaves them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace tandem::model {

// Counts a prompt's tokens as sentence-transformers 6.2 does: the tokens of the prompt as a text of
// its own, cut at `max_tokens`, special tokens counted, but not the one that ends it. So the token
// that begins every text ([CLS]) belongs to the prompt. Where the tokenizer joins the end of the
// prompt with the beginning of a text, the count may be one off, there as here. An empty prompt has
// no token: nothing is left out, not even the one that begins the text. Each prompt is counted
// once.
class PromptLengths {
 public:
  // `tokenizer` must outlive this. `max_tokens` 0: no limit.
  PromptLengths(const text::Tokenizer& tokenizer, size_t max_tokens);
  int32_t Of(std::string_view prompt);

 private:
  const text::Tokenizer& tokenizer_;
  size_t max_tokens_;
  int32_t end_;  // the id that ends every text, or the one that begins it, or -1: there is none
  std::map<std::string, int32_t, std::less<>> lengths_;
};

}  // namespace tandem::model

// Token ids of a run's texts. They are made once and kept in memory, with 16 bits each where the
// vocabulary has no more entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tandem::train {

// Which texts get token ids, and how long they may be.
struct TokenStoreInput {
  size_t count = 0;
  std::function<std::string_view(size_t index)> text;
  std::function<bool(size_t index)> wanted;              // the others get no ids
  std::function<std::string_view(size_t index)> prompt;  // put before the text; null: none
  size_t max_length = 0;                                 // tokens, special ones counted
  // How many tokens of a text are its prompt's (model::PromptLengths); null: nobody asks.
  std::function<int32_t(std::string_view prompt)> prompt_tokens;
  int threads = 1;
};

class TokenStore {
 public:
  TokenStore() = default;
  // Ids of all wanted texts.
  TokenStore(const text::Tokenizer& tokenizer, const TokenStoreInput& input);

  size_t size() const { return starts_.size() - 1; }
  // Tokens of a text; 0 for one that was not wanted.
  size_t length(size_t index) const { return starts_[index + 1] - starts_[index]; }
  // Whether it knows how many tokens of each text are its prompt's.
  bool has_prompts() const { return !prompts_.empty(); }
  // Tokens of a wanted text's prompt; 0 where nobody asked.
  int32_t prompt_tokens(size_t index) const { return prompts_.empty() ? 0 : prompts_[index]; }
  // Appends the ids of a text.
  void Append(size_t index, std::vector<int32_t>* ids) const;

  size_t tokens() const { return starts_.back(); }
  size_t wanted() const { return wanted_; }
  size_t truncated() const { return truncated_; }      // of the wanted texts
  size_t tokenless() const { return tokenless_; }      // of them, empty and without any token
  size_t only_prompt() const { return only_prompt_; }  // of them, cut inside their prompt
  uint64_t hash() const;                               // of all ids, where texts and prompts end
  size_t bytes() const;                                // of memory

 private:
  void AppendWindow(const text::EncodedTexts& encoded, const std::vector<size_t>& indexes);

  bool narrow_ = true;
  std::vector<uint16_t> narrow_ids_;  // one of the two is used
  std::vector<int32_t> wide_ids_;
  std::vector<size_t> starts_ = {0};  // [n + 1]
  std::vector<int32_t> prompts_;      // [n], or empty
  size_t wanted_ = 0;
  size_t truncated_ = 0;
  size_t tokenless_ = 0;
  size_t only_prompt_ = 0;
};

}  // namespace tandem::train

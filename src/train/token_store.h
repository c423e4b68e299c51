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
  // Appends the ids of a text.
  void Append(size_t index, std::vector<int32_t>* ids) const;

  size_t tokens() const { return starts_.back(); }
  size_t wanted() const { return wanted_; }
  size_t truncated() const { return truncated_; }  // of the wanted texts
  uint64_t hash() const;                           // of all ids and where texts end
  size_t bytes() const;                            // of memory

 private:
  void AppendWindow(const text::EncodedTexts& encoded, const std::vector<size_t>& indexes);

  bool narrow_ = true;
  std::vector<uint16_t> narrow_ids_;  // one of the two is used
  std::vector<int32_t> wide_ids_;
  std::vector<size_t> starts_ = {0};  // [n + 1]
  size_t wanted_ = 0;
  size_t truncated_ = 0;
};

}  // namespace tandem::train

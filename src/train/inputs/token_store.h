// The token ids of a run's texts. They are made once and kept in memory, with 16 bits each if the
// vocabulary is small enough. Runs of one process may share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tandem::train {

// Says which texts get token ids, and how long they may be.
struct TokenStoreInput {
  size_t count = 0;
  std::function<std::string_view(size_t index)> text;
  std::function<bool(size_t index)> wanted;              // other texts get no ids
  std::function<std::string_view(size_t index)> prompt;  // put before the text; null: none
  size_t max_length = 0;                                 // tokens, including special ones
  // Returns how many tokens of a text are those of its prompt (model::PromptLengths); null: not
  // needed.
  std::function<int32_t(std::string_view prompt)> prompt_tokens;
  int threads = 1;
};

// Copies share the ids.
class TokenStore {
 public:
  TokenStore() = default;
  // Makes the ids of all wanted texts.
  TokenStore(const text::Tokenizer& tokenizer, const TokenStoreInput& input);

  size_t size() const { return ids_->starts.size() - 1; }
  // Returns the number of tokens of a text; 0 if the text was not wanted.
  size_t length(size_t index) const { return ids_->starts[index + 1] - ids_->starts[index]; }
  // Whether the store knows how many tokens of each text are those of its prompt.
  bool has_prompts() const { return !ids_->prompts.empty(); }
  // Returns the number of tokens of a wanted text's prompt; 0 if the store does not know it.
  int32_t prompt_tokens(size_t index) const {
    return ids_->prompts.empty() ? 0 : ids_->prompts[index];
  }
  // Appends the ids of a text.
  void Append(size_t index, std::vector<int32_t>* ids) const;

  size_t tokens() const { return ids_->starts.back(); }
  size_t wanted() const { return wanted_; }
  size_t truncated() const { return truncated_; }      // wanted texts that were cut
  size_t tokenless() const { return tokenless_; }      // wanted texts without any token
  size_t only_prompt() const { return only_prompt_; }  // wanted texts cut inside their prompt
  uint64_t hash() const;                               // of ids and lengths of texts and prompts
  size_t bytes() const;                                // memory that it takes

 private:
  void AppendWindow(const text::EncodedTexts& encoded, const std::vector<size_t>& indexes);

  struct Ids {
    std::vector<uint16_t> narrow;  // only one of the two is used
    std::vector<int32_t> wide;
    std::vector<size_t> starts = {0};  // [n + 1]
    std::vector<int32_t> prompts;      // of each text the number of its tokens [n], or empty
  };

  bool narrow_ = true;
  std::shared_ptr<Ids> ids_ = std::make_shared<Ids>();  // does not change once it is made
  size_t wanted_ = 0;
  size_t truncated_ = 0;
  size_t tokenless_ = 0;
  size_t only_prompt_ = 0;
};

// Token ids that the runs of one process share, as the trials of a search do, one after the other:
// those of the same texts, with the same prompts, length and tokenizer, are made once. It keeps the
// last ids of queries and the last ones of documents. Not for several threads at a time.
class SharedTokens {
 public:
  // What TokenStore(tokenizer, input) is. `kind` names the place where it is kept.
  TokenStore Of(int kind, const text::Tokenizer& tokenizer, const TokenStoreInput& input);
  int64_t made() const { return made_; }  // stores that were not there yet

 private:
  struct Entry {
    uint64_t key = 0;
    TokenStore store;
  };
  std::map<int, Entry> last_;
  int64_t made_ = 0;
};

}  // namespace tandem::train

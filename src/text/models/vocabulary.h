// The tokens of a tokenizer and their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/models/byte_trie.h"

namespace tandem::text {

class Vocabulary {
 public:
  // Ids are bounded so that a damaged file cannot ask for a huge table; the largest vocabularies in
  // use have about 260,000 tokens.
  static constexpr int64_t kMaxId = ByteTrie::kMaxValue;

  // `file` is named in errors.
  explicit Vocabulary(std::string file) : file_(std::move(file)) {}

  // Throws ModelError when `id` is negative, above kMaxId, or already another token's.
  void Add(std::string_view token, int64_t id);

  // One more than the largest id.
  size_t size() const { return tokens_.size(); }
  size_t count() const { return count_; }
  // Returns empty for an id without token and for ids out of range.
  std::string_view token(int64_t id) const;

  // All tokens that are not empty. Throws ModelError when two ids have the same token.
  ByteTrie MakeTrie() const;

  // Throws the ModelError for a token that `id` and `other` both have.
  [[noreturn]] void FailTwoIds(std::string_view token, int64_t id, int64_t other) const;

 private:
  struct Place {
    size_t offset = 0;
    uint32_t length = 0;
    bool taken = false;
  };
  std::string file_;
  std::string bytes_;
  std::vector<Place> tokens_;  // by id
  size_t count_ = 0;
};

}  // namespace tandem::text

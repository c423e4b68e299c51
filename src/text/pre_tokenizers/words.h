// The words that the second stage of a tokenizer cuts a text into.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "text/models/word_cache.h"

namespace tandem::text {

// This many bytes from a word's beginning can be read, whatever the word's length.
inline constexpr size_t kWordPadding = WordKey::kMaxBytes;

// A list of words, in order, and memory for words that are not in the text as it is (Metaspace
// writes "▁" for a space). All memory is kept for the next text.
class Words {
 public:
  // Forgets the words and the memory that Reserve gave.
  void Clear() {
    views_.clear();
    block_ = 0;
    used_ = 0;
  }

  // `word` is not empty, is padded (kWordPadding) and stays where it is until Clear.
  void Add(std::string_view word) { views_.push_back(word); }
  void Add(const char* begin, const char* end) {
    views_.emplace_back(begin, static_cast<size_t>(end - begin));
  }

  std::span<const std::string_view> views() const { return views_; }
  size_t size() const { return views_.size(); }

  // Place for `size` bytes. Those that Keep then takes, from the beginning, stay until Clear and
  // are padded; the next Reserve takes the others.
  char* Reserve(size_t size);
  void Keep(size_t size) { used_ += size; }

  // Calls `function(word)` for each word from number `begin` on; the words that it adds take the
  // place of all these.
  template <typename Function>
  void ReplaceFrom(size_t begin, const Function& function) {
    std::vector<std::string_view> old = TakeSpare();
    old.assign(views_.begin() + static_cast<std::ptrdiff_t>(begin), views_.end());
    views_.resize(begin);
    for (const std::string_view word : old) function(word);
    spare_.push_back(std::move(old));
  }

 private:
  static constexpr size_t kBlockBytes = size_t{1} << 15;
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };

  std::vector<std::string_view> TakeSpare();

  std::vector<std::string_view> views_;
  std::vector<std::vector<std::string_view>> spare_;  // lists of ReplaceFrom
  std::vector<Block> blocks_;
  size_t block_ = 0;  // the block that Reserve takes from
  size_t used_ = 0;   // bytes of it
};

}  // namespace tandem::text

// Tokens that are found inside a text before it is cut into words: special tokens and those that
// were added to a model later.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/models/byte_trie.h"
#include "text/normalizers/normalizer.h"

namespace tandem::text {

// The fields of the same names in tokenizer.json.
struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool single_word = false;  // matches only where no word character touches it
  bool lstrip = false;       // the match includes white space before it
  bool rstrip = false;       // the match includes white space after it
  bool normalized = false;   // its normal form is looked for in the text's normal form
  bool special = false;      // special tokens are looked for before the others
};

// A piece of a text: an added token, or text between them.
struct TextPiece {
  static constexpr int32_t kText = -1;
  std::string_view text;
  int32_t id = kText;
};

// Finds tokens leftmost first and longest first, without overlap.
class AddedTokenMatcher {
 public:
  // `contents[i]` is what to look for, `tokens[i]` which token it is and how it matches. The first
  // of two equal contents counts. No content may be empty.
  // `split_special`: special tokens are text like any other where they are found.
  AddedTokenMatcher(std::span<const std::string> contents, std::span<const AddedToken> tokens,
                    bool split_special = false);

  bool empty() const { return tokens_.empty(); }
  // Says whether a text may be cut before any U+0020 and its parts searched one by one: no match
  // holds what is on both sides.
  bool CutsAtSpaces() const { return cuts_at_spaces_; }

  // Appends the pieces of `text` (valid UTF-8) in order, without empty ones.
  void Split(std::string_view text, std::vector<TextPiece>* pieces) const;

 private:
  size_t NextCandidate(std::string_view text, size_t from) const;

  std::vector<AddedToken> tokens_;
  ByteTrie trie_;  // content -> index into tokens_
  std::array<bool, 256> first_bytes_{};
  int only_first_byte_ = -1;  // the byte all contents start with, if there is one
  bool cuts_at_spaces_ = true;
  bool split_special_;
};

// Both matchers of a tokenizer; `normalizer` gives the normal forms that the second looks for.
struct AddedTokens {
  AddedTokenMatcher plain;       // searched in the text as it is
  AddedTokenMatcher normalized;  // searched in the normal form of what is left

  // Throws ModelError naming `file` when the normal form of a token is empty.
  static AddedTokens Make(std::span<const AddedToken> tokens, const Normalizer& normalizer,
                          std::string_view file, bool split_special = false);
};

}  // namespace tandem::text

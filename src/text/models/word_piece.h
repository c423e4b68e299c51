// WordPiece: each word is cut greedily into the longest tokens that fit (Wu et al. 2016; the
// left-to-right longest-match form that BERT runs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/models/byte_trie.h"
#include "text/models/subword_model.h"
#include "text/models/vocabulary.h"

namespace tandem::text {

struct WordPieceOptions {
  std::string unk_token = "[UNK]";               // a word that cannot be cut
  std::string continuing_subword_prefix = "##";  // of tokens that do not start a word
  size_t max_input_chars_per_word = 100;         // a word with more code points is unknown
};

class WordPiece final : public SubwordModel {
 public:
  // Throws ModelError naming `file` when `unk_token` is not in the vocabulary.
  WordPiece(const Vocabulary& vocabulary, const WordPieceOptions& options, std::string_view file);

  void Tokenize(std::span<const std::string_view> words, size_t max_ids, WordCache* cache,
                std::vector<int32_t>* ids) const override;
  int32_t Find(std::string_view token) const override { return trie_.Find(token); }

 private:
  void Cut(std::string_view word, std::vector<int32_t>* ids) const;
  bool IsTooLong(std::string_view word) const;

  ByteTrie trie_;
  size_t max_input_chars_per_word_;
  int32_t unknown_id_;
  // The place in the trie after the prefix; no token continues a word where `continues_` is false.
  uint32_t continuation_ = ByteTrie::kRoot;
  bool continues_ = true;
};

}  // namespace tandem::text

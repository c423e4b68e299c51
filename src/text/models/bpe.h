// Byte-pair encoding: a word starts as its characters or bytes, and the pair of neighbours whose
// merge was learnt first becomes one token, until no pair of neighbours can merge (Sennrich et al.
// 2016; on bytes: Radford et al. 2019).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/models/merge_table.h"
#include "text/models/subword_model.h"
#include "text/models/token_table.h"
#include "text/models/vocabulary.h"
#include "text/unicode/unicode.h"

namespace tandem::text {

// The fields of the same names in tokenizer.json. An empty string stands for null.
struct BpeOptions {
  std::string unk_token;                  // of what has no token; where empty, that vanishes
  std::string continuing_subword_prefix;  // of characters that do not start a word
  std::string end_of_word_suffix;         // of the character that ends a word
  bool fuse_unk = false;                  // neighbouring unknown characters are one unknown token
  bool byte_fallback = false;    // an unknown character becomes the tokens <0xNN> of its bytes
  bool ignore_merges = false;    // a word that is a token is that token, whatever the merges say
  bool words_are_bytes = false;  // the vocabulary spells bytes by byte-level characters, while
                                 // words are plain text (text/unicode/byte_level.h)
};

class Bpe final : public SubwordModel {
 public:
  // `merges` in the order in which they were learnt. Throws ModelError naming `file` when a token
  // of a merge is missing, when two ids have the same token, and when `unk_token` is missing though
  // it can be needed.
  Bpe(const Vocabulary& vocabulary, std::span<const MergeNames> merges, const BpeOptions& options,
      const std::string& file);

  void Tokenize(std::span<const std::string_view> words, size_t max_ids, WordCache* cache,
                std::vector<int32_t>* ids) const override;
  int32_t Find(std::string_view token) const override { return tokens_.Find(token); }

 private:
  static constexpr int32_t kNone = -1;
  // The place of a character in its word decides how the vocabulary spells it.
  enum Place { kInside = 0, kFirst = 1, kLast = 2, kOnly = 3 };

  void FillSymbols(const Vocabulary& vocabulary);
  void FillCuts(std::span<const MergeNames> merges);
  void FillByteTokens();
  void FindUnknown(const std::string& file);

  // Appends the ids of one word, which it may keep in the cache.
  void TokenizeWord(std::string_view word, WordCache* cache, std::vector<int32_t>* ids) const;
  // The ids of a word by its definition.
  void Encode(std::string_view word, std::vector<int32_t>* ids) const;
  // The tokens of a word before the first merge.
  void AppendSymbols(std::string_view word, std::vector<int32_t>* ids) const;
  bool AppendFallback(char32_t unit, int place, std::vector<int32_t>* ids) const;
  // The end of the first part of `word` that no merge can join to the rest.
  size_t FirstCut(std::string_view word) const;

  BpeOptions options_;
  TokenTable tokens_;      // as the vocabulary spells them
  TokenTable byte_words_;  // as words spell them; only with ignore_merges and words_are_bytes
  MergeTable merges_;
  std::array<PagedTable<int32_t>, 4> symbols_;  // by Place: code point or byte -> id
  std::array<int32_t, 256> byte_tokens_;        // <0x00> to <0xFF>
  int32_t unknown_id_ = kNone;
  bool by_place_ = false;               // a character's place in its word decides its symbol
  bool cuts_ = false;                   // FirstCut may find parts
  PagedTable<uint8_t> joins_boundary_;  // characters that a merge can join to a U+2581 after them
};

}  // namespace tandem::text

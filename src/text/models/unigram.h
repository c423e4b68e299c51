// Unigram: a word is cut into the tokens whose scores have the largest sum (Kudo 2018).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/models/byte_trie.h"
#include "text/models/subword_model.h"

namespace tandem::text {

struct UnigramToken {
  std::string_view token;
  double score;  // log probability; only sums and their order matter
};

struct UnigramOptions {
  std::optional<int32_t> unk_id;  // of what the vocabulary does not have
  bool byte_fallback = false;  // such a stretch becomes its bytes' tokens, "<0xE2>", if all exist
};

// Viterbi's algorithm over the characters of a word. A character that is no token may be unknown,
// with a score of 10 below the smallest of the vocabulary; unknown characters next to each other
// are one. Where several cuts have equal sums, the one whose last token starts first counts, then
// the token before it, and so on. Time and memory are linear in the word's length.
class Unigram final : public SubwordModel {
 public:
  // A token's place in `vocabulary` is its id. Where two tokens are equal, the last one counts, as
  // in the package. Where there is `unk_id`, it must be below vocabulary.size(). `file` is named in
  // errors.
  Unigram(std::span<const UnigramToken> vocabulary, const UnigramOptions& options,
          std::string_view file);

  // Throws ModelError for a character that the vocabulary does not have where there is no `unk_id`.
  void Tokenize(std::span<const std::string_view> words, size_t max_ids, WordCache* cache,
                std::vector<int32_t>* ids) const override;
  int32_t Find(std::string_view token) const override { return trie_.Find(token); }

 private:
  // The best cut of the first bytes of a word: its sum and its last token.
  struct Best {
    double sum;
    uint32_t start;  // of the last token; kNoStart where there is no cut yet
    int32_t id;
  };
  static constexpr uint32_t kNoStart = UINT32_MAX;
  static constexpr Best kNone = {0, kNoStart, 0};

  void Cut(std::string_view word, std::vector<int32_t>* ids) const;
  // Fills `best`, which has word.size() + 1 elements, all kNone.
  void FindBest(std::string_view word, Best* best) const;
  // Appends the ids of the best cut.
  void AppendIds(std::string_view word, Best* best, std::vector<int32_t>* ids) const;
  void AppendUnknown(std::string_view stretch, std::vector<int32_t>* ids) const;
  [[noreturn]] void FailUnknown(std::string_view rest) const;

  std::string file_;
  ByteTrie trie_;
  std::vector<double> scores_;     // by id
  std::vector<int32_t> byte_ids_;  // 256 with byte_fallback, -1 for a byte without token
  double unknown_score_ = 0;
  int32_t unk_id_ = kNoUnknown;
  static constexpr int32_t kNoUnknown = -1;
};

}  // namespace tandem::text

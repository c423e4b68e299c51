#include "text/models/word_piece.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::text {

WordPiece::WordPiece(const Vocabulary& vocabulary, const WordPieceOptions& options,
                     std::string_view file)
    : trie_(vocabulary.MakeTrie()),
      max_input_chars_per_word_(options.max_input_chars_per_word),
      unknown_id_(trie_.Find(options.unk_token)) {
  if (unknown_id_ == ByteTrie::kNone) {
    throw ModelError(
        file, "",
        fmt::format("the unknown token \"{}\" is not in the vocabulary", options.unk_token));
  }
  for (const char c : options.continuing_subword_prefix) {
    continues_ = continues_ && trie_.Step(&continuation_, static_cast<unsigned char>(c));
  }
}

bool WordPiece::IsTooLong(std::string_view word) const {
  if (word.size() <= max_input_chars_per_word_) return false;
  const auto starts = std::count_if(word.begin(), word.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return static_cast<size_t>(starts) > max_input_chars_per_word_;
}

void WordPiece::Cut(std::string_view word, std::vector<int32_t>* ids) const {
  const size_t old_size = ids->size();
  bool known = !IsTooLong(word);
  uint32_t node = ByteTrie::kRoot;
  while (known && !word.empty()) {
    const ByteTrie::Match match = trie_.Longest(node, word);
    known = match.value != ByteTrie::kNone;
    if (!known) break;
    ids->push_back(match.value);
    word.remove_prefix(match.length);
    node = continuation_;
    known = continues_ || word.empty();
  }
  if (!known) {
    ids->resize(old_size);
    ids->push_back(unknown_id_);
  }
}

void WordPiece::Tokenize(std::span<const std::string_view> words, size_t max_ids, WordCache* cache,
                         std::vector<int32_t>* ids) const {
  for (const std::string_view word : words) {
    if (ids->size() > max_ids) return;
    AppendCached(word, cache, ids,
                 [this](std::string_view one, std::vector<int32_t>* to) { Cut(one, to); });
  }
}

}  // namespace tandem::text

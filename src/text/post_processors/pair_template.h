// Two texts as one input of a cross-encoder: where they and the special tokens stand, and how long
// each may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tandem::text {

// A piece of the template: a special token, or the ids of the first or the second text.
struct PairPiece {
  enum class Kind { kSpecial, kFirst, kSecond };
  Kind kind = Kind::kSpecial;
  int32_t id = 0;    // of a special token
  int32_t type = 0;  // the token type of the piece's tokens
};

// [CLS] first [SEP] second [SEP]. Has both texts once. Source: "pair" of tokenizer.json's
// TemplateProcessing; BertProcessing and RobertaProcessing as the `tokenizers` package has them.
struct PairTemplate {
  std::vector<PairPiece> pieces;

  bool empty() const { return pieces.empty(); }  // texts cannot be encoded as pairs
  size_t special_tokens() const;
};

// CLS first SEP second SEP, with types 0 and, from the second text on, 1.
PairTemplate BertPair(int32_t cls, int32_t sep);
// CLS first SEP SEP second SEP, all of type 0.
PairTemplate RobertaPair(int32_t cls, int32_t sep);

// Says how many ids of two texts with `first` and `second` ids stay where both together may have
// `most`: the longer one is cut first, then both to the same length, of which the longer one has
// one more where `most` is odd (the second where both are equally long). The package's truncation
// "longest_first" does the same.
std::pair<size_t, size_t> LongestFirst(size_t first, size_t second, size_t most);

// Appends ids and token types, of which there are as many before, by the template.
void AppendPair(const PairTemplate& pair, std::span<const int32_t> first,
                std::span<const int32_t> second, std::vector<int32_t>* ids,
                std::vector<int32_t>* types);

}  // namespace tandem::text

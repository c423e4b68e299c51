// The token ids of several texts, one text after the other; nothing is padded.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

namespace tandem::tensor {

class LengthClasses;

// All tensors are on one device: the CPU, where Pack makes them, or the one that To named.
struct PackedTokens {
  at::Tensor ids;              // int32 [T]
  at::Tensor positions;        // int32 [T], 0-based position in its text
  at::Tensor types;            // int32 [T], token types; undefined: all 0
  at::Tensor sequence_starts;  // int32 [B + 1], ascending from 0 to T
  // The dropout key of each text, int64 [B]. It does not depend on where the text is in this pack,
  // so that chunking and threads cannot change what is dropped.
  at::Tensor text_keys;
  at::Tensor row_keys;  // int64 [T]: PositionKey of each row's text and position
  // Says how many leading tokens of each text are its prompt's, for pooling that leaves these out:
  // int32 [B], each at least 0, and possibly more than the text has. Undefined: none.
  at::Tensor prompt_tokens;
  // Says for each text how many of its rows stand for no token of it, int32 [B]: 1 of a text
  // without tokens, else 0. After pooling such a text has zeros. Undefined: all texts have tokens.
  at::Tensor stand_ins;
  int64_t longest = 0;  // tokens of the longest text

  // The texts by length, for operations in their portable form: made where one first asks, once for
  // all copies of this pack. Several threads may ask.
  std::shared_ptr<const LengthClasses> length_classes() const;
  struct LazyClasses;
  std::shared_ptr<LazyClasses> lazy_classes;  // Pack makes it; null: nothing is kept

  int64_t tokens() const { return ids.size(0); }
  int64_t texts() const { return sequence_starts.size(0) - 1; }

  // The pack on another device, with its length_classes; itself where it is there already.
  PackedTokens To(at::Device device) const;
};

// Packs texts given as spans of ids; `text_keys[b]` defaults to b, and without `prompt_tokens` no
// text has any. A text without tokens (empty, from a tokenizer without special tokens) gets one row
// of id 0 that is left out of pooling, so that its embedding is that of zeros, as in
// sentence-transformers. Throws UsageError for more than 2^31 - 1 tokens.
PackedTokens Pack(std::span<const std::span<const int32_t>> texts,
                  std::span<const int64_t> text_keys = {},
                  std::span<const int32_t> prompt_tokens = {});

}  // namespace tandem::tensor

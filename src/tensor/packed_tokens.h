// Token ids of several texts behind each other on a device; nothing is padded.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace tandem::tensor {

struct PackedTokens {
  at::Tensor ids;              // int32 [T]
  at::Tensor positions;        // int32 [T], 0-based position in its text
  at::Tensor sequence_starts;  // int32 [B + 1], ascending from 0 to T
  // Names each text for dropout: the generator is keyed by it, not by the row that a text has in
  // this pack, so that chunking and threads cannot change what is dropped. int64 [B].
  at::Tensor text_keys;
  int64_t longest = 0;         // tokens of the longest text

  int64_t tokens() const { return ids.size(0); }
  int64_t texts() const { return sequence_starts.size(0) - 1; }
};

// Packs texts given as spans of ids; `text_keys[b]` defaults to b. A text may have length 0 only
// if the tokenizer adds no special tokens: that is a UsageError, as pooling would be undefined.
PackedTokens Pack(std::span<const std::span<const int32_t>> texts,
                  std::span<const int64_t> text_keys = {});

}  // namespace tandem::tensor

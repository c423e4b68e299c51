// The token ids of several texts, one text after the other; nothing is padded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "tensor/core/tensor.h"

namespace tandem::tensor {

// A value of a type that only its user knows, made when it is first asked for.
class LazySlot {
 public:
  // What the first call's `make` returned. Several threads may ask; all must ask for the same type.
  template <typename T>
  std::shared_ptr<const T> Get(const std::function<std::shared_ptr<const T>()>& make) {
    std::call_once(once_, [&] { value_ = make(); });
    return std::static_pointer_cast<const T>(value_);
  }

 private:
  std::once_flag once_;
  std::shared_ptr<const void> value_;
};

// All tensors but `host_starts` and `host_ids` are on one device: the CPU, where Pack makes them,
// or the one that To named.
struct PackedTokens {
  Tensor ids;              // int32 [T]
  Tensor positions;        // int32 [T], 0-based position in its text
  Tensor types;            // int32 [T], token types; undefined: all 0
  Tensor sequence_starts;  // int32 [B + 1], ascending from 0 to T
  // sequence_starts on the CPU, so that nobody waits for a device to know them. Undefined: they are
  // asked for (HostStarts).
  Tensor host_starts;
  Tensor host_ids;  // the same of `ids` (HostIds)
  // The dropout key of each text, int64 [B]. It does not depend on where the text is in this pack,
  // so that chunking and threads cannot change what is dropped.
  Tensor text_keys;
  Tensor row_keys;  // int64 [T]: PositionKey of each row's text and position
  // Says how many leading tokens of each text are its prompt's, for pooling that leaves these out:
  // int32 [B], each at least 0, and possibly more than the text has. Undefined: none.
  Tensor prompt_tokens;
  // Says for each text how many of its rows stand for no token of it, int32 [B]: 1 of a text
  // without tokens, else 0. After pooling such a text has zeros. Undefined: all texts have tokens.
  Tensor stand_ins;
  int64_t longest = 0;  // tokens of the longest text

  // What a back end keeps with the pack, such as its texts by length: one slot for all copies of a
  // pack on one device. Pack and To make it; null: nothing is kept.
  std::shared_ptr<LazySlot> back_end_slot;

  int64_t tokens() const { return ids.size(0); }
  int64_t texts() const { return sequence_starts.size(0) - 1; }
  // sequence_starts on the CPU, int32 [B + 1].
  Tensor HostStarts() const;
  // `ids` on the CPU, int32 [T].
  Tensor HostIds() const;

  // The pack on another device; itself where it is there already.
  PackedTokens To(Device device) const;
};

// Packs texts given as spans of ids; `text_keys[b]` defaults to b, and without `prompt_tokens` no
// text has any. A text without tokens (empty, from a tokenizer without special tokens) gets one row
// of id 0 that is left out of pooling, so that its embedding is that of zeros, as in
// sentence-transformers. Throws UsageError for more than 2^31 - 1 tokens.
PackedTokens Pack(std::span<const std::span<const int32_t>> texts,
                  std::span<const int64_t> text_keys = {},
                  std::span<const int32_t> prompt_tokens = {});

}  // namespace tandem::tensor

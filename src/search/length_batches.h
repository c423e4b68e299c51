// Batches of texts of similar length, so many tokens each, on all threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "text/tokenizer.h"

namespace tandem::search {

// Tokens of a forward pass (EncodeOptions says how they are chosen).
struct BatchTokens {
  size_t whole = 4096;     // of a pass on all threads
  size_t of_thread = 768;  // of a pass that one thread makes; 0: there are none
};

// Texts of a batch, as numbers of them, and their tokens.
using BatchBody = std::function<void(std::span<const size_t> texts, size_t tokens)>;

// Calls `body` once for each batch, the longest texts first; texts of the same length keep their
// order. Where there are many tokens, each thread takes batches of its own, so that several threads
// call `body` at a time; they become smaller towards the end, so that the threads stop at about the
// same time. Otherwise the calling thread makes one batch after the other. Rethrows the first
// exception of `body`.
void ForLengthBatches(const text::EncodedTexts& texts, const BatchTokens& tokens,
                      const BatchBody& body);

}  // namespace tandem::search

// What was noticed while texts were encoded.
#pragma once

#include <cstddef>

namespace tandem::search {

struct EncodeCounts {
  size_t texts = 0;
  size_t tokens = 0;
  size_t truncated = 0;  // texts longer than the model's limit
  size_t empty = 0;      // texts without a token of their own: encoded as their special tokens
  size_t tokenless = 0;  // texts without any token: their embeddings are those of zeros
  // Where the prompt is left out of pooling: texts that are cut inside their prompt, so that no
  // token is left to pool (tensor::Pool).
  size_t only_prompt = 0;

  EncodeCounts& operator+=(const EncodeCounts& other) {
    texts += other.texts;
    tokens += other.tokens;
    truncated += other.truncated;
    empty += other.empty;
    tokenless += other.tokenless;
    only_prompt += other.only_prompt;
    return *this;
  }
  bool operator==(const EncodeCounts&) const = default;
};

}  // namespace tandem::search

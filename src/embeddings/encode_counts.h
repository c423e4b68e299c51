// Counts of events during the encoding of texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::embeddings {

struct EncodeCounts {
  size_t texts = 0;
  size_t tokens = 0;
  size_t truncated = 0;  // texts longer than the model's limit
  size_t empty = 0;      // texts without a token of their own: encoded as their special tokens
  size_t tokenless = 0;  // texts without any token: their embeddings are those of zeros
  // Where the prompt is left out of pooling, this counts texts that are cut inside their prompt, so
  // that no token is left to pool (tensor::Pool).
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

  // All counts in a fixed order, to be sent and added up.
  using Numbers = std::array<int64_t, 6>;
  Numbers AsNumbers() const {
    return {static_cast<int64_t>(texts),     static_cast<int64_t>(tokens),
            static_cast<int64_t>(truncated), static_cast<int64_t>(empty),
            static_cast<int64_t>(tokenless), static_cast<int64_t>(only_prompt)};
  }
  static EncodeCounts FromNumbers(const Numbers& numbers) {
    const auto at = [&numbers](size_t i) { return static_cast<size_t>(numbers[i]); };
    return {.texts = at(0),
            .tokens = at(1),
            .truncated = at(2),
            .empty = at(3),
            .tokenless = at(4),
            .only_prompt = at(5)};
  }
};

}  // namespace tandem::embeddings

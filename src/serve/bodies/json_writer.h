// Writes what responses consist of, quickly: most bytes that a server sends are embeddings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tandem::serve {

// Appends `text` in quotes. Bytes that are no UTF-8 become U+FFFD.
void AppendJsonText(std::string* out, std::string_view text);

// Appends the shortest digits that read as the same number; null where it is not finite.
void AppendJsonFloat(std::string* out, float number);
void AppendJsonNumber(std::string* out, double number);
void AppendJsonInteger(std::string* out, uint64_t number);

// "[0.1,0.2]"
void AppendJsonFloats(std::string* out, std::span<const float> numbers);

// The little-endian bytes of float32 as base64 in quotes, as OpenAI's clients read them.
void AppendBase64Floats(std::string* out, std::span<const float> numbers);

}  // namespace tandem::serve

// Byte-level characters: one printable character for each byte, in which byte-level vocabularies
// spell their tokens (Radford et al. 2019, `bytes_to_unicode`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem::text {

// Printable characters of Latin-1 stand for themselves, the other 68 bytes are U+0100 and on: a
// space is U+0120.
char32_t ByteLevelCharacter(uint8_t byte);

// Sets `bytes` to what a token means; false where one of its characters is no byte-level character.
// `token` must be valid UTF-8.
bool ReadByteLevel(std::string_view token, std::string* bytes);

// `bytes` in byte-level characters, appended to `out`.
void AppendByteLevel(std::string_view bytes, std::string* out);

}  // namespace tandem::text

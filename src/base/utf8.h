// Checks, reads and writes UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// Says whether the bytes are UTF-8; no bytes are.
bool IsUtf8(std::string_view bytes);

// Returns the bytes of the well-formed character at the start of `bytes`, which are not empty, or
// minus the length of the maximal invalid subpart there.
int CharacterLength(std::string_view bytes);

// Returns `bytes` with each maximal invalid subpart replaced by one U+FFFD (The Unicode Standard,
// section 3.9; the same as WHATWG's and Python's decoders): "\xE2\x82" is one, "\xFF\xFF" two.
std::string RepairUtf8(std::string_view bytes);

void AppendUtf8(char32_t code_point, std::string* out);

// Reads one code point of *valid* UTF-8 and moves `p` past it.
inline char32_t NextCodePoint(const char*& p) {
  const auto byte = [&](int i) { return static_cast<char32_t>(static_cast<unsigned char>(p[i])); };
  const char32_t first = byte(0);
  if (first < 0x80) {
    p += 1;
    return first;
  }
  if (first < 0xE0) {
    const char32_t c = (first & 0x1F) << 6 | (byte(1) & 0x3F);
    p += 2;
    return c;
  }
  if (first < 0xF0) {
    const char32_t c = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    p += 3;
    return c;
  }
  const char32_t c =
      (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  p += 4;
  return c;
}

// The code point of *valid* UTF-8 that ends at `end`, which must not be the beginning of the text.
inline char32_t CodePointBefore(const char* end) {
  const char* p = end - 1;
  while ((static_cast<unsigned char>(*p) & 0xC0) == 0x80) --p;
  return NextCodePoint(p);
}

}  // namespace tandem

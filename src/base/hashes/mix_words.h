// The step that all of Tandem's hashes are made of: two words to one.
#pragma once

#include <cstdint>

namespace tandem {

// Odd constants with evenly spread bits: the fractional parts of the square roots of 2, 3 and 5.
inline constexpr uint64_t kHashStart = 0x6a09e667f3bcc909;
inline constexpr uint64_t kHashWord = 0xbb67ae8584caa73b;
inline constexpr uint64_t kHashEnd = 0x3c6ef372fe94f82b;

// XORs both halves of the product, so that every input bit changes every output bit.
inline uint64_t MixWords(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace tandem

// The steps that Tandem's hashes are made of: two words to one, and the bits of one.
#pragma once

#include <cstdint>

namespace tandem {

// Odd constants with evenly spread bits: the fractional parts of the square roots of 2, 3 and 5.
inline constexpr uint64_t kHashStart = 0x6a09e667f3bcc909;
inline constexpr uint64_t kHashWord = 0xbb67ae8584caa73b;
inline constexpr uint64_t kHashEnd = 0x3c6ef372fe94f82b;

// The finalizer of SplitMix64 (Steele et al. 2014): every input bit changes every output bit.
inline uint64_t FinalizeSplitMix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// XORs both halves of the product, so that every input bit changes every output bit.
inline uint64_t MixWords(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace tandem

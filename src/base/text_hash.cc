#include "base/text_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace tandem {
namespace {

static_assert(std::endian::native == std::endian::little,
              "hashes are defined on little-endian words");

// Odd constants with evenly spread bits: the fractional parts of the square roots of 2, 3 and 5.
constexpr uint64_t kStart = 0x6a09e667f3bcc909;
constexpr uint64_t kWord = 0xbb67ae8584caa73b;
constexpr uint64_t kEnd = 0x3c6ef372fe94f82b;

__extension__ using Wide = unsigned __int128;

// XORs both halves of the product, so that every input bit changes every output bit.
uint64_t Mix(uint64_t a, uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

uint64_t TextHash(std::string_view text) {
  uint64_t hash = kStart ^ (text.size() * kWord);
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    // Where a word makes a factor of Mix zero, the rotated hash still depends on earlier words.
    hash = Mix(hash ^ word, kWord) ^ std::rotl(hash, 23);
  }
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, at, left);
  hash = Mix(hash ^ tail, kWord) ^ std::rotl(hash, 23);
  return Mix(hash, kEnd) ^ std::rotl(hash, 32);
}

}  // namespace tandem

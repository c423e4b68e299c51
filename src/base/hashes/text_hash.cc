#include "base/hashes/text_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "base/hashes/mix_words.h"

namespace tandem {
namespace {

static_assert(std::endian::native == std::endian::little,
              "hashes are defined on little-endian words");

}  // namespace

uint64_t TextHash(std::string_view text) {
  uint64_t hash = kHashStart ^ (text.size() * kHashWord);
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    // Where a word makes a factor of Mix zero, the rotated hash still depends on earlier words.
    hash = MixWords(hash ^ word, kHashWord) ^ std::rotl(hash, 23);
  }
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, at, left);
  hash = MixWords(hash ^ tail, kHashWord) ^ std::rotl(hash, 23);
  return MixWords(hash, kHashEnd) ^ std::rotl(hash, 32);
}

}  // namespace tandem

// A quick hash of ids, for tables that live in memory only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hashes/text_hash.h"

namespace tandem::data {

// Ids of up to 16 bytes take one multiplication of two words that together hold all their bytes;
// longer ones take TextHash. Never written to files: it may change.
inline uint64_t IdHash(std::string_view id) {
  const size_t size = id.size();
  if (size > 16) return TextHash(id);
  uint64_t first = 0, last = 0;
  if (size >= 8) {
    std::memcpy(&first, id.data(), 8);
    std::memcpy(&last, id.data() + size - 8, 8);
  } else if (size >= 4) {
    uint32_t half = 0;
    std::memcpy(&half, id.data(), 4);
    first = half;
    std::memcpy(&half, id.data() + size - 4, 4);
    last = half;
  } else if (size > 0) {
    first = static_cast<unsigned char>(id[0]) | uint64_t{static_cast<unsigned char>(id[size / 2])}
                                                    << 8;
    last = static_cast<unsigned char>(id[size - 1]);
  }
  // The fractional parts of the square roots of 2 and 3, as in TextHash; the size is mixed in so
  // that words which overlap differently are told apart.
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(first ^ 0x6a09e667f3bcc909) *
                       (last ^ (0xbb67ae8584caa73b + (uint64_t{size} << 56)));
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace tandem::data

#include "base/hashes/block_hash.h"

#include <xxhash.h>

namespace tandem {

uint64_t BlockHash(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace tandem

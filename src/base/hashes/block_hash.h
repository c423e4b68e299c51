// 64-bit hashes of blocks of files, which tell whether a block is what was written.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

// XXH3 of 64 bits (xxHash 0.8) with this seed: the same on every machine. It finds damage, and does not
// protect from those who alter files on purpose.
uint64_t BlockHash(std::string_view bytes, uint64_t seed = 0);

}  // namespace tandem

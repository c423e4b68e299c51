// The sizes of a tile of scores that is computed and used at once.
#pragma once

#include <cstddef>

namespace tandem::search {

// A tile of 64 x 1,024 scores stays in a core's second-level cache from the product that makes it
// to the last use of it.
inline constexpr size_t kTileQueries = 64;
inline constexpr size_t kTileDocuments = 1024;

}  // namespace tandem::search

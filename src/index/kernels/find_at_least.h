// Finds the scores of one row with many queries that may count.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::index {

// Writes the places i of scores[0 .. count - 1] with scores[i] >= limits[i] to `found`, which has
// room for `count` and a vector's lanes (kFoundPadding) more. Returns how many there are. A NaN is
// never at least a limit.
inline constexpr size_t kFoundPadding = 16;
size_t FindAtLeast(const float* scores, const float* limits, size_t count, uint32_t* found);

}  // namespace tandem::index

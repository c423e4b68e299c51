// Tensors cut into pieces that threads share evenly, however different their sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::optim {

// Elements of a piece: its four arrays fit a core's second-level cache.
inline constexpr int64_t kChunkElements = 16384;

struct Chunk {
  size_t tensor = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

inline std::vector<Chunk> MakeChunks(const std::vector<int64_t>& elements) {
  std::vector<Chunk> chunks;
  for (size_t t = 0; t < elements.size(); ++t) {
    for (int64_t begin = 0; begin < elements[t]; begin += kChunkElements) {
      chunks.push_back({t, begin, std::min(elements[t], begin + kChunkElements)});
    }
  }
  return chunks;
}

}  // namespace tandem::optim

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

// What a tensor is cut into: pieces of whole rows.
struct ChunkedTensor {
  int64_t elements = 0;
  int64_t row = 1;  // elements
};

inline std::vector<Chunk> MakeChunks(const std::vector<ChunkedTensor>& tensors) {
  std::vector<Chunk> chunks;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const auto [elements, row] = tensors[t];
    const int64_t size = std::max<int64_t>(1, kChunkElements / row) * row;
    for (int64_t begin = 0; begin < elements; begin += size) {
      chunks.push_back({t, begin, std::min(elements, begin + size)});
    }
  }
  return chunks;
}

}  // namespace tandem::optim

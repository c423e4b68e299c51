// Cuts tensors into pieces of similar size, so that threads share the work evenly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::optim {

// Elements of a piece. A piece's four arrays (weights, gradient, two moments) fit a core's
// second-level cache.
inline constexpr int64_t kChunkElements = 16384;

struct Chunk {
  size_t tensor = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

// The size of a tensor as it is cut. Pieces hold whole rows.
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

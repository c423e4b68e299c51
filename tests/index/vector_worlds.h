// Rows and questions for tests of indexes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "index/vector_index.h"

namespace tandem::index {

// Rows [count, width] with what they are.
struct World {
  size_t width = 0;
  std::vector<float> values;
  VectorRows rows() const { return {values.data(), values.size() / width, width}; }
};

// A number from about -3 to 3, in the shape of a bell.
inline float Bell(RandomStream& random) {
  double sum = -2;
  for (int i = 0; i < 4; ++i) sum += random.Uniform();
  return static_cast<float>(1.7 * sum);
}

inline void Normalize(float* row, size_t width) {
  double square = 0;
  for (size_t i = 0; i < width; ++i) square += double{row[i]} * row[i];
  for (size_t i = 0; i < width; ++i) row[i] /= static_cast<float>(std::sqrt(square));
}

// Rows of length 1 around `clusters` centres, as embeddings of texts lie. Other parts of the same
// seed are other rows around the same centres.
inline World ClusteredWorld(size_t count, size_t width, size_t clusters, uint64_t seed,
                            uint64_t part = 0) {
  World world{.width = width, .values = std::vector<float>(count * width)};
  RandomStream random({.seed = seed, .purpose = "centres"});
  std::vector<float> centres(clusters * width);
  for (float& value : centres) value = Bell(random);
  random = RandomStream({.seed = seed, .purpose = "rows", .epoch = part});
  for (size_t row = 0; row < count; ++row) {
    const float* centre = centres.data() + random.Below(clusters) * width;
    float* values = world.values.data() + row * width;
    for (size_t i = 0; i < width; ++i) values[i] = centre[i] + Bell(random);
    Normalize(values, width);
  }
  return world;
}

// Bits of rows, each set with this probability.
inline std::vector<uint64_t> RandomMask(size_t count, double share, uint64_t seed) {
  std::vector<uint64_t> words((count + 63) / 64);
  RandomStream random({.seed = seed, .purpose = "mask"});
  for (size_t row = 0; row < count; ++row) {
    if (random.Uniform() < share) words[row / 64] |= uint64_t{1} << (row % 64);
  }
  return words;
}

}  // namespace tandem::index

// Seeded random streams that do not depend on threads, order of use or the standard library.
//
// A stream is named by (seed, purpose, epoch, rank): two streams that differ in any of them are
// independent, and the n-th number of a stream is always the same. The generator is Philox 4x32-10
// (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), a function of a counter, so
// that a stream can be resumed by its position alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace tandem {

// Ten rounds of Philox 4x32 on `counter` under `key`.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct StreamName {
  uint64_t seed = 0;
  std::string_view purpose;  // "shuffle", "positive", "dropout", ...
  uint64_t epoch = 0;
  uint32_t rank = 0;
};

class RandomStream {
 public:
  explicit RandomStream(const StreamName& name);

  // Uniform over all 64-bit values.
  uint64_t Next();
  // Uniform over [0, bound); `bound` must be positive. Unbiased (Lemire 2019).
  uint64_t Below(uint64_t bound);
  // Uniform over [0, 1), 53 bits.
  double Uniform();

  // The number of values drawn so far. `Seek` makes a stream continue after that many.
  uint64_t position() const { return position_; }
  void Seek(uint64_t position);

  // Fisher-Yates.
  template <typename T>
  void Shuffle(std::span<T> values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[Below(i)]);
  }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 2> stream_;  // upper half of the counter
  uint64_t position_ = 0;
  std::array<uint32_t, 4> block_{};
  uint64_t block_index_ = ~uint64_t{0};
};

}  // namespace tandem

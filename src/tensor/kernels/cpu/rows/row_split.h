// Splits rows over threads and adds up the sums of the threads, both in a fixed order.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {

struct RowRange {
  size_t begin;
  size_t end;
};

// The rows of thread `thread` of `threads`: equal shares, in multiples of 16 rows.
inline RowRange RowsOf(size_t rows, int thread, int threads) {
  const auto count = static_cast<size_t>(threads), index = static_cast<size_t>(thread);
  const size_t share = ((rows + count - 1) / count + 15) / 16 * 16;
  return {std::min(rows, share * index), std::min(rows, share * (index + 1))};
}

// Calls body(thread, range) on `threads` threads.
template <typename Body>
void ForRowsOfThreads(size_t rows, int threads, const Body& body) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int thread = 0; thread < threads; ++thread) {
    body(thread, RowsOf(rows, thread, threads));
  }
}

// Calls body(first, count) for tiles of at most `height` rows.
template <typename Body>
void ForTiles(RowRange range, size_t height, const Body& body) {
  for (size_t first = range.begin; first < range.end; first += height) {
    body(first, std::min(height, range.end - first));
  }
}

// Calls body(first, count) for all tiles of at most `most` rows, each on whichever thread is free,
// so that a thread that the machine slows down does not hold up the others. The result of `body`
// must not depend on the thread.
template <typename Body>
void ForTilesOnThreads(size_t rows, size_t most, int threads, const Body& body) {
  if (rows == 0) return;
  // Every thread gets the same number of tiles, as few as `most` allows, of equal height but for
  // the rounding to multiples of 16 rows.
  const auto count = static_cast<size_t>(threads);
  const size_t rounds = (rows + count * most - 1) / (count * most);
  const size_t share = (rows + count * rounds - 1) / (count * rounds);
  const size_t height = std::min(most, (share + 15) / 16 * 16);
  const size_t tiles = (rows + height - 1) / height;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t tile = 0; tile < tiles; ++tile) {
    body(tile * height, std::min(height, rows - tile * height));
  }
}

// A gradient that several threads sum up. Thread 0 sums in the destination itself, the others in
// buffers of their own, which Finish adds to it in the order of the threads. All sums are null
// where the destination is.
class ThreadSums {
 public:
  ThreadSums(float* destination, size_t count, int threads)
      : destination_(destination), count_(destination ? count : 0) {
    if (count_ > 0) buffers_.resize(static_cast<size_t>(threads - 1));
  }

  // The sum of a thread, for it to add to: 0 at first, for thread 0 what the destination holds. The
  // thread itself calls this, once, so that the pages are allocated near it.
  float* Zeroed(int thread) {
    float* sum = Uninitialized(thread);
    if (sum && thread > 0) std::fill_n(sum, count_, 0.0F);
    return sum;
  }
  // Gives what Zeroed gives, but no zeros: every thread, thread 0 included, overwrites its array.
  float* Uninitialized(int thread) {
    if (count_ == 0) return nullptr;
    if (thread == 0) return destination_;
    auto& buffer = buffers_[static_cast<size_t>(thread - 1)];
    buffer = std::make_unique_for_overwrite<float[]>(count_);
    return buffer.get();
  }

  void Finish(int threads) {
    if (buffers_.empty()) return;
    ForRowsOfThreads(count_, threads, [&](int, RowRange range) {
      for (const auto& buffer : buffers_) {
        AddScaled(buffer.get() + range.begin, 1.0F, destination_ + range.begin,
                  range.end - range.begin);
      }
    });
  }

 private:
  float* destination_;
  size_t count_;
  std::vector<std::unique_ptr<float[]>> buffers_;
};

}  // namespace tandem::tensor::cpu

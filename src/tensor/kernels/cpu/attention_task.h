// One text and head of attention: what its kernels read and write, and the memory they work in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tandem::tensor::cpu {

// Queries handled together, a multiple of both kProductRows. Forward, so few that their scores stay
// in the first-level cache beside keys and values; backward, more of them, because every block
// reads and writes the gradients of all keys and values.
inline constexpr size_t kForwardBlock = 12;
inline constexpr size_t kBackwardBlock = 36;
// On AMX, in both passes: two tiles of rows, so that each tile loaded is multiplied twice, and as
// the depth of a product one whole tile.
inline constexpr size_t kTileBlock = 32;

// What the task reads that the same thread probably does next, as in AttentionTask.
template <typename A>
struct NextTask {
  const A* qkv;
  const A* saved_out;  // null: not read
  const A* grad_out;   // null: not read
  size_t length;       // 0: there is no next task
};

// One (text, head), with everything that the kernels read and write.
template <typename A>
struct AttentionTask {
  const A* qkv;       // first row of the text, first channel of the head's queries
  size_t qkv_stride;  // 3 * hidden
  size_t hidden;      // distance from queries to keys and from keys to values
  size_t length;      // tokens of the text
  size_t head_width;
  uint64_t site_key;  // of the head
  const int64_t* position_keys;
  uint32_t threshold;
  float keep_scale;
  A* out;              // forward: written; backward: not used
  const A* saved_out;  // backward
  const A* grad_out;   // backward
  size_t out_stride;   // hidden
  float* log_sums;     // [length]; forward: written unless null; backward: read
  A* grad_qkv;         // backward, laid out as qkv
  NextTask<A> next;
};

inline size_t RoundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

// Floats that a task of this shape needs, whatever multiplies.
inline size_t ForwardWorkspace(size_t length, size_t width) {
  const size_t padded = RoundUp(length, 32);
  return 2 * padded * width + 2 * kTileBlock * (width + padded);
}
inline size_t BackwardWorkspace(size_t length, size_t width) {
  const size_t padded = RoundUp(length, 32);
  const size_t by_queries = 5 * padded * width + 4 * kBackwardBlock * (width + padded);
  const size_t on_tiles =
      9 * padded * width / 2 + (kTileBlock + 6) * padded + 2 * kTileBlock * width;
  return std::max(by_queries, on_tiles);
}

}  // namespace tandem::tensor::cpu

// One task of attention: a head of a text, with what its kernels read and write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::tensor::cpu {

// Says how many queries a kernel handles together, a multiple of kProductRows at every target. The
// forward pass takes few, so that their scores stay in the first-level cache beside keys and
// values. The backward pass takes more, because every block reads and writes the gradients of all
// keys and values.
inline constexpr size_t kForwardBlock = 12;
inline constexpr size_t kBackwardBlock = 36;
// The block on AMX, in both passes: two tiles of rows, so that each tile that is loaded is
// multiplied twice. It is one whole tile where it is the depth of a product.
inline constexpr size_t kTileBlock = 32;

// The inputs of the task that this thread probably runs next, for prefetches. The fields have the
// same meanings as in AttentionTask.
template <typename A>
struct NextTask {
  const A* qkv;
  const A* saved_out;  // null in a forward pass
  const A* grad_out;   // null in a forward pass
  size_t length;       // 0: there is no next task
};

// A head of a text. Rows are tokens.
template <typename A>
struct AttentionTask {
  const A* qkv;       // the first row of the text, the first channel of the head's queries
  size_t qkv_stride;  // 3 * hidden
  size_t hidden;      // channels from queries to keys, and from keys to values
  size_t length;      // tokens of the text
  size_t head_width;
  uint64_t site_key;             // the dropout key of the head
  const int64_t* position_keys;  // [length]; null without dropout
  uint32_t threshold;            // KeepThreshold of the dropout rate; 0: no dropout
  float keep_scale;              // KeepScale of the dropout rate
  A* out;                        // the forward pass writes it; null in a backward pass
  const A* saved_out;            // the output, for the backward pass
  const A* grad_out;             // the output's gradient, for the backward pass
  size_t out_stride;             // hidden
  float* log_sums;               // [length]; the forward pass writes it unless it is null, the
                                 // backward pass reads it
  A* grad_qkv;                   // the backward pass writes it; strides as in qkv
  NextTask<A> next;
};

inline size_t RoundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

// Names the memory that attention's kernels work in (scratch.h).
struct AttentionScratch;

}  // namespace tandem::tensor::cpu

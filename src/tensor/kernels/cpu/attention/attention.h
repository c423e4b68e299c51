// Self-attention over packed texts, forward and backward, without storing probabilities.
//
// A head of a text is one task. The scores of a block of queries against all keys of the text stay
// in the core's cache. The backward pass computes them again, from the log-sums that the forward
// pass saved, as FlashAttention does (Dao et al. 2022). Unlike there a whole row of scores fits the
// cache, so that no running maximum is needed. Tasks write to disjoint memory: the result does not
// depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor::cpu {

template <typename A>
struct AttentionInput {
  const A* qkv;           // [T, 3 * heads * head_width]: queries, keys, values
  const int32_t* starts;  // [texts + 1]
  size_t texts = 0;
  size_t heads = 0;
  size_t head_width = 0;                   // a multiple of 16
  const int64_t* position_keys = nullptr;  // [T]; needed with dropout
  Dropout dropout;                         // of the probabilities
  size_t max_length = SIZE_MAX;            // texts with more tokens are left out
};

// The output of the forward pass.
template <typename A>
struct AttentionOutput {
  A* out;           // [T, heads * head_width]
  float* log_sums;  // [heads, T], for the backward pass; null: not wanted
};

// The arrays that the backward pass reads besides the input, and those that it writes.
template <typename A>
struct AttentionGradient {
  const A* out;           // as the forward pass wrote it
  const float* log_sums;  // as the forward pass wrote them
  const A* grad_out;      // [T, heads * head_width]
  A* grad_qkv;            // [T, 3 * heads * head_width], overwritten
};

// Both use `threads` OpenMP threads.
template <typename A>
void RunAttentionForward(const AttentionInput<A>& input, const AttentionOutput<A>& output,
                         int threads);
template <typename A>
void RunAttentionBackward(const AttentionInput<A>& input, const AttentionGradient<A>& gradient,
                          int threads);

}  // namespace tandem::tensor::cpu

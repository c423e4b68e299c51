// Self-attention over packed texts, forward and backward, without storing probabilities.
//
// Each (text, head) is one task: scores of a block of queries against all keys of the text stay in
// the core's cache, and the backward pass computes them again from the saved log-sums (as in
// FlashAttention, Dao et al. 2022; rows fit a cache here, so that no running maximum is needed).
// Tasks write disjoint outputs, so that the result does not depend on the number of threads.
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
};

// out [T, heads * head_width]; log_sums [heads, T] for the backward pass, or null.
// Uses `threads` OpenMP threads.
template <typename A>
void RunAttentionForward(const AttentionInput<A>& input, A* out, float* log_sums, int threads);

// `out` and `log_sums` as the forward pass left them; grad_qkv [T, 3 * heads * head_width] is
// overwritten.
template <typename A>
void RunAttentionBackward(const AttentionInput<A>& input, const A* out, const A* grad_out,
                          const float* log_sums, A* grad_qkv, int threads);

}  // namespace tandem::tensor::cpu

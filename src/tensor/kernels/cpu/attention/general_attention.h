// Attention in its general form over packed texts, forward and backward, without storing
// probabilities: grouped query heads, causal and sliding-window masks, a bias by distance, capped
// scores, texts of any length.
//
// A text's keys come in chunks that stay in a core's second-level cache, with their values, while
// all blocks of queries that read them pass by. For each query a running maximum and a running sum
// of its exponentials make the softmax exact, as in FlashAttention (Dao et al. 2022). A block of
// queries multiplies only the part of a chunk that its mask lets it read, so that a sliding window
// costs what the window costs. The backward pass computes the scores again from the saved sums.
//
// A task of the forward pass is a stretch of the queries of a text that share a head of keys; a
// task of the backward pass is such a head of a text, because the gradients of its keys are sums
// over all queries. What a query's result is made of, and in which order, depends on its text
// alone, not on the split into tasks or the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/kernels/cpu/attention/attention_mask.h"
#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor::cpu {

// A bias of scores by how far the key is after the query.
struct DistanceBias {
  // [heads, stride], log2(e) times the bias: entry `origin` + d of a row is that of the keys d
  // tokens after the query. Null: none. kBiasPadding entries follow the last distance.
  const float* values = nullptr;
  size_t stride = 0;
  size_t origin = 0;
  const int32_t* buckets = nullptr;  // [2 origin + 1]: the bucket of each distance
  size_t bucket_count = 0;
};
// Kernels read biases of whole vectors of keys, also of keys that are only padding.
inline constexpr size_t kBiasPadding = 32;

template <typename A>
struct GeneralAttentionInput {
  const A* qkv;           // [T, (heads + 2 key_value_heads) head_width]: queries, keys, values
  const int32_t* starts;  // [texts + 1]
  size_t texts = 0;
  size_t heads = 0;            // a multiple of key_value_heads
  size_t key_value_heads = 0;  // query head h reads those of head h / (heads / key_value_heads)
  size_t head_width = 0;       // a multiple of 16
  size_t min_length = 0;       // texts with fewer tokens are left out
  AttentionMask mask;
  float scale = 1;     // above 0
  float soft_cap = 0;  // 0: scores are not capped
  DistanceBias bias;
  const int64_t* position_keys = nullptr;  // [T]; needed with dropout
  Dropout dropout;                         // of the probabilities
};

// The output of the forward pass.
template <typename A>
struct GeneralAttentionOutput {
  A* out;           // [T, heads * head_width]
  float* log_sums;  // [heads, T], base 2, for the backward pass; null: not wanted
};

// The arrays that the backward pass reads besides the input, and those that it writes.
template <typename A>
struct GeneralAttentionGradient {
  const A* out;           // as the forward pass wrote it
  const float* log_sums;  // as the forward pass wrote them
  const A* grad_out;      // [T, heads * head_width]
  A* grad_qkv;            // as qkv, overwritten
  double* grad_bias;      // [texts, heads, buckets], overwritten; null: not wanted
};

// Both use `threads` OpenMP threads.
template <typename A>
void RunGeneralForward(const GeneralAttentionInput<A>& input,
                       const GeneralAttentionOutput<A>& output, int threads);
template <typename A>
void RunGeneralBackward(const GeneralAttentionInput<A>& input,
                        const GeneralAttentionGradient<A>& gradient, int threads);

}  // namespace tandem::tensor::cpu

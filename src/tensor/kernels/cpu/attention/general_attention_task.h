// One task of general attention (general_attention.h): query heads of a text that share a head of
// keys and values, with what their kernels read and write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/kernels/cpu/attention/attention_mask.h"

namespace tandem::tensor::cpu {

// Says how exponents of the softmax (base 2) come from products of queries and keys.
struct ScoreUnits {
  float factor = 1;   // what products are multiplied by; with a cap, after it: 1
  float cap_in = 0;   // capped scores are cap_out tanh(cap_in product); 0: they are not capped
  float cap_out = 0;  // the cap in units of exponents
};

// The rows that this thread's next task probably reads first, for prefetches. The fields have the
// same meanings as in GeneralTask.
template <typename A>
struct UpcomingTask {
  const A* queries;
  const A* keys;
  const A* values;
  const A* saved_out;  // null in a forward pass
  const A* grad_out;   // null in a forward pass
  size_t length;       // rows; 0: there is no next task
};

// Rows are tokens of the text; pointers to rows point to the first one, and those to channels of
// queries to the group's first head.
template <typename A>
struct GeneralTask {
  const A* queries;
  const A* keys;
  const A* values;
  size_t qkv_stride;
  size_t length;     // tokens of the text
  size_t width;      // channels of a head
  size_t group;      // query heads
  TokenRange range;  // the queries of this task; all in a backward pass
  AttentionMask mask;
  ScoreUnits units;
  float scale;

  const float* bias;  // of the first head and distance 0; null: none
  size_t bias_stride;
  const int32_t* buckets;  // of distance 0
  size_t bucket_count;

  Dropout dropout;
  size_t first_head;             // the number of the group's first head
  const int64_t* position_keys;  // [length]; null without dropout

  A* out;              // the forward pass writes it; null in a backward pass
  const A* saved_out;  // the output, for the backward pass
  const A* grad_out;
  size_t out_stride;
  float* log_sums;  // [length] of the first head; the forward pass writes them unless this is null
  size_t log_sums_stride;
  A* grad_queries;
  A* grad_keys;
  A* grad_values;
  double* grad_bias;  // [group, bucket_count]; null: not wanted
  UpcomingTask<A> next;
};

// The keys of a chunk: about so many channels of keys, half as many of values.
inline constexpr size_t kChunkElements = 16384;
// Kernels multiply so many keys at a time, and chunks begin at multiples of it.
inline constexpr size_t kKeyUnit = 32;
inline size_t ChunkKeys(size_t width) {
  return std::clamp(kChunkElements / width / kKeyUnit * kKeyUnit, kKeyUnit, size_t{512});
}

// The queries of a task of the forward pass: a multiple of every kernel's block of queries.
inline constexpr size_t kStretch = 2016;

// The part of the chunk of keys that a block of queries reads, in whole key units.
inline TokenRange SpanOf(const AttentionMask& mask, TokenRange block, TokenRange chunk,
                         size_t length) {
  const TokenRange keys = mask.KeysOf(block, length);
  const size_t begin = std::max(keys.begin, chunk.begin), end = std::min(keys.end, chunk.end);
  return {begin / kKeyUnit * kKeyUnit, (end + kKeyUnit - 1) / kKeyUnit * kKeyUnit};
}

// Names the memory that the kernels work in (scratch.h).
struct GeneralAttentionScratch;

}  // namespace tandem::tensor::cpu

// Says how attention reads tokens: its heads, its masks and how its scores become probabilities.
#pragma once

#include <cstdint>

namespace tandem::tensor {

// Says how the columns of qkv [T, (heads + 2 key_value_heads) head_width] are heads: queries, then
// keys, then values. Query head h reads keys and values of head h / (heads / key_value_heads)
// (Ainslie et al. 2023). `heads` is a multiple of `key_value_heads`.
struct HeadShape {
  int64_t heads = 0;
  int64_t key_value_heads = 0;
  int64_t head_width = 0;

  int64_t out_width() const { return heads * head_width; }
  int64_t qkv_width() const { return (heads + 2 * key_value_heads) * head_width; }
};

// Says which tokens a query of a text reads, and how its scores become probabilities.
struct AttentionRule {
  double scale = 1;     // what q k^T is multiplied by
  bool causal = false;  // only tokens up to the query's own
  int64_t window = 0;   // only tokens at most so far away; 0: all
  double soft_cap = 0;  // scores become cap tanh(score / cap), before bias; 0: they stay
};

// The bucket of a key that is `distance` tokens after the query (negative: before), as transformers
// computes it for T5 and MPNet.
int64_t RelativeBucket(int64_t distance, int64_t buckets, int64_t max_distance);

}  // namespace tandem::tensor

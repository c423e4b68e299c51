// The operations of a search on the scores of a query besides computing them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::tensor::cpu {

// Scored documents, as two arrays. They have room for kScorePadding more elements than ever count:
// vectors are stored whole.
struct ScoredRows {
  float* scores;
  uint32_t* rows;
  size_t size;
};
inline constexpr size_t kScorePadding = 16;

// The scores of rows first to first + count - 1.
struct ScoreRow {
  const float* scores;
  size_t count;
  uint32_t first;
};

// Appends the rows whose score is at least the limit, in their order, and stops where `to` holds
// `capacity` or more, at most capacity + kScorePadding - 1. Returns how many scores it has read. A
// NaN is never at least the limit.
size_t AppendAtLeast(const ScoreRow& from, float limit, size_t capacity, ScoredRows& to);

// Removes the rows whose score is below the limit; the others keep their order.
void KeepAtLeast(float limit, ScoredRows& rows);

// The k-th largest score, k from 1 to `count`; no score is a NaN. Equal scores count each.
float KthLargest(const float* scores, size_t count, size_t k);

// Says whether none of the values is infinite or NaN.
bool AllFinite(const float* values, size_t count);

// The sum of a[i] * b[i]. It adds in an order that depends on `count` and the instruction set only.
float DotProduct(const float* a, const float* b, size_t count);

}  // namespace tandem::tensor::cpu

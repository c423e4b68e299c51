// Which tokens of a text read which others in attention: the ranges that kernels loop over and that
// the accounting of work counts.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tandem::tensor::cpu {

// Tokens begin .. end of a text.
struct TokenRange {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

struct AttentionMask {
  bool causal = false;  // a query reads no key behind it
  size_t window = 0;    // and only keys at most so many tokens away; 0: however far

  // The keys that query `query` of a text of `length` tokens reads. Neither end ever falls from a
  // query to the next.
  TokenRange KeysOf(size_t query, size_t length) const {
    const bool far = window == 0 || window >= length;
    return {far || query < window ? 0 : query - window, causal ? query + 1
                                                        : far
                                                            ? length
                                                            : std::min(length, query + window + 1)};
  }
  // The keys that any of these queries reads.
  TokenRange KeysOf(TokenRange queries, size_t length) const {
    return {KeysOf(queries.begin, length).begin, KeysOf(queries.end - 1, length).end};
  }
  // The queries that read any of these keys.
  TokenRange QueriesOf(TokenRange keys, size_t length) const {
    const bool far = window == 0 || window >= length;
    return {causal                       ? keys.begin
            : far || keys.begin < window ? 0
                                         : keys.begin - window,
            far ? length : std::min(length, keys.end + window)};
  }
};

}  // namespace tandem::tensor::cpu

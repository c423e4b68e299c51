// Says which tokens of a text read which others in attention: the ranges that kernels loop over and
// that the accounting of work counts.
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
  bool causal = false;  // a query reads no key after it
  size_t window = 0;    // and only keys at most so many tokens away; 0: however far

  // The keys that query `query` of a text of `length` tokens reads. Neither end ever falls from a
  // query to the next.
  TokenRange KeysOf(size_t query, size_t length) const {
    const size_t reach = Reach(length);
    return {query - std::min(query, reach),
            causal ? query + 1 : std::min(length, query + reach + 1)};
  }
  // The keys that any of these queries reads.
  TokenRange KeysOf(TokenRange queries, size_t length) const {
    return {KeysOf(queries.begin, length).begin, KeysOf(queries.end - 1, length).end};
  }
  // The queries that read any of these keys.
  TokenRange QueriesOf(TokenRange keys, size_t length) const {
    const size_t reach = Reach(length);
    return {causal ? keys.begin : keys.begin - std::min(keys.begin, reach),
            std::min(length, keys.end + reach)};
  }

 private:
  // Says how many tokens away a key of a text may be.
  size_t Reach(size_t length) const { return window == 0 ? length : std::min(window, length); }
};

}  // namespace tandem::tensor::cpu

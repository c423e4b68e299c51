// Says how many tokens a query brings into its batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

// Tokens of texts, special ones counted; 0 for texts that no batch has.
struct TextLengths {
  std::span<const uint32_t> queries;    // [n] of the Examples' queries
  std::span<const uint32_t> documents;  // [N]
};

// A query that no batch has room for.
struct LongDraw {
  Draw draw;
  size_t tokens = 0;
};

class DrawTokens {
 public:
  DrawTokens() = default;
  // Each query brings up to `negatives` extra documents; with `mined` they may be any of the
  // corpus. `pairs` and the lengths must outlive this.
  DrawTokens(const Pairs& pairs, const TextLengths& lengths, size_t negatives, bool mined = false);

  // The tokens of the query and its paired document.
  uint32_t OfPair(const Draw& draw) const {
    return lengths_.queries[draw.query] + lengths_.documents[draw.document];
  }
  // The most that the query can bring: its text, its paired document and the longest of those that
  // its extra documents are drawn from (sampling/extra_documents.h), whatever is mined. At least 1.
  uint32_t AtMost(const Draw& draw) const;

  // The query that brings the most, with the document of its kept pairs with which it does.
  LongDraw Longest() const;
  // The mean of AtMost over all queries that have a kept pair, each with the first of them.
  double Mean() const;

 private:
  // The tokens of the longest documents that may be drawn beside the paired one.
  uint64_t Further(const Draw& draw) const;

  const Pairs* pairs_ = nullptr;
  TextLengths lengths_;
  size_t negatives_ = 0;
  uint64_t mined_ = 0;  // tokens of the longest document that may be mined
};

}  // namespace tandem::sampling

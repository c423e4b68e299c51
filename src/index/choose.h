// The choice of a kind of index and its parameters, from what its user wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "config/params.h"
#include "index/vector_index.h"

namespace tandem::index {

struct ChoiceRequest {
  size_t rows = 0;
  size_t width = 0;      // E
  double recall = 0.95;  // share of the best 10 rows that a search finds, in (0, 1]
  // Bytes that searching may keep in memory (KindCost::resident_bytes); the pages of the float32
  // rows are not counted: a search reads a few of them.
  uint64_t memory = uint64_t{2} << 30;
  // An exact search that takes no longer than this a query, on one thread, is preferred to an
  // approximate one.
  double query_ms = 20;
};

struct Choice {
  const IndexKindInfo* kind = nullptr;
  config::Params params;  // of the kind; `recall` is among those of approximate kinds
  // The value for VectorQuery::effort: 0, because an approximate kind measures during its build
  // which effort the wanted recall takes, and keeps that as its default.
  size_t effort = 0;
  // One sentence without its full stop: "ivf_pq with lists = 4096 and code_bytes = 48: the 2.0 GiB
  // of memory do not hold hnsw (5.1 GiB)".
  std::string sentence;
};

// The first of these that fits into the memory: exact search that is fast enough, the fastest
// approximate kind. `kinds` are those to choose among, as IndexKinds() has them. Throws UsageError,
// with the best that can be had, where none fits and where the recall takes exact search that does
// not fit.
Choice Choose(const ChoiceRequest& request, std::span<const IndexKindInfo* const> kinds);

}  // namespace tandem::index

// A graph of rows to walk through, from a far row to those nearest to a query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/graph/best_rows.h"
#include "index/graph/row_products.h"
#include "index/graph/visited_rows.h"
#include "index/vector_index.h"

namespace tandem::index {

// Hierarchical navigable small world graph (Malkov and Yashunin 2018), built by FAISS, over rows of
// int8 with a scale each. Arrays lie in a file.
struct RowGraph {
  static constexpr uint32_t kNoLink = ~uint32_t{0};

  size_t width = 0;                  // E
  size_t links = 0;                  // of a row on an upper layer; the lowest has twice as many
  uint32_t entry = 0;                // row at which walks begin
  size_t upper_layers = 0;           // of that row, and the most that any has
  std::span<const int8_t> codes;     // [N, E]
  std::span<const float> scales;     // [N]
  std::span<const uint32_t> lowest;  // [N, 2 links], kNoLink after the last
  std::span<const uint32_t> upper_starts;  // [N + 1], in upper layers
  std::span<const uint32_t> upper;         // [upper layers of all rows, links]

  size_t count() const { return scales.size(); }
  float Score(const Int8Query& query, uint32_t row) const {
    return query.Score(codes.data() + size_t{row} * width, scales[row]);
  }
};

// The memory of one walk, which the next one uses again.
struct GraphWalk {
  VisitedRows visited;
  std::vector<RowHit> ahead;    // heap, the best in front
  std::vector<uint32_t> fresh;  // rows to be scored
};

// The best `effort` allowed rows that a walk finds, by scores of int8 rows. The graph is walked
// through all rows, whatever is allowed, until none ahead is better than the worst of `effort`
// found.
std::vector<RowHit> WalkGraph(const RowGraph& graph, const Int8Query& query, size_t effort,
                              const RowMask* allowed, GraphWalk& walk);

}  // namespace tandem::index

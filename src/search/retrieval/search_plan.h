// Says how a tiled search uses its memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "search/retrieval/tiled_search.h"

namespace tandem::search {

// A tile of 64 x 960 scores stays in a core's second-level cache from the product that makes it to
// the selection that reads it. 960 is a multiple of the widths of all panels (48, 24 and 12
// columns) and of the 32 columns of AMX.
inline constexpr size_t kQueryTile = 64;
inline constexpr size_t kDocumentTile = 960;

// Columns of a tile of `count` documents: those that it lacks are packed as zeros.
inline size_t TileColumns(size_t count) { return (count + 31) / 32 * 32; }

// Elements of a query's row in the group. Conversions to bf16 take multiples of 16.
inline size_t QueryStride(size_t width) { return (width + 15) / 16 * 16; }

struct SearchPlan {
  size_t block_tiles = 0;       // tiles of documents that are multiplied with a group in turn
  bool keep_documents = false;  // all tiles stay packed; else each block is packed for each group
  size_t bytes = 0;             // that the search holds at most
  std::vector<size_t> groups;   // where each group of depths begins, then their number
};

// The error for a `memory` below `least` (LeastSearchMemory).
UsageError TooLittleMemory(size_t memory, size_t least);

// Throws UsageError where `memory` is below LeastSearchMemory.
SearchPlan PlanSearch(const TiledSearchInput& input, tensor::Precision precision, size_t memory);

}  // namespace tandem::search

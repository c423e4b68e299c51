#include "search/retrieval/search_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_size.h"
#include "base/error.h"
#include "search/retrieval/top_hits.h"
#include "tensor/core/parallel.h"

namespace tandem::search {
namespace {

// Tiles that are packed at a time where not all are kept: few enough for a last-level cache, and at
// least one for each thread that packs.
constexpr size_t kBlockTiles = 4;
// Queries of a group where all documents stay packed. More would hold more memory and gain nothing.
constexpr size_t kKeptGroup = 8192;

// Bytes of the parts of a search.
class Costs {
 public:
  Costs(const SearchShape& shape, tensor::Precision precision)
      : documents_(shape.documents),
        element_(precision == tensor::Precision::kFp32 ? sizeof(float) : sizeof(uint16_t)),
        width_(QueryStride(shape.width)) {}

  size_t tile() const { return kDocumentTile * width_ * element_; }
  // Scores of a tile; while documents are packed, their rows.
  size_t thread() const { return kDocumentTile * (kQueryTile + width_) * sizeof(float); }
  size_t query(size_t depth) const { return width_ * element_ + TopHits::Bytes(depth, documents_); }

 private:
  size_t documents_;
  size_t element_;
  size_t width_;
};

size_t Threads() { return static_cast<size_t>(tensor::ThreadCount()); }

SearchShape ShapeOf(const TiledSearchInput& input) {
  return {.queries = input.depths.size(),
          .documents = input.documents.size(),
          .width = input.documents.width(),
          .deepest = input.depths.empty()
                         ? 0
                         : *std::max_element(input.depths.begin(), input.depths.end())};
}

}  // namespace

size_t LeastSearchMemory(const SearchShape& shape, tensor::Precision precision) {
  const Costs costs(shape, precision);
  return costs.tile() + Threads() * costs.thread() +
         std::min(Threads() * kQueryTile, shape.queries) * costs.query(shape.deepest);
}

size_t LeastSearchMemory(const TiledSearchInput& input, tensor::Precision precision) {
  return LeastSearchMemory(ShapeOf(input), precision);
}

UsageError TooLittleMemory(size_t memory, size_t least) {
  return UsageError(fmt::format(
      "--memory {} is below one tile: {} documents and, on each of {} threads, {} queries take {}. "
      "Give more, or fewer --threads",
      FormatByteSize(memory), kDocumentTile, Threads(), kQueryTile, FormatByteSize(least)));
}

SearchPlan PlanSearch(const TiledSearchInput& input, tensor::Precision precision, size_t memory) {
  const SearchShape shape = ShapeOf(input);
  const Costs costs(shape, precision);
  const size_t queries = shape.queries;
  const size_t least = LeastSearchMemory(shape, precision);
  if (memory < least) throw TooLittleMemory(memory, least);
  const size_t rest = memory - Threads() * costs.thread();
  const size_t all = (input.documents.size() + kDocumentTile - 1) / kDocumentTile;
  // Half for documents, unless the other half is too little for a tile of queries on each thread.
  const size_t most_tiles = std::max<size_t>(
      1, std::min(rest / 2, rest - (least - costs.tile() - (memory - rest))) / costs.tile());
  SearchPlan plan{.block_tiles = std::min({all, most_tiles, std::max(kBlockTiles, Threads())}),
                  .keep_documents = all <= most_tiles};
  const size_t fixed =
      memory - rest + (plan.keep_documents ? all : plan.block_tiles) * costs.tile();
  const size_t budget = memory - fixed;
  const size_t most = plan.keep_documents ? kKeptGroup : queries;
  size_t bytes = 0;
  for (size_t q = 0; q < queries; ++q) {
    const size_t more = costs.query(input.depths[q]);
    const bool first = plan.groups.empty();
    if (first || bytes + more > budget || q - plan.groups.back() == most) {
      plan.groups.push_back(q);
      bytes = 0;
    }
    bytes += more;
    plan.bytes = std::max(plan.bytes, fixed + bytes);
  }
  plan.groups.push_back(queries);
  return plan;
}

}  // namespace tandem::search

#include "search/retrieval/tiled_search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/error.h"
#include "search/retrieval/search_plan.h"
#include "search/retrieval/top_hits.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/kernels/cpu/rows/rows.h"
#include "tensor/machine/run_apart.h"

namespace tandem::search {
namespace {

using tensor::Precision;
using tensor::cpu::PackedMatrix;

// An array without values that begins at a cache line.
template <typename T>
class LineArray {
 public:
  explicit LineArray(size_t count) {
    constexpr size_t kLine = 64;
    const size_t bytes = std::max<size_t>(1, (count * sizeof(T) + kLine - 1) / kLine) * kLine;
    values_.reset(static_cast<T*>(std::aligned_alloc(kLine, bytes)));
    if (!values_) throw std::bad_alloc();
  }
  T* get() const { return values_.get(); }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T, Free> values_;
};

// The memory into which a thread multiplies a tile.
struct TileScores {
  LineArray<float> values{kQueryTile * kDocumentTile};
};

// Lends one object to each task that runs, so that there are as many as threads.
template <typename T>
class Pool {
 public:
  std::unique_ptr<T> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<T>();
    std::unique_ptr<T> taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }
  void GiveBack(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(object));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

struct DocumentTile {
  uint32_t first;
  uint32_t count;
  PackedMatrix packed;  // [E, TileColumns(count)]
};

DocumentTile PackTile(const SimilarityRows& documents, size_t tile, tensor::cpu::Type type) {
  const size_t first = tile * kDocumentTile, width = documents.width();
  const size_t count = std::min(kDocumentTile, documents.size() - first);
  const size_t columns = TileColumns(count);
  const LineArray<float> rows(columns * width);
  for (size_t i = 0; i < count; ++i) documents.CopyTo(first + i, rows.get() + i * width);
  std::fill(rows.get() + count * width, rows.get() + columns * width, 0.0F);
  DocumentTile packed{
      static_cast<uint32_t>(first), static_cast<uint32_t>(count),
      PackedMatrix(static_cast<int64_t>(width), static_cast<int64_t>(columns), type)};
  packed.packed.Pack(rows.get(), 1, static_cast<int64_t>(width));
  return packed;
}

// `count` of the queries that are searched for, from `first` on: their rows in the type of the
// products, and their hits so far.
class QueryGroup {
 public:
  QueryGroup(const TiledSearchInput& input, size_t first, size_t count, tensor::cpu::Type type)
      : input_(input),
        type_(type),
        stride_(QueryStride(input.queries.width())),
        first_(first),
        values_(count * stride_ * Element()) {
    hits_.reserve(count);
    for (size_t q = 0; q < count; ++q) {
      hits_.emplace_back(input.depths[first + q], input.documents.size());
    }
    tensor::RunApart(tiles(), [&](size_t tile) { Load(tile); });
  }

  size_t tiles() const { return (hits_.size() + kQueryTile - 1) / kQueryTile; }

  void Search(size_t tile, const DocumentTile& documents, const TileScores& scores) {
    const size_t begin = tile * kQueryTile, rows = RowsOf(tile);
    const auto columns = static_cast<size_t>(documents.packed.columns());
    tensor::cpu::MultiplyPacked(
        {.x = {values_.get() + begin * stride_ * Element(), static_cast<int64_t>(stride_)},
         .rows = static_cast<int64_t>(rows),
         .b = documents.packed,
         .bias = nullptr,
         .out = {scores.values.get(), documents.packed.columns()},
         .out_type = tensor::cpu::Type::kFloat});
    for (size_t q = 0; q < rows; ++q) {
      hits_[begin + q].Offer({scores.values.get() + q * columns, documents.count}, documents.first,
                             input_.order);
    }
  }

  void Finish(size_t tile, const HitSink& sink) {
    for (size_t q = tile * kQueryTile; q < tile * kQueryTile + RowsOf(tile); ++q) {
      sink(input_.first_query + first_ + q, hits_[q].Take(input_.order));
    }
  }

 private:
  size_t Element() const {
    return type_ == tensor::cpu::Type::kFloat ? sizeof(float) : sizeof(tensor::cpu::Bf16);
  }
  size_t RowsOf(size_t tile) const {
    return std::min(kQueryTile, hits_.size() - tile * kQueryTile);
  }
  void Load(size_t tile) {
    std::vector<float> row(stride_);
    for (size_t q = tile * kQueryTile; q < tile * kQueryTile + RowsOf(tile); ++q) {
      std::byte* to = values_.get() + q * stride_ * Element();
      input_.queries.CopyTo(input_.first_query + first_ + q, row.data());
      if (type_ == tensor::cpu::Type::kFloat) {
        std::copy(row.begin(), row.end(), reinterpret_cast<float*>(to));
      } else {
        tensor::cpu::ToBf16(row.data(), reinterpret_cast<tensor::cpu::Bf16*>(to), stride_);
      }
    }
  }

  const TiledSearchInput& input_;
  tensor::cpu::Type type_;
  size_t stride_;  // elements
  size_t first_;   // among those that are searched for
  LineArray<std::byte> values_;
  std::vector<TopHits> hits_;
};

class Searcher {
 public:
  Searcher(const TiledSearchInput& input, const TiledSearchOptions& options, const HitSink& sink)
      : input_(input),
        options_(options),
        sink_(sink),
        type_(options.precision == Precision::kFp32 ? tensor::cpu::Type::kFloat
                                                    : tensor::cpu::Type::kBf16),
        plan_(PlanSearch(input, options.precision, options.memory)) {}

  void Run() {
    for (size_t i = 0; i + 1 < plan_.groups.size(); ++i) {
      SearchGroup(plan_.groups[i], plan_.groups[i + 1] - plan_.groups[i]);
    }
  }

 private:
  void SearchGroup(size_t first, size_t count) {
    QueryGroup group(input_, first, count, type_);
    const size_t tiles = (input_.documents.size() + kDocumentTile - 1) / kDocumentTile;
    for (size_t tile = 0; tile < tiles; tile += plan_.block_tiles) {
      ThrowIfStopped(options_.stop);
      const size_t end = std::min(tiles, tile + plan_.block_tiles);
      const std::span<const DocumentTile> block = Block(tile, end);
      tensor::RunApart(group.tiles(), [&](size_t queries) {
        std::unique_ptr<TileScores> scores = scores_.Take();
        for (const DocumentTile& documents : block) group.Search(queries, documents, *scores);
        scores_.GiveBack(std::move(scores));
      });
      if (options_.progress) options_.progress(first + count * end / tiles);
    }
    tensor::RunApart(group.tiles(), [&](size_t queries) { group.Finish(queries, sink_); });
  }

  // Tiles begin to end - 1, packed.
  std::span<const DocumentTile> Block(size_t begin, size_t end) {
    if (plan_.keep_documents && end <= packed_.size()) {
      return std::span(packed_).subspan(begin, end - begin);
    }
    if (!plan_.keep_documents) packed_.clear();
    std::vector<std::unique_ptr<DocumentTile>> made(end - begin);
    tensor::RunApart(made.size(), [&](size_t i) {
      made[i] = std::make_unique<DocumentTile>(PackTile(input_.documents, begin + i, type_));
    });
    for (std::unique_ptr<DocumentTile>& tile : made) packed_.push_back(std::move(*tile));
    return std::span(packed_).last(made.size());
  }

  const TiledSearchInput& input_;
  const TiledSearchOptions& options_;
  const HitSink& sink_;
  tensor::cpu::Type type_;
  SearchPlan plan_;
  std::vector<DocumentTile> packed_;
  Pool<TileScores> scores_;
};

}  // namespace

void TiledSearch(const TiledSearchInput& input, const TiledSearchOptions& options,
                 const HitSink& sink) {
  if (!std::isfinite(input.queries.longest() * input.documents.longest())) {
    throw NumericError(
        "a score of the search is not finite, so the model's embeddings are far too large: its "
        "weights are broken");
  }
  Searcher(input, options, sink).Run();
}

}  // namespace tandem::search

// Exact search of many queries among many documents, whose embeddings are all there: the best hits
// of each query, tile by tile, within a limit of memory.
//
// Documents are packed for the encoder's own products (tensor/kernels/cpu/products/products.h),
// some tiles at a time or all of them where they fit; each thread multiplies tiles of queries of
// its own and keeps what may count of each row of scores (top_hits.h) while the row is in the
// core's cache. ExactSearch (exact.h) is for documents that come while they are encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/process/interrupt.h"
#include "search/retrieval/hits.h"
#include "search/retrieval/similarity_rows.h"
#include "tensor/machine/precision.h"

namespace tandem::search {

struct TiledSearchOptions {
  // kBf16: scores are products of rounded rows, wrong by some 2^-13 of the rows' lengths.
  tensor::Precision precision = tensor::Precision::kFp32;
  // Bytes for packed documents, queries, scores and hits together; the embeddings themselves are
  // not counted.
  size_t memory = size_t{2} << 30;
  // Told how many queries of the search are done, those in work by their share; on the calling
  // thread.
  std::function<void(size_t queries)> progress;
  StopRequest stop;  // asked between blocks
};

// The input of a search: similarities are computed of some or all `queries` with all `documents`,
// both of the same width.
struct TiledSearchInput {
  const SimilarityRows& queries;
  const SimilarityRows& documents;
  std::span<const uint32_t> depths;  // how many hits are wanted of each query that is searched for
  const HitOrder& order;             // over rows of `documents`
  size_t first_query = 0;            // the row of depths[0]; the next of depths[1], and so on
};

// Receives the hits of a query (its row), best first; several threads call it at once, each query
// comes once.
using HitSink = std::function<void(size_t query, std::span<const Hit> hits)>;

// Ranks all documents for each query that has a depth. The hits do not depend on threads or memory
// but for rounding where oneDNN multiplies. Throws UsageError where `memory` is below
// LeastSearchMemory, and Interrupted where `stop` asks for it.
void TiledSearch(const TiledSearchInput& input, const TiledSearchOptions& options,
                 const HitSink& sink);

// Says how large a search is.
struct SearchShape {
  size_t queries = 0;
  size_t documents = 0;
  size_t width = 0;    // E
  size_t deepest = 0;  // the most hits that are wanted of a query
};

// The least memory that such a search needs: one tile of documents and, on each thread, one of
// queries.
size_t LeastSearchMemory(const SearchShape& shape, tensor::Precision precision);
size_t LeastSearchMemory(const TiledSearchInput& input, tensor::Precision precision);

}  // namespace tandem::search

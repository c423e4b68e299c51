// The parameters that the descriptors of approximate kinds share.
#pragma once

#include <cstddef>

#include "config/params.h"
#include "index/vector_index.h"

namespace tandem::index {

// The parameter that every approximate kind has.
inline constexpr config::ParamInfo kRecallParam =
    config::Number("recall", "",
                   "share of the best 10 rows that a search is to find; building measures the "
                   "effort that it takes",
                   0.95, {0.5, 0.9999});

// Returns the cost of a query at this recall relative to its cost at recall 0.95: measured with a
// million rows, between 0.9 and 0.99 (docs/indexes.md).
double EffortFactor(double recall);

inline constexpr config::ParamInfo kListsParam =
    config::Integer("lists", "lists",
                    "lists that rows are put into; 0: 4 sqrt(N), at least 16 rows to a list and at "
                    "most 16,384 lists",
                    0, {0, 1 << 20})
        .Elsewhere("FAISS: `nlist`");

// Says how many lists rows get. `wanted` 0: 4 sqrt(N), as FAISS's guidelines advise, at least 16
// rows to a list, at most 16,384 lists; otherwise at most N.
size_t ListCount(size_t rows, size_t wanted);

// Bytes of a product code where their user does not say: the most that divide E and are at most
// E / 8. `wanted` otherwise.
size_t ProductCodeBytes(size_t width, size_t wanted);

// Lists that a query reads at this recall.
double ListsRead(size_t lists, double recall);

// In memory it holds centroids as float32 and int8, a start and a scale each; on disk the rows'
// numbers, the codes and the former.
// `seconds_of_code`: of scoring one code. A query compares itself with all centroids, then scores
// the codes of the lists that it reads.
KindCost ListsCost(const VectorRows& shape, size_t lists, double code_bytes, double seconds_of_code,
                   double recall);

}  // namespace tandem::index

// Exact search that reads rows of 8-bit codes, and the float32 rows of the few that may be best.
#include "index/exact/padded_width.h"
#include "index/vector_index.h"

namespace tandem::index {
namespace {

KindCost Int8Cost(size_t rows, size_t width, const config::Params&) {
  const double bytes =
      static_cast<double>(rows) * static_cast<double>(PaddedWidth(width) + sizeof(float));
  return {.resident_bytes = bytes, .disk_bytes = bytes};
}

}  // namespace

extern const IndexKindInfo kInt8{
    {.name = "int8",
     .summary = "exact: compares a query with 8-bit codes of every vector, in a quarter of the "
                "memory, and with the float32 vectors of those that may be among the best"},
    true,
    Int8Cost};

}  // namespace tandem::index

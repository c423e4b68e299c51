// Exact search that reads rows rounded to bf16, and the float32 rows of the few that may be best.
#include "index/exact/padded_width.h"
#include "index/vector_index.h"

namespace tandem::index {
namespace {

KindCost Bf16Cost(size_t rows, size_t width, const config::Params&) {
  const double bytes =
      static_cast<double>(rows) * static_cast<double>(PaddedWidth(width)) * sizeof(uint16_t);
  return {.resident_bytes = bytes, .disk_bytes = bytes};
}

}  // namespace

extern const IndexKindInfo kBf16{
    {.name = "bf16",
     .summary =
         "exact: compares a query with every vector rounded to bf16, in half the memory, and "
         "with the float32 vectors of those that may be among the best"},
    true,
    Bf16Cost};

}  // namespace tandem::index

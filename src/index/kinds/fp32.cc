// Exact search that reads the float32 rows themselves.
#include "index/vector_index.h"

namespace tandem::index {
namespace {

KindCost Fp32Cost(size_t rows, size_t width, const config::Params&) {
  return {.resident_bytes = static_cast<double>(rows) * static_cast<double>(width) * sizeof(float),
          .disk_bytes = 0};
}

}  // namespace

extern const IndexKindInfo kFp32{
    {.name = "fp32", .summary = "exact: compares a query with every float32 vector"},
    true,
    Fp32Cost};

}  // namespace tandem::index

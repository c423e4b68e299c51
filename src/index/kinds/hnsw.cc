// A graph of neighbours, walked from far to near: the fastest approximate kind, and the largest.
//
// Resident are E + 4 bytes of an int8 row and its scale, 8 m bytes of links on the lowest layer,
// and about 8 + 4 m / (m - 1) bytes of what leads to it. What a walk finds is scored again by the
// float32 rows, so that int8 costs no precision of scores and hardly a row of recall.
// Rows cannot be taken out of a graph: removed ones stay as places to walk through.
#include <algorithm>
#include <cmath>

#include "index/approximate_params.h"
#include "index/vector_index.h"

namespace tandem::index {
namespace {

using config::Integer;

constexpr config::ParamInfo kHnswParams[] = {
    Integer("m", "links", "links of a row on each upper layer; the lowest layer has twice as many",
            16, {4, 128})
        .Elsewhere("hnswlib, FAISS: `M`"),
    Integer("ef_construction", "rows",
            "how many nearest rows are looked for to choose the links of a new row from", 100,
            {8, 2000})
        .Elsewhere("hnswlib, FAISS: `efConstruction`"),
    kRecallParam};

// Seconds of a query at recall 0.95 and of a row, on one thread, for a million rows of 384 numbers,
// measured (docs/indexes.md). That both grow with the logarithm of the rows is assumed.
constexpr double kQuerySeconds = 0.13e-3;
constexpr double kBuildSeconds = 0.23e-3;

// More links where nearly everything is to be found.
config::Params HnswSuited(size_t, size_t, double recall) {
  config::Params params(kHnswParams);
  if (recall > 0.98) params.Set("m", int64_t{32});
  return params;
}

KindCost HnswCost(size_t rows, size_t width, const config::Params& params) {
  const double m = static_cast<double>(params.Integer("m"));
  const double n = static_cast<double>(rows), e = static_cast<double>(width);
  // A row has 1 / (m - 1) upper layers on average, of m links each.
  const double bytes = n * (e + 4 + 8 * m + 4 + 4 * m / (m - 1));
  const double layers = std::log2(std::max(n, 2.0)) / 20;  // 1 for a million rows
  return {.resident_bytes = bytes,
          .disk_bytes = bytes,
          .query_seconds =
              kQuerySeconds * layers * EffortFactor(params.Number("recall")) * (m + 16) / 32,
          .query_bytes = 0,
          .build_seconds = kBuildSeconds * n * layers,
          .best_recall = 0.999};
}

}  // namespace

extern const IndexKindInfo kHnsw{
    {.name = "hnsw",
     .summary = "a graph of neighbours over int8 rows in memory: fastest, for up to some millions",
     .source = "Malkov and Yashunin 2018, built by FAISS, whose default for m is 32 and for "
               "ef_construction 40; m = 16 is hnswlib's",
     .params = kHnswParams},
    false,
    HnswCost,
    HnswSuited};

}  // namespace tandem::index

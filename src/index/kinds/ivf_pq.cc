// Codes of some bytes a row in lists by their nearest centroid, on disk: the smallest kind, for
// corpora that no other holds.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "index/approximate_params.h"

namespace tandem::index {
namespace {

using config::Integer;

constexpr config::ParamInfo kIvfPqParams[] = {
    kListsParam,
    Integer("code_bytes", "bytes",
            "length of a row's code, which must divide the embedding's width; 0: an eighth of the "
            "width",
            0, {0, 4096})
        .Elsewhere("FAISS: `M` of 8 bits each"),
    Integer("refine", "rows",
            "rows that are scored exactly for each that is wanted; building doubles it, at most to "
            "128, where the recall takes more",
            16, {1, 1000})
        .Elsewhere("FAISS: `k_factor` of IndexRefine"),
    kRecallParam};

// Seconds of one byte of a code, and of a row that is scored again, on one thread, measured
// (docs/indexes.md).
constexpr double kSecondsOfByte = 0.25e-9;
constexpr double kSecondsOfRow = 0.15e-6;
constexpr double kPage = 4096;  // bytes that a row from the disk takes at least

// Returns the values that the defaults stand for.
config::Params IvfPqSuited(size_t rows, size_t width, double) {
  config::Params params(kIvfPqParams);
  params.Set("lists", static_cast<int64_t>(ListCount(rows, 0)));
  params.Set("code_bytes", static_cast<int64_t>(ProductCodeBytes(width, 0)));
  return params;
}

void Check(size_t width, const config::Params& params) {
  const size_t bytes = ProductCodeBytes(width, static_cast<size_t>(params.Integer("code_bytes")));
  if (bytes <= width && width % bytes == 0) return;
  size_t below = std::min(bytes, width);
  while (width % below != 0) --below;
  throw UsageError(
      fmt::format("code_bytes must divide the width of the embeddings, {}; found {}, try {}", width,
                  bytes, below));
}

KindCost IvfPqCost(size_t rows, size_t width, const config::Params& params) {
  const size_t bytes = ProductCodeBytes(width, static_cast<size_t>(params.Integer("code_bytes")));
  const size_t lists = ListCount(rows, static_cast<size_t>(params.Integer("lists")));
  KindCost cost = ListsCost({.count = rows, .width = width}, lists, static_cast<double>(bytes),
                            static_cast<double>(bytes) * kSecondsOfByte, params.Number("recall"));
  const double codebooks = 256 * 4 * static_cast<double>(width + bytes);
  cost.resident_bytes += codebooks;
  cost.disk_bytes += codebooks;
  const double refined = 10 * static_cast<double>(params.Integer("refine"));
  cost.query_seconds += refined * kSecondsOfRow;
  cost.query_bytes += refined * kPage;
  cost.best_recall = 0.975;
  return cost;
}

}  // namespace

extern const IndexKindInfo kIvfPq{
    {.name = "ivf_pq",
     .summary = "lists of short codes on disk, whose best rows are scored again exactly",
     .source = "Jégou et al. 2011 (product quantization of residuals), as FAISS's IndexIVFPQ with "
               "IndexRefineFlat; differs: refinement reads the float32 rows from the disk",
     .params = kIvfPqParams},
    false,
    IvfPqCost,
    IvfPqSuited,
    Check};

}  // namespace tandem::index

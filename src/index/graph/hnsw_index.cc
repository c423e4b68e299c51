// Building and searching of the kind `hnsw`, whose descriptor is in index/kinds/hnsw.cc.
#include <algorithm>

#include "base/process/threads.h"
#include "index/approximate.h"
#include "index/build_parts.h"
#include "index/calibrate.h"
#include "index/graph/best_rows.h"
#include "index/graph/hnsw.h"
#include "index/kind_file.h"

namespace tandem::index {
namespace {

constexpr size_t kMostEffort = 4096;

class HnswIndex final : public VectorIndex {
 public:
  HnswIndex(const VectorRows& rows, const std::filesystem::path& folder)
      : rows_(rows), file_(folder / kHnswFile, "hnsw", rows) {
    const size_t n = rows.count;
    graph_.width = rows.width;
    graph_.links = file_.number(0);
    graph_.entry = static_cast<uint32_t>(file_.number(1));
    graph_.upper_layers = file_.number(2);
    if (graph_.links == 0 || graph_.links > 4096) file_.Damaged("it has no links");
    if (n > 0 && file_.number(1) >= n) file_.Damaged("its entry is no row");
    if (graph_.upper_layers > 64) file_.Damaged("it has too many layers");
    graph_.codes = file_.Array<int8_t>(0, uint64_t{n} * rows.width);
    graph_.scales = file_.Array<float>(1, n);
    graph_.lowest = file_.Array<uint32_t>(2, uint64_t{n} * 2 * graph_.links);
    graph_.upper_starts = file_.Array<uint32_t>(3, uint64_t{n} + 1);
    if (file_.number(3) > uint64_t{n} * 64) file_.Damaged("it has too many layers");
    graph_.upper = file_.Array<uint32_t>(4, file_.number(3) * graph_.links);
  }

  void Search(const VectorQuery& query, std::span<std::vector<RowHit>> found) const override {
    const size_t allowed = CountAllowed(query.allowed, rows_.count);
    const size_t effort = std::max(query.effort ? query.effort : DefaultEffort(), query.k);
    ParallelFor(query.count, 1 + query.count / (8 * static_cast<size_t>(query.threads)),
                query.threads, [&](size_t begin, size_t end) {
                  GraphWalk walk;
                  for (size_t q = begin; q < end; ++q) {
                    const float* values = query.queries + q * rows_.width;
                    found[q] = SearchOne(values, query, effort, allowed, walk);
                  }
                });
  }
  uint64_t resident_bytes() const override {
    return graph_.codes.size_bytes() + graph_.scales.size_bytes() + graph_.lowest.size_bytes() +
           graph_.upper_starts.size_bytes() + graph_.upper.size_bytes();
  }
  std::optional<MeasuredRecall> measured() const override { return file_.measured(); }
  const KindHeader& header() const { return file_.header(); }

 private:
  size_t DefaultEffort() const { return std::max<size_t>(file_.header().measured.effort, 16); }

  // A walk scores about 2 links rows for each row of its effort, times the share of all rows that
  // are allowed. Where these are few, scoring them all costs less.
  bool ScansAllowed(size_t allowed, size_t effort) const {
    const double walk = static_cast<double>(effort * graph_.links) *
                        static_cast<double>(rows_.count) / static_cast<double>(allowed + 1);
    // A row of float32 costs about as much as three that are int8, met here and there.
    return static_cast<double>(allowed) * 3 < walk;
  }

  std::vector<RowHit> SearchOne(const float* values, const VectorQuery& query, size_t effort,
                                size_t allowed, GraphWalk& walk) const {
    if (ScansAllowed(allowed, effort)) {
      return ScanAllowed(rows_, values, query.allowed, query.k);
    }
    const Int8Query codes(values, rows_.width);
    std::vector<RowHit> near = WalkGraph(graph_, codes, effort, query.allowed, walk);
    // Rows that int8 ranks after so many better ones are not among the best k.
    near.resize(std::min(near.size(), 3 * query.k + 10));
    std::vector<RowHit> best = ScoreExactly(rows_, values, near, query.k);
    // A walk may end in a part of the graph that few links leave.
    if (best.size() < std::min(query.k, allowed)) {
      return ScanAllowed(rows_, values, query.allowed, query.k);
    }
    return best;
  }

  VectorRows rows_;
  KindFile file_;
  RowGraph graph_;
};

}  // namespace

std::vector<std::string> BuildHnsw(const VectorRows& rows, const config::Params& params,
                                   const std::filesystem::path& folder,
                                   const BuildOptions& options) {
  BuildHnswGraph(rows, params, folder / kHnswFile, PartOf(options, 0, 0.95));
  const HnswIndex index(rows, folder);
  KindHeader header = index.header();
  header.measured =
      Calibrate(MakeRecallProbe(rows, kProbeQueries, options), index,
                EffortsBetween(RecallProbe::kDepth, kMostEffort), params.Number("recall"), options);
  WarnOfRecall("hnsw", header.measured, "a larger m finds more");
  ReplaceHeader(folder / kHnswFile, header);
  if (options.progress) options.progress(1);
  return {kHnswFile};
}

std::unique_ptr<VectorIndex> OpenHnsw(const VectorRows& rows, const config::Params&,
                                      const std::filesystem::path& folder) {
  return std::make_unique<HnswIndex>(rows, folder);
}

}  // namespace tandem::index

// Finds the effort that a recall takes, measured where the index is built.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "index/vector_index.h"

namespace tandem::index {

// Questions about an index whose exact answers are known.
struct RecallProbe {
  static constexpr size_t kDepth = 10;  // recall at 10 is what is measured
  size_t width = 0;
  std::vector<float> queries;             // [Q, E]
  std::vector<std::vector<RowHit>> best;  // exact, of each query
  size_t count() const { return best.size(); }
};

// Up to `queries` queries, each a row that is spread over the corpus with a disturbance of
// `kDisturbance` times its length: as near to that row as a question is to its answer, rather than
// on it. Reads all rows once. Throws Interrupted.
inline constexpr float kDisturbance = 1.33F;  // a cosine of 0.6 with the row
inline constexpr size_t kProbeQueries = 200;  // recall is measured to within about 0.01
RecallProbe MakeRecallProbe(const VectorRows& rows, size_t queries, const BuildOptions& options);

// The share of the probe's best rows that the index finds. A row that scores like the last of them
// is as good.
double MeasureRecall(const RecallProbe& probe, const VectorIndex& index, size_t effort,
                     int threads);

// The least of `efforts` (ascending) whose recall is at least `wanted`, found by halving; the last
// where none reaches it.
MeasuredRecall Calibrate(const RecallProbe& probe, const VectorIndex& index,
                         const std::vector<size_t>& efforts, double wanted,
                         const BuildOptions& options);

// Efforts from `first` to `last`, each about a sixth more than the one before.
std::vector<size_t> EffortsBetween(size_t first, size_t last);

// Says with a warning that a recall cannot be had by more effort.
void WarnOfRecall(std::string_view kind, const MeasuredRecall& measured, std::string_view advice);

}  // namespace tandem::index

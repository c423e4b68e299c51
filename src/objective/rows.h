// Loops over the rows of a batch, on its threads, and what their losses add up to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/process/threads.h"
#include "objective/batch.h"

namespace tandem::objective {

// Calls `body(row)` for every query, rows on several threads where there is enough to do. `body`
// may write to what belongs to its row only.
template <typename Body>
void ForEachRow(const Batch& batch, const Body& body) {
  // Below this many cells starting a thread costs more than it saves (some 20 microseconds).
  constexpr int64_t kCellsPerRange = 16384;
  const int64_t columns = std::max<int64_t>(1, batch.documents);
  const int64_t grain = std::max<int64_t>(1, kCellsPerRange / columns);
  ParallelFor(static_cast<size_t>(batch.queries), static_cast<size_t>(grain), batch.threads,
              [&](size_t begin, size_t end) {
                for (size_t row = begin; row < end; ++row) body(static_cast<int64_t>(row));
              });
}

// Calls `body(row)` for every query and returns the results in the order of rows.
template <typename Body>
auto MapRows(const Batch& batch, const Body& body) {
  using Value = std::invoke_result_t<Body, int64_t>;
  static_assert(!std::is_same_v<Value, bool>, "threads would write into the same bytes");
  std::vector<Value> values(static_cast<size_t>(batch.queries));
  ForEachRow(batch, [&](int64_t row) { values[static_cast<size_t>(row)] = body(row); });
  return values;
}

// The sum over queries of weight times value, in the order of rows. values [Q].
inline double WeightedSum(const Batch& batch, std::span<const double> values) {
  double sum = 0;
  for (int64_t row = 0; row < batch.queries; ++row) {
    sum += batch.Weight(row) * values[static_cast<size_t>(row)];
  }
  return sum;
}

// The evaluation of a formula that is a mean over queries, from each query's loss [Q].
inline Evaluation MeanOverQueries(const Batch& batch, std::vector<double> losses) {
  const auto queries = static_cast<double>(batch.queries);
  return {WeightedSum(batch, losses) / queries, queries, std::move(losses)};
}

// The evaluation of a formula that is a mean over pairs: `sums` [Q] has the sum over each query's
// pairs, `pairs` [Q] their number. A batch without pairs has loss 0.
inline Evaluation MeanOverPairs(const Batch& batch, std::vector<double> sums,
                                std::span<const double> pairs) {
  const double count = std::accumulate(pairs.begin(), pairs.end(), 0.0);
  const double loss = count == 0 ? 0 : WeightedSum(batch, sums) / count;
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = pairs[i] == 0 ? 0 : sums[i] / pairs[i];
  return {loss, count, std::move(sums)};
}

}  // namespace tandem::objective

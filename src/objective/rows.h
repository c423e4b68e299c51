// Loops over the rows of a batch, on its threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/threads.h"
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

// Sums one number for each row, in the order of rows, whatever threads computed them.
template <typename Body>
double SumRows(const Batch& batch, const Body& body) {
  double sum = 0;
  for (const double value : MapRows(batch, body)) sum += value;
  return sum;
}

}  // namespace tandem::objective

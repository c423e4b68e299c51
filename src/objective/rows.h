// Loops over the rows of a batch, on its threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// In the order of rows, whatever threads computed them.
inline double SumInOrder(const std::vector<double>& rows) {
  double sum = 0;
  for (const double row : rows) sum += row;
  return sum;
}

}  // namespace tandem::objective

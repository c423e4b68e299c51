// The candidates of one query in the graded objectives.
#pragma once

#include <cstdint>

#include "objective/batch.h"

namespace tandem::objective {

// Calls `body(column, grade)` for the labelled documents of a row, with their grades, and for its
// allowed negatives, with grade 0, by ascending column. A labelled cell's grade wins over its mask.
template <typename Body>
void ForEachCandidate(const Batch& batch, int64_t row, const Body& body) {
  const bool* negative = batch.negative + row * batch.documents;
  int64_t column = 0;
  const auto negatives_until = [&](int64_t end) {
    for (; column < end; ++column) {
      if (negative[column]) body(column, 0.0);
    }
  };
  for (const LabelledCell& cell : batch.Labelled(row)) {
    negatives_until(cell.column);
    body(cell.column, cell.grade);
    ++column;
  }
  negatives_until(batch.documents);
}

}  // namespace tandem::objective

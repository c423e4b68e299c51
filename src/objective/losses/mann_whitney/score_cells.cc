#include "objective/losses/mann_whitney/score_cells.h"

#include <algorithm>

namespace tandem::objective {

void CellSet::Insert(int64_t cell, size_t index) {
  size_t at = Home(cell);
  while (table_[at].cell != kNone) at = (at + 1) & (table_.size() - 1);
  table_[at] = {cell, index};
}

void CellSet::Add(int64_t cell) {
  size_t at = Home(cell);
  for (; table_[at].cell != kNone; at = (at + 1) & (table_.size() - 1)) {
    if (table_[at].cell == cell) return;
  }
  table_[at] = {cell, cells_.size()};
  cells_.push_back(cell);
  if (2 * cells_.size() <= table_.size()) return;
  table_.assign(2 * table_.size(), Entry{});
  for (size_t i = 0; i < cells_.size(); ++i) Insert(cells_[i], i);
}

void CellSet::Sort() {
  std::sort(cells_.begin(), cells_.end());
  std::fill(table_.begin(), table_.end(), Entry{});
  for (size_t i = 0; i < cells_.size(); ++i) Insert(cells_[i], i);
}

}  // namespace tandem::objective

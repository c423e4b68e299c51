// The score line cut into cells of two temperatures, and which of them scores fall into.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tandem::objective {

// Cell k covers the scores [2 k t, 2 (k + 1) t). A position inside a cell is rounded once, however
// far from 0 the cell is. So scores that share a large offset keep their digits.
class ScoreGrid {
 public:
  explicit ScoreGrid(double temperature)
      : temperature_(temperature),
        inverse_temperature_(1 / temperature),
        inverse_width_(0.5 / temperature) {}

  int64_t CellOf(double score) const {
    return static_cast<int64_t>(std::floor(score * inverse_width_));
  }
  // Temperatures from the cell's middle, in [-1, 1] up to rounding.
  double PositionIn(int64_t cell, double score) const {
    return std::fma(-(2 * static_cast<double>(cell) + 1), temperature_, score) *
           inverse_temperature_;
  }
  // The middle of a cell, exact as the sum of the two: a position is ((score - value) - rest) over
  // the temperature, with the bits of PositionIn, where no fused operation is at hand.
  struct Middle {
    double value = 0;
    double rest = 0;
  };
  Middle MiddleOf(int64_t cell) const {
    const double half_widths = 2 * static_cast<double>(cell) + 1;
    const double value = half_widths * temperature_;
    return {value, std::fma(half_widths, temperature_, -value)};
  }

 private:
  double temperature_;
  double inverse_temperature_;
  double inverse_width_;
};

// A set of cells, in a hash table: scores may lie far apart.
class CellSet {
 public:
  CellSet() : table_(64, Entry{}) {}

  void Add(int64_t cell);
  void AddAll(const CellSet& other) {
    for (const int64_t cell : other.cells_) Add(cell);
  }
  // Numbers the cells from 0 in ascending order.
  void Sort();

  size_t size() const { return cells_.size(); }
  int64_t cell(size_t index) const { return cells_[index]; }
  // The number of a cell that is in the set.
  size_t IndexOf(int64_t cell) const {
    size_t at = Home(cell);
    while (table_[at].cell != cell) at = (at + 1) & (table_.size() - 1);
    return table_[at].index;
  }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  struct Entry {
    int64_t cell = kNone;
    size_t index = 0;
  };

  size_t Home(int64_t cell) const {
    // Cells that are neighbours stay neighbours in the table, because most sets are a dense range.
    return static_cast<size_t>(cell) & (table_.size() - 1);
  }
  void Insert(int64_t cell, size_t index);

  std::vector<Entry> table_;  // a power of two, at most half full
  std::vector<int64_t> cells_;
};

}  // namespace tandem::objective

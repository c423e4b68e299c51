// Says how often values fall into bins of equal width, and their median.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tandem::eval {

// Bin b holds the values from first + b width up to, not including, first + (b + 1) width; the last
// bin includes its end. What lies outside is counted beside the bins, so that every value counts
// once.
struct Histogram {
  double first = 0;
  double width = 1;
  std::vector<size_t> counts;
  size_t below = 0;
  size_t above = 0;

  double end() const { return first + width * static_cast<double>(counts.size()); }
};

// `bins` bins from `first` to `end`. Throws NumericError for a value that is NaN.
Histogram MakeHistogram(std::span<const double> values, double first, double end, size_t bins);

// The middle value, or the mean of the middle two; nothing where there is none. Values are finite.
std::optional<double> Median(std::vector<double> values);

}  // namespace tandem::eval

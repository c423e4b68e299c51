#include "eval/views/histogram.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem::eval {

Histogram MakeHistogram(std::span<const double> values, double first, double end, size_t bins) {
  Histogram histogram{.first = first,
                      .width = (end - first) / static_cast<double>(bins),
                      .counts = std::vector<size_t>(bins)};
  for (const double value : values) {
    if (std::isnan(value)) throw NumericError("histogram: a value is not a number");
    if (value < first) {
      ++histogram.below;
    } else if (value > end) {
      ++histogram.above;
    } else {
      const auto bin = static_cast<size_t>((value - first) / histogram.width);
      ++histogram.counts[std::min(bin, bins - 1)];
    }
  }
  return histogram;
}

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace tandem::eval

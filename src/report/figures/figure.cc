#include "report/figures/figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tandem::report {
namespace {

// The smallest and largest value that is finite (and above 0 on a logarithmic axis); low > high
// where there is none.
AxisRange Extent(const Figure& figure, size_t coordinate, bool logarithmic) {
  AxisRange extent{HUGE_VAL, -HUGE_VAL};
  for (const Series& series : figure.series) {
    for (const Point& point : series.points) {
      const double value = point[coordinate];
      if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
      extent.low = std::min(extent.low, value);
      extent.high = std::max(extent.high, value);
    }
  }
  return extent;
}

AxisRange LinearRange(AxisRange extent, bool to_ticks) {
  if (extent.low > extent.high) return {0, 1};
  const double span = extent.high - extent.low;
  // A span below what the numbers' own rounding makes is none.
  if (span <= 1e-9 * std::max(std::abs(extent.low), std::abs(extent.high))) {
    const double half = extent.low == 0 ? 0.5 : 0.05 * std::abs(extent.low);
    return {extent.low - half, extent.high + half};
  }
  if (!to_ticks) return extent;
  AxisRange range = extent;
  // The range from tick to tick is longer and may have other ticks; they divide it the second time.
  for (int i = 0; i < 2; ++i) {
    const double tick = TickDistance(range.high - range.low);
    range = {std::floor(extent.low / tick) * tick, std::ceil(extent.high / tick) * tick};
  }
  return range;
}

AxisRange LogarithmicRange(AxisRange extent) {
  if (extent.low > extent.high) return {0.001, 1};
  AxisRange range{std::pow(10, std::floor(std::log10(extent.low) + 1e-9)),
                  std::pow(10, std::ceil(std::log10(extent.high) - 1e-9))};
  if (range.low == range.high) range.high *= 10;
  return range;
}

AxisRange RangeOf(const Figure& figure, const Axis& axis, size_t coordinate, bool to_ticks) {
  const AxisRange extent = Extent(figure, coordinate, axis.logarithmic);
  AxisRange range = axis.logarithmic ? LogarithmicRange(extent) : LinearRange(extent, to_ticks);
  range.low = axis.low.value_or(range.low);
  range.high = axis.high.value_or(range.high);
  if (range.low >= range.high) range.high = range.low + (range.low > 0 ? range.low : 1);
  return range;
}

std::string NumberText(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

// Cells end at tabs and rows at line ends.
std::string CellText(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string CategoryText(const Figure& figure, double y) {
  const auto index = static_cast<size_t>(std::max(0.0, y));
  return index < figure.categories.size() ? CellText(figure.categories[index]) : NumberText(y);
}

}  // namespace

double TickDistance(double span, int most) {
  const double power = std::pow(10, std::floor(std::log10(span / most)));
  const double times = span / most / power;
  constexpr double kRounding = 1 + 1e-9;
  return power * (times <= kRounding       ? 1
                  : times <= 2 * kRounding ? 2
                  : times <= 5 * kRounding ? 5
                                           : 10);
}

AxisRange RangeOfX(const Figure& figure) {
  // Bars begin at 0.
  if (!figure.categories.empty()) {
    const double longest = std::max(0.0, Extent(figure, 0, false).high);
    return longest > 0 ? LinearRange({0, longest}, true) : AxisRange{0, 1};
  }
  return RangeOf(figure, figure.x, 0, false);
}

AxisRange RangeOfY(const Figure& figure) {
  if (!figure.categories.empty()) {
    return {-0.6, static_cast<double>(figure.categories.size()) - 0.4};
  }
  return RangeOf(figure, figure.y, 1, true);
}

std::vector<std::string> FigureColumns(const Figure& figure) {
  return {"series", figure.x.column, figure.y.column};
}

std::vector<std::vector<std::string>> FigureRows(const Figure& figure) {
  std::vector<std::vector<std::string>> rows;
  for (const Series& series : figure.series) {
    for (const Point& point : series.points) {
      rows.push_back(
          {CellText(series.name), NumberText(point[0]),
           series.mark == Mark::kBars ? CategoryText(figure, point[1]) : NumberText(point[1])});
    }
  }
  return rows;
}

std::string FigureTsv(const Figure& figure) {
  std::string text = fmt::format("{}\n", fmt::join(FigureColumns(figure), "\t"));
  for (const auto& row : FigureRows(figure)) text += fmt::format("{}\n", fmt::join(row, "\t"));
  return text;
}

}  // namespace tandem::report

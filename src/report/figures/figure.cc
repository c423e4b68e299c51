#include "report/figures/figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/figures/figure_layout.h"

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

// The coordinate of points that their intervals are of.
size_t IntervalCoordinate(const Figure& figure) { return figure.categories.empty() ? 1 : 0; }

bool DrawsBars(const Figure& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [](const Series& one) { return one.mark == Mark::kBars; });
}

// The extent of the points, and of 0 where bars begin there, and, within bounds, of their
// intervals.
AxisRange ExtentWithIntervals(const Figure& figure, size_t coordinate, bool logarithmic) {
  AxisRange points = Extent(figure, coordinate, logarithmic);
  if (DrawsBars(figure) && coordinate == 0) {
    points = {std::min(0.0, points.low), std::max(0.0, points.high)};
  }
  if (coordinate != IntervalCoordinate(figure) || points.low > points.high) return points;
  const double span = points.high - points.low;
  const double most = span > 0 ? span : HUGE_VAL;
  AxisRange extent = points;
  for (const Series& series : figure.series) {
    for (const AxisRange& interval : series.intervals) {
      if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) continue;
      if (logarithmic && interval.low <= 0) continue;
      extent.low = std::min(extent.low, std::max(interval.low, points.low - most));
      extent.high = std::max(extent.high, std::min(interval.high, points.high + most));
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
  const AxisRange extent = ExtentWithIntervals(figure, coordinate, axis.logarithmic);
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

bool HasIntervals(const Figure& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [](const Series& series) { return !series.intervals.empty(); });
}

bool HasNames(const Figure& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [](const Series& series) { return !series.names.empty(); });
}

std::string CategoryText(const Figure& figure, double y) {
  const auto index = static_cast<size_t>(std::max(0.0, y));
  return index < figure.categories.size() ? CellText(figure.categories[index]) : NumberText(y);
}

}  // namespace

const std::string& LegendOf(const Series& series) {
  return series.legend ? *series.legend : series.name;
}

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
  if (!figure.categories.empty()) {
    const AxisRange extent = ExtentWithIntervals(figure, 0, false);
    const bool cells = !figure.shade_column.empty();
    if (cells && extent.low <= extent.high) return {extent.low - 0.5, extent.high + 0.5};
    if (!DrawsBars(figure)) return LinearRange(extent, true);
    return extent.low < extent.high ? LinearRange(extent, true) : AxisRange{0, 1};
  }
  return RangeOf(figure, figure.x, 0, false);
}

AxisRange RangeOfY(const Figure& figure) {
  if (!figure.categories.empty()) {
    const auto rows = static_cast<double>(figure.categories.size());
    if (NamesStandAbove(figure)) return {-0.72, rows - 0.72};
    return {-0.6, rows - 0.4};
  }
  return RangeOf(figure, figure.y, 1, true);
}

std::vector<std::string> FigureColumns(const Figure& figure) {
  std::vector<std::string> columns = {"series", figure.x.column, figure.y.column};
  if (!figure.shade_column.empty()) columns.push_back(figure.shade_column);
  if (HasIntervals(figure)) columns.insert(columns.end(), {"low", "high"});
  if (HasNames(figure)) columns.emplace_back("name");
  return columns;
}

std::vector<std::vector<std::string>> FigureRows(const Figure& figure) {
  std::vector<std::vector<std::string>> rows;
  for (const Series& series : figure.series) {
    for (size_t i = 0; i < series.points.size(); ++i) {
      const Point& point = series.points[i];
      rows.push_back(
          {CellText(series.name), NumberText(point[0]),
           figure.categories.empty() ? NumberText(point[1]) : CategoryText(figure, point[1])});
      if (!figure.shade_column.empty()) {
        rows.back().push_back(i < series.shades.size() ? NumberText(series.shades[i]) : "");
      }
      if (HasIntervals(figure)) {
        const bool has = i < series.intervals.size();
        rows.back().push_back(has ? NumberText(series.intervals[i].low) : "");
        rows.back().push_back(has ? NumberText(series.intervals[i].high) : "");
      }
      if (!HasNames(figure)) continue;
      rows.back().push_back(i < series.names.size() ? CellText(series.names[i]) : "");
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

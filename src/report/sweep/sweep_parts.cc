#include "report/sweep/sweep_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/tables/numbers.h"

namespace tandem::report {

void StyleLine(size_t i, size_t of, std::string_view what, Series& series) {
  constexpr size_t kOwnColours = kColours - 1;  // the first of the palette is grey
  if (i < kMostNamed) {
    series.colour = 1 + i % kOwnColours;
    series.dashed = i >= kOwnColours;
    return;
  }
  series.colour = 0;
  series.thin = true;
  const size_t others = of - kMostNamed;
  series.legend = i == kMostNamed && others > 1 ? fmt::format("{} other {}", others, what)
                  : i == kMostNamed             ? series.name
                                                : "";
}

PageCell MeanCell(const GroupMean& mean, size_t runs, bool with_sign) {
  if (!mean) return TextCell("-");
  PageCell cell = NumberCell(mean->mean);
  if (with_sign) cell.text = Signed(mean->mean);
  if (mean->interval) {
    cell.note = fmt::format("[{}, {}]", Fixed(mean->interval->low), Fixed(mean->interval->high));
  } else if (runs == 1) {
    cell.note = "one seed";
  }
  return cell;
}

AxisRange IntervalOf(const GroupMean& mean) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!mean || !mean->interval) return {kNone, kNone};
  return {mean->interval->low, mean->interval->high};
}

void SayCutIntervals(Figure& figure) {
  const AxisRange range = figure.categories.empty() ? RangeOfY(figure) : RangeOfX(figure);
  const bool cut = std::any_of(figure.series.begin(), figure.series.end(), [&](const Series& one) {
    return std::any_of(one.intervals.begin(), one.intervals.end(), [&](const AxisRange& interval) {
      return interval.low < range.low || interval.high > range.high;
    });
  });
  if (!cut) return;
  figure.note += (figure.note.empty() ? "" : " ") +
                 std::string("Intervals that reach beyond the figure are cut there.");
}

void AddLongTable(const PageTable& table, Page& page) {
  if (table.rows.size() <= kRowsInSight + 3) {
    page.AddTable(table);
    return;
  }
  PageTable first = table;
  first.rows.resize(kRowsInSight);
  first.sortable = false;
  first.caption += fmt::format(" (the first {} of {})", kRowsInSight, table.rows.size());
  page.AddTable(first);
  page.html().In("details", [&] {
    page.html().Element("summary", fmt::format("All {} rows", table.rows.size()));
    page.AddTable(table);
  });
}

std::string Counted(size_t n, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", GroupedCount(static_cast<int64_t>(n)), n == 1 ? one : several);
}

}  // namespace tandem::report

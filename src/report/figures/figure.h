// A figure as data: what is drawn, what the TSV file beside it holds, what a reader can look
// up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/records/evaluation_record.h"

namespace tandem::report {

enum class Mark {
  kLine,
  kLineAndPoints,
  kPoints,
  kSteps,  // constant from each x to the next: a histogram without its fill
  kBars,   // horizontal: x is the length, y the category
  kCells   // a heat map: each point is a cell of width 1 in its category's row, shaded by `shades`
};

// Says where a colour comes from: the palette, or a judgement that the marks show besides.
enum class Tone { kPalette, kGood, kBad };

// The values that an axis shows, or that an interval spans.
struct AxisRange {
  double low = 0;
  double high = 1;
};

// One set of points. Values that are not finite interrupt a line.
struct Series {
  std::string name;  // in the numbers, and in the legend; "": none there
  Mark mark = Mark::kLine;
  std::vector<Point> points;
  bool dashed = false;
  // The series takes this one of the palette's kColours; series of one model have the same.
  size_t colour = 0;
  Tone tone = Tone::kPalette;
  // The interval of each point's value: of its y, or of its x in a figure with categories. Empty:
  // the series has none. An interval that is not finite is not drawn.
  std::vector<AxisRange> intervals = {};
  std::vector<double> shades = {};  // of each cell, from 0 on; the largest one is darkest
  std::optional<std::string> legend = std::nullopt;  // in the legend, in place of the name
  std::vector<std::string> names = {};  // beside each point, and in the numbers; empty: none
  bool thin = false;  // a line among many: thin and without dots; steps without a fill
};

// What the legend says of the series; "": nothing.
const std::string& LegendOf(const Series& series);

struct Axis {
  std::string label;   // "false-positive rate"
  std::string column;  // of the TSV file: "false_positive_rate"
  bool logarithmic = false;
  // The axis begins and ends here; unset: where the points do.
  std::optional<double> low;
  std::optional<double> high;
  // Marks stand at these values; none: at round numbers.
  std::vector<double> marks = {};
};

struct Figure {
  std::string name;         // of its files and ids: "roc"; letters, digits, "-" and "_"
  std::string title;        // a heading
  std::string description;  // says in a sentence what it shows, for those who do not see it
  Axis x;
  Axis y;
  std::vector<Series> series;
  // On the y axis, from the top, of bars or of points; these have y = 0, 1, ...
  std::vector<std::string> categories;
  bool diagonal = false;           // a thin line where y = x
  std::optional<double> vertical;  // a thin line at this x
  std::string note;                // printed below; ""
  std::string shade_column = {};   // of the TSV file, where the figure has cells
};

inline constexpr size_t kColours = 6;

// The range of an axis, also where the figure leaves it to the points. A logarithmic one is of
// whole powers of ten; an axis without any point is [0, 1], or [0.001, 1]. Intervals lengthen it,
// but at each end by no more than the points span: a wide one is cut, so that the others can be
// read.
AxisRange RangeOfX(const Figure& figure);
AxisRange RangeOfY(const Figure& figure);

inline constexpr int kMostTicks = 8;

// The least distance of ticks that makes at most so many steps of a span > 0: 1, 2 or 5 times a
// power of ten.
double TickDistance(double span, int most = kMostTicks);

// The numbers, one row a point: a header `series X Y`, then the rows, separated by tabs. Categories
// stand in place of y. A figure with intervals has the columns `low` and `high` after these, one
// with names of points the column `name`.
std::string FigureTsv(const Figure& figure);

// One row of the numbers: the TSV's cells.
std::vector<std::vector<std::string>> FigureRows(const Figure& figure);
std::vector<std::string> FigureColumns(const Figure& figure);

}  // namespace tandem::report

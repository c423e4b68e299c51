#include "report/figures/figure_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/page/html.h"

namespace tandem::report {
namespace {

constexpr double kWidth = 390;
constexpr double kLegendRow = 18;
constexpr double kTop = 30;     // for the y axis' label, which stands above the axis
constexpr double kBottom = 42;  // for tick labels and the x axis' label
constexpr double kPlotHeight = 195;
constexpr double kBarHeight = 26;

// A text as gnuplot reads it: in single quotes nothing but the quote itself has a meaning, and a
// line end would end the command.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : CleanText(text)) {
    if (c == '\'') quoted += '\'';
    quoted += c == '\n' || c == '\t' ? ' ' : c;
  }
  return quoted + "'";
}

std::string Colour(int red) { return fmt::format("rgb \"#{:02x}0101\"", red); }

std::string ColourOf(const Series& series) {
  return Colour(kFirstRed + static_cast<int>(series.colour % kColours));
}

size_t LegendRows(const Figure& figure) {
  return static_cast<size_t>(std::count_if(figure.series.begin(), figure.series.end(),
                                           [](const Series& one) { return !one.name.empty(); }));
}

std::string AxisLines(std::string_view axis, const Axis& settings, AxisRange range) {
  std::string lines =
      fmt::format("set {}range [{:.9g}:{:.9g}] noextend\n", axis, range.low, range.high);
  if (settings.logarithmic) lines += fmt::format("set logscale {}\n", axis);
  return lines;
}

std::string CategoryLines(const Figure& figure) {
  std::string tics;
  for (size_t i = 0; i < figure.categories.size(); ++i) {
    tics += fmt::format("{}{} {}", i > 0 ? ", " : "", Quoted(figure.categories[i]), i);
  }
  return fmt::format(
      "set ytics ({}) scale 0\nset grid noytics xtics lt 1 lc {} lw 1\nset border 2\n"
      "set yrange [] reverse\n",
      tics, Colour(kFaintRed));
}

std::string Head(const Figure& figure) {
  const PlotArea area = AreaOf(figure);
  const auto from_below = [&](double y) { return 1 - y / area.height; };
  std::string text = fmt::format(
      "set terminal svg noenhanced size {:.0f},{:.0f} font \"sans,12\" name \"figure\"\n"
      "set encoding utf8\n"
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n",
      area.width, area.height, area.left / area.width, area.right / area.width,
      from_below(area.top), from_below(area.bottom));
  text += fmt::format(
      "set border 3 lc {0}\nset tics nomirror scale 0.4,0 textcolor {0}\nset format '%g'\n"
      "set grid lt 1 lc {1} lw 1\nset samples 2\n",
      Colour(kInkRed), Colour(kFaintRed));
  if (figure.categories.empty()) {
    text += fmt::format("set label 1 {} at screen {:.6f}, screen {:.6f} left textcolor {}\n",
                        Quoted(figure.y.label), 4 / area.width, from_below(12), Colour(kInkRed));
  }
  text += fmt::format("set label 2 {} at graph 1, screen {:.6f} right textcolor {}\n",
                      Quoted(figure.x.label), from_below(area.bottom + 34), Colour(kInkRed));
  return text + fmt::format(
                    "set key at screen {:.6f}, screen {:.6f} left top vertical maxcols 1 Left "
                    "reverse samplen 1.5 width 0 textcolor {}\n",
                    4 / area.width, from_below(area.bottom + kBottom + 2), Colour(kInkRed));
}

// Rows for a data block. A line breaks at an empty row.
std::string DataRows(const Figure& figure, const Series& series) {
  const double beginning = RangeOfX(figure).low;
  std::string rows;
  std::string before;  // the last point left of the beginning
  for (const Point& point : series.points) {
    if (!std::isfinite(point[0]) || !std::isfinite(point[1])) {
      rows += before.empty() ? "\n" : before + "\n";
      before.clear();
      continue;
    }
    if (figure.x.logarithmic && point[0] < beginning) {
      before = fmt::format("{:.9g}\t{:.9g}\n", beginning, point[1]);
      continue;
    }
    rows += before;
    before.clear();
    rows += fmt::format("{:.9g}\t{:.9g}\n", point[0], point[1]);
  }
  rows += before;
  // gnuplot refuses a block without any number.
  return rows.find_first_not_of('\n') == std::string::npos ? "NaN\tNaN\n" : rows;
}

std::string PlotOf(const Series& series, size_t number) {
  const std::string colour = ColourOf(series);
  const std::string title = series.name.empty() ? "notitle" : "title " + Quoted(series.name);
  const std::string dash = series.dashed ? "dt 2" : "dt 1";
  const std::string data = fmt::format("$series{} using 1:2", number);
  switch (series.mark) {
    case Mark::kLine:
      return fmt::format("{} with lines lw 2 {} lc {} {}", data, dash, colour, title);
    case Mark::kLineAndPoints:
      return fmt::format(
          "{0} with lines lw 2 {1} lc {2} {3}, {0} with points pt 7 ps 0.5 lc {2} "
          "notitle",
          data, dash, colour, title);
    case Mark::kPoints:
      // The legend's dot is larger than those of the data, so that its colour can be seen.
      return fmt::format(
          "{0} with points pt 7 ps 0.3 lc {1} notitle, NaN with points pt 7 ps 0.8 lc {1} {2}",
          data, colour, title);
    case Mark::kSteps:
      return fmt::format(
          "{0} with fillsteps fs solid 0.15 noborder lc {1} notitle, {0} with steps "
          "lw 1.5 {2} lc {1} {3}",
          data, colour, dash, title);
    case Mark::kBars:
      return fmt::format(
          "$series{} using (0):2:(0):1:($2-0.32):($2+0.32) with boxxyerror fs solid 0.75 noborder "
          "lc {} {}",
          number, colour, title);
  }
  return "";
}

}  // namespace

PlotArea AreaOf(const Figure& figure) {
  const bool bars = !figure.categories.empty();
  // Tick labels such as 1.5e-05 need more room than 0.15.
  const double largest = std::max(std::abs(RangeOfY(figure).low), std::abs(RangeOfY(figure).high));
  const bool with_exponents = largest < 1e-3 || largest >= 1e6;
  PlotArea area{.width = kWidth,
                .left = bars             ? 130.0
                        : with_exponents ? 66.0
                                         : 48.0,
                .right = kWidth - 14,
                .top = bars ? 8 : kTop};
  area.bottom =
      area.top + (bars ? kBarHeight * static_cast<double>(figure.categories.size()) : kPlotHeight);
  area.height = area.bottom + kBottom + kLegendRow * static_cast<double>(LegendRows(figure)) + 6;
  return area;
}

std::string GnuplotScript(const Figure& figure) {
  std::string script = Head(figure) + AxisLines("x", figure.x, RangeOfX(figure)) +
                       AxisLines("y", figure.y, RangeOfY(figure));
  if (!figure.categories.empty()) script += CategoryLines(figure);
  for (size_t i = 0; i < figure.series.size(); ++i) {
    script += fmt::format("$series{} << END\n{}END\n", i, DataRows(figure, figure.series[i]));
  }
  std::string plots;
  const auto add = [&](const std::string& plot) { plots += (plots.empty() ? "" : ", ") + plot; };
  if (figure.diagonal) add(fmt::format("x with lines dt 2 lw 1 lc {} notitle", Colour(kInkRed)));
  for (size_t i = 0; i < figure.series.size(); ++i) add(PlotOf(figure.series[i], i));
  if (figure.vertical) {
    script += fmt::format(
        "set arrow 1 from {0:.9g}, graph 0 to {0:.9g}, graph 1 nohead dt 2 lw 1 "
        "lc {1}\n",
        *figure.vertical, Colour(kInkRed));
  }
  if (plots.empty()) plots = fmt::format("NaN with lines lc {} notitle", Colour(kInkRed));
  return script + "plot " + plots + "\n";
}

}  // namespace tandem::report

#include "report/figures/figure_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "text/width/display_width.h"

namespace tandem::report {
namespace {

// Series with at most so many points show each of them: of a run of two steps, a line alone says
// neither where its values are nor how many.
constexpr size_t kFewPoints = 12;

std::optional<Point> PlaceOf(const Point& point, const Places& places) {
  const std::optional<double> x = places.X(point[0]);
  const std::optional<double> y = places.Y(point[1]);
  if (!x || !y) return std::nullopt;
  return Point{*x, *y};
}

using Piece = std::vector<Point>;

// The points' places between interruptions. The line enters at the axis where the last of the
// points left of the axes is; on a linear axis it is cut there.
std::vector<Piece> PiecesOf(const Series& series, const Places& places, bool from_axis) {
  std::vector<Piece> pieces(1);
  std::optional<Point> before;
  const auto enter = [&] {
    if (before) pieces.back().push_back(*before);
    before.reset();
  };
  for (const Point& point : series.points) {
    // 0 has no place on a logarithmic axis, and lies left of all that have one.
    const bool is_left = from_axis && std::isfinite(point[0]) &&
                         places.X(point[0]).value_or(-HUGE_VAL) < places.area().left;
    const std::optional<double> y = places.Y(point[1]);
    const std::optional<Point> place = is_left ? std::nullopt : PlaceOf(point, places);
    if (is_left && y) {
      before = Point{places.area().left, *y};
    } else if (place) {
      enter();
      pieces.back().push_back(*place);
    } else {
      enter();
      pieces.emplace_back();
    }
  }
  enter();
  std::erase_if(pieces, [](const Piece& piece) { return piece.empty(); });
  return pieces;
}

// Narrows the part [from, to] of a stroke that starts at `start` and is `length` long in one
// direction to what lies in [low, high] (Liang and Barsky 1984).
void Narrow(double start, double length, double low, double high, double& from, double& to) {
  if (length == 0) {
    if (start < low || start > high) to = -1;
    return;
  }
  const double a = (low - start) / length;
  const double b = (high - start) / length;
  from = std::max(from, std::min(a, b));
  to = std::min(to, std::max(a, b));
}

bool IsInside(const Point& point, const PlotArea& area) {
  constexpr double kRounding = 1e-6;
  return point[0] >= area.left - kRounding && point[0] <= area.right + kRounding &&
         point[1] >= area.top - kRounding && point[1] <= area.bottom + kRounding;
}

std::string PointText(char command, double x, double y) {
  return fmt::format("{}{} {}", command, Coordinate(x), Coordinate(y));
}

// Adds the part of the stroke that lies in the area. `pen` is where the path ends.
void AddStroke(const Point& a, const Point& b, const PlotArea& area, std::optional<Point>& pen,
               std::string& path) {
  double from = 0;
  double to = 1;
  const double dx = b[0] - a[0];
  const double dy = b[1] - a[1];
  Narrow(a[0], dx, area.left, area.right, from, to);
  Narrow(a[1], dy, area.top, area.bottom, from, to);
  if (from > to) return;
  const Point start = from == 0 ? a : Point{a[0] + from * dx, a[1] + from * dy};
  const Point end = to == 1 ? b : Point{a[0] + to * dx, a[1] + to * dy};
  if (!pen || *pen != start) path += PointText('M', start[0], start[1]);
  path += PointText('L', end[0], end[1]);
  pen = end;
}

}  // namespace

std::string Coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string LinePath(const Series& series, const Places& places) {
  std::string path;
  for (const Piece& piece : PiecesOf(series, places, places.x_logarithmic())) {
    std::optional<Point> pen;
    for (size_t i = 1; i < piece.size(); ++i) {
      AddStroke(piece[i - 1], piece[i], places.area(), pen, path);
    }
  }
  return path;
}

std::vector<Point> Dots(const Series& series, const Places& places) {
  const std::vector<Piece> pieces = PiecesOf(series, places, false);
  size_t count = 0;
  for (const Piece& piece : pieces) count += piece.size();
  const bool all = series.mark == Mark::kPoints || series.mark == Mark::kLineAndPoints ||
                   (series.mark == Mark::kLine && count <= kFewPoints && !series.thin);
  std::vector<Point> dots;
  for (const Piece& piece : pieces) {
    if (all || piece.size() == 1) dots.insert(dots.end(), piece.begin(), piece.end());
  }
  std::erase_if(dots, [&](const Point& dot) { return !IsInside(dot, places.area()); });
  return dots;
}

namespace {

// One interval, lying or standing, from `low` to `high` along its axis at `across` on the other.
std::string IntervalPath(bool lies, double low, double high, double across, AxisRange axis) {
  constexpr double kCap = 3;
  std::string path;
  const auto stroke = [&](double from_along, double from_across, double to_along,
                          double to_across) {
    path += lies ? PointText('M', from_along, from_across) + PointText('L', to_along, to_across)
                 : PointText('M', from_across, from_along) + PointText('L', to_across, to_along);
  };
  if (low > high) std::swap(low, high);  // y grows upwards on the canvas
  if (high < axis.low || low > axis.high) return path;
  stroke(std::max(low, axis.low), across, std::min(high, axis.high), across);
  for (const double end : {low, high}) {
    if (end >= axis.low && end <= axis.high) stroke(end, across - kCap, end, across + kCap);
  }
  return path;
}

}  // namespace

std::string IntervalsPath(const Series& series, const Places& places, double aside) {
  const PlotArea& area = places.area();
  const bool lies = places.has_categories();
  std::string path;
  for (size_t i = 0; i < std::min(series.points.size(), series.intervals.size()); ++i) {
    const AxisRange& interval = series.intervals[i];
    const auto along = [&](double value) { return lies ? places.X(value) : places.Y(value); };
    const std::optional<double> low = along(interval.low);
    const std::optional<double> high = along(interval.high);
    const std::optional<double> across =
        lies ? places.Y(series.points[i][1]) : places.X(series.points[i][0]);
    if (!low || !high || !across) continue;
    path +=
        IntervalPath(lies, *low, *high, *across + aside,
                     lies ? AxisRange{area.left, area.right} : AxisRange{area.top, area.bottom});
  }
  return path;
}

namespace {

constexpr double kNameLine = 14;

double WidthOf(const PointName& name) {
  constexpr double kLetter = 6.8;
  return kLetter * static_cast<double>(text::DisplayWidth(name.text));
}

bool Overlap(const PointName& a, const PointName& b) {
  const auto span = [](const PointName& name) {
    return name.ends ? AxisRange{name.at[0] - WidthOf(name), name.at[0]}
                     : AxisRange{name.at[0], name.at[0] + WidthOf(name)};
  };
  constexpr double kRounding = 1e-6;
  return span(a).low <= span(b).high && span(b).low <= span(a).high &&
         std::abs(a.at[1] - b.at[1]) < kNameLine - kRounding;
}

// Moves a name by whole lines, down or up, to the nearest free place; where there is none it stays.
void PlaceName(PointName& name, const std::vector<PointName>& placed, const PlotArea& area) {
  const auto free = [&](const PointName& at) {
    return std::none_of(placed.begin(), placed.end(),
                        [&](const PointName& other) { return Overlap(at, other); });
  };
  const auto lines = static_cast<int>((area.bottom - area.top) / kNameLine);
  for (int line = 0; line <= lines; ++line) {
    for (const int direction : {1, -1}) {
      PointName moved = name;
      moved.at[1] += direction * line * kNameLine;
      const bool inside = moved.at[1] >= area.top && moved.at[1] <= area.bottom - kNameLine / 2;
      if ((line == 0 || inside) && free(moved)) {
        name = moved;
        return;
      }
    }
  }
}

}  // namespace

std::vector<PointName> NamesOfPoints(const Figure& figure, const Places& places) {
  constexpr double kAside = 7;
  const PlotArea& area = places.area();
  std::vector<PointName> names;
  for (const Series& series : figure.series) {
    for (size_t i = 0; i < std::min(series.points.size(), series.names.size()); ++i) {
      const std::optional<Point> place = PlaceOf(series.points[i], places);
      if (!place || !IsInside(*place, area) || series.names[i].empty()) continue;
      PointName name{*place, false, series.names[i]};
      name.ends = name.at[0] + kAside + WidthOf(name) > area.right;
      name.at[0] += name.ends ? -kAside : kAside;
      PlaceName(name, names, area);
      names.push_back(std::move(name));
    }
  }
  return names;
}

StepPaths StepsPath(const Series& series, const Places& places) {
  const PlotArea& area = places.area();
  const double ground = std::clamp(places.Y(0).value_or(area.bottom), area.top, area.bottom);
  StepPaths paths;
  for (const Piece& piece : PiecesOf(series, places, false)) {
    std::string strokes;
    for (size_t i = 0; i < piece.size(); ++i) {
      const double x = std::clamp(piece[i][0], area.left, area.right);
      const double y = std::clamp(piece[i][1], area.top, area.bottom);
      strokes +=
          i == 0 ? PointText('M', x, y) : fmt::format("H{}V{}", Coordinate(x), Coordinate(y));
    }
    const double begin = std::clamp(piece.front()[0], area.left, area.right);
    paths.outline += strokes;
    paths.fill += fmt::format("{}V{}H{}Z", strokes, Coordinate(ground), Coordinate(begin));
  }
  return paths;
}

}  // namespace tandem::report

// The geometry of a series on the canvas, cut at the rectangle between the axes.
#pragma once

#include <string>
#include <vector>

#include "report/figures/figure.h"
#include "report/figures/figure_layout.h"

namespace tandem::report {

// A coordinate with at most two decimals: "48", "120.5".
std::string Coordinate(double value);

// The `d` of a path through the points in their order, "" for a series without a line to draw. A
// point without a place interrupts the line. On a logarithmic axis, points left of its beginning
// become one there, with the last one's y.
std::string LinePath(const Series& series, const Places& places);

// Points that the series shows as dots: all of them where it is marked so or has few, else those
// that are alone between interruptions, which a line would not show.
std::vector<Point> Dots(const Series& series, const Places& places);

// The `d` of a path along the intervals of the series, with a short stroke at each end that is on
// the canvas; "" where it has none. `aside` moves all of it up (points beside categories).
std::string IntervalsPath(const Series& series, const Places& places, double aside);

// A name beside its point: where it is anchored, at its middle's height.
struct PointName {
  Point at = {};
  bool ends = false;  // the name ends there, left of its point, else it begins there
  std::string text;
};

// The names of points on the canvas. One that would lie over an earlier one moves by whole lines to
// the nearest free place; where there is none it stays.
std::vector<PointName> NamesOfPoints(const Figure& figure, const Places& places);

// A level stroke goes from each point to the next one's x, where the next level begins; `outline`
// joins them, `fill` encloses what lies between them and y = 0.
struct StepPaths {
  std::string outline;
  std::string fill;
};
StepPaths StepsPath(const Series& series, const Places& places);

}  // namespace tandem::report

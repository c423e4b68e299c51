// What gnuplot is told to draw.
#pragma once

#include <string>

#include "report/figures/figure.h"

namespace tandem::report {

// Where a figure's axes lie on its canvas, in the canvas' units from the left and the top.
struct PlotArea {
  double width = 0;
  double height = 0;
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
};
PlotArea AreaOf(const Figure& figure);

// Colours of the script. They stand for what the page decides; report/figures/figure_svg.h replaces
// them.
inline constexpr int kInkRed = 1;     // rgb(1, 1, 1): axes and words
inline constexpr int kFaintRed = 2;   // rgb(2, 1, 1): grid, diagonal and vertical line
inline constexpr int kFirstRed = 16;  // rgb(16 + i, 1, 1): the palette's colour i

// A script that reads nothing else: terminal, axes with ranges of their own, data, plot. Texts
// stand in single quotes, in which gnuplot replaces nothing. On a logarithmic axis, points left of
// its beginning become one there, with the last one's y.
std::string GnuplotScript(const Figure& figure);

}  // namespace tandem::report

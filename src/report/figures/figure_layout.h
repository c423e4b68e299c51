// Places the parts of a figure on its canvas, in the canvas' units from the left and the top.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/figures/figure.h"

namespace tandem::report {

// The canvas, and on it the rectangle between the axes.
struct PlotArea {
  double width = 0;
  double height = 0;
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
};
PlotArea AreaOf(const Figure& figure);

inline constexpr double kLegendRow = 18;  // the height of one series' row below the axes
double LegendTop(const PlotArea& area);

struct Tick {
  double value = 0;
  std::string label;
};
// Ticks at round numbers within the axis' range, on a logarithmic axis at powers of ten. Bars have
// their categories on the y axis.
std::vector<Tick> TicksOfX(const Figure& figure);
std::vector<Tick> TicksOfY(const Figure& figure);

// Says whether names of categories are too long to stand left of the axis: each then stands above
// its bar or points, which lie in the lower part of a higher row.
bool NamesStandAbove(const Figure& figure);

// Places of a figure's values.
class Places {
 public:
  explicit Places(const Figure& figure);

  const PlotArea& area() const { return area_; }
  // Returns nothing for a value that is not finite, or not above 0 on a logarithmic axis.
  std::optional<double> X(double value) const;
  std::optional<double> Y(double value) const;
  bool x_logarithmic() const { return x_logarithmic_; }
  bool has_categories() const { return down_; }

 private:
  PlotArea area_;
  AxisRange x_;
  AxisRange y_;
  bool x_logarithmic_;
  bool y_logarithmic_;
  bool down_;  // y grows downwards, as the categories of bars do
};

// The middle of the name of a category that stands above its bar.
double NameAbove(const Places& places, double category);

}  // namespace tandem::report

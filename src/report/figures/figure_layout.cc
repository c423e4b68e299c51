#include "report/figures/figure_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/width/display_width.h"

namespace tandem::report {
namespace {

constexpr double kWidth = 390;
constexpr double kLeft = 48;  // at least, for tick labels
constexpr double kLeftOfBars = 130;
constexpr double kRight = kWidth - 14;  // half of the last tick's label stands right of the axis
constexpr double kTop = 30;             // for the y axis' label, which stands above the axis
constexpr double kBottom = 42;          // for tick labels and the x axis' label
constexpr double kPlotHeight = 195;
constexpr double kBarHeight = 26;
constexpr double kLetter = 6.8;  // a digit's width in the font's size of 12
constexpr size_t kCategoryColumns = 30;
constexpr double kRowWithName = 38;  // of a bar with its name above it
constexpr size_t kCategoryAboveColumns = 52;
constexpr double kMostPowers = 6;  // ticks of a logarithmic axis

bool HasBars(const Figure& figure) { return !figure.categories.empty(); }

std::string TickLabel(double value) { return fmt::format("{:.6g}", value == 0 ? 0 : value); }

std::vector<Tick> LinearTicks(AxisRange range, int most) {
  const double distance = TickDistance(range.high - range.low, most);
  std::vector<Tick> ticks;
  // A tick that rounding puts a little outside of the range is in it.
  const auto first = static_cast<int64_t>(std::ceil(range.low / distance - 1e-6));
  const auto last = static_cast<int64_t>(std::floor(range.high / distance + 1e-6));
  for (int64_t i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * distance;
    ticks.push_back({value, TickLabel(value)});
  }
  return ticks;
}

std::vector<Tick> LogarithmicTicks(AxisRange range) {
  const double first = std::ceil(std::log10(range.low) - 1e-6);
  const double last = std::floor(std::log10(range.high) + 1e-6);
  const double distance = std::max(1.0, std::ceil((last - first) / kMostPowers));
  std::vector<Tick> ticks;
  for (double power = last; power >= first; power -= distance) {
    ticks.push_back({std::pow(10, power), TickLabel(std::pow(10, power))});
  }
  return ticks;
}

// The share of the axis that lies before the value.
std::optional<double> ShareBefore(double value, AxisRange range, bool logarithmic) {
  if (!std::isfinite(value) || (logarithmic && value <= 0)) return std::nullopt;
  if (!logarithmic) return (value - range.low) / (range.high - range.low);
  return std::log(value / range.low) / std::log(range.high / range.low);
}

// Ticks at the given values; a label that the one before it would touch is left out.
std::vector<Tick> MarkedTicks(const Axis& axis, AxisRange range, double width) {
  std::vector<Tick> ticks;
  double free_from = -HUGE_VAL;
  for (const double value : axis.marks) {
    const std::optional<double> share = ShareBefore(value, range, axis.logarithmic);
    if (!share || *share < -1e-6 || *share > 1 + 1e-6) continue;
    Tick tick{value, TickLabel(value)};
    const double half = kLetter * static_cast<double>(text::DisplayWidth(tick.label)) / 2;
    const double at = *share * width;
    if (at - half < free_from) {
      tick.label.clear();
    } else {
      free_from = at + half + kLetter;
    }
    ticks.push_back(std::move(tick));
  }
  return ticks;
}

double WidthOfLabels(const std::vector<Tick>& ticks) {
  size_t columns = 0;
  for (const Tick& tick : ticks) columns = std::max(columns, text::DisplayWidth(tick.label));
  return kLetter * static_cast<double>(columns);
}

}  // namespace

bool NamesStandAbove(const Figure& figure) {
  return std::any_of(figure.categories.begin(), figure.categories.end(),
                     [](const auto& name) { return text::DisplayWidth(name) > kCategoryColumns; });
}

std::vector<Tick> TicksOfX(const Figure& figure) {
  const AxisRange range = RangeOfX(figure);
  if (!figure.x.marks.empty()) {
    return MarkedTicks(figure.x, range, kRight - (HasBars(figure) ? kLeftOfBars : kLeft));
  }
  if (figure.x.logarithmic && !HasBars(figure)) return LogarithmicTicks(range);
  const bool beside = HasBars(figure) && !NamesStandAbove(figure);
  const double width = kRight - (beside ? kLeftOfBars : kLeft);
  std::vector<Tick> ticks;
  for (const int most : {kMostTicks, kMostTicks / 2, kMostTicks / 4}) {
    ticks = LinearTicks(range, most);
    const double needed = static_cast<double>(ticks.size()) * (WidthOfLabels(ticks) + 2 * kLetter);
    if (needed <= width) break;
  }
  return ticks;
}

namespace {

// Where the first of the words begins in which the texts differ.
size_t StartOfDifference(const std::vector<std::string_view>& texts) {
  size_t same = texts.front().size();
  for (const std::string_view text : texts) {
    const auto differ = std::mismatch(text.begin(), text.end(), texts.front().begin(),
                                      texts.front().begin() + static_cast<std::ptrdiff_t>(same));
    same = static_cast<size_t>(differ.first - text.begin());
  }
  const size_t blank = texts.front().substr(0, same).rfind(' ');
  return blank == std::string_view::npos ? 0 : blank + 1;
}

// The categories in at most `columns` columns each. Those that would look the same when their ends
// are cut off have their beginning, "…", and what they differ by.
std::vector<std::string> CategoryLabels(const std::vector<std::string>& categories,
                                        size_t columns) {
  std::map<std::string, std::vector<std::string_view>> alike;
  for (const std::string& name : categories) alike[text::CutToWidth(name, columns)].push_back(name);
  std::vector<std::string> labels;
  for (const std::string& name : categories) {
    std::string label = text::CutToWidth(name, columns);
    const std::vector<std::string_view>& names = alike.at(label);
    if (label != name && names.size() > 1) {
      const std::string_view end = std::string_view(name).substr(StartOfDifference(names));
      const std::string beginning(text::HeadOfWidth(name, columns / 3));
      label = text::CutToWidth(fmt::format("{}…{}", beginning, end), columns);
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

std::vector<Tick> TicksOfY(const Figure& figure) {
  if (!HasBars(figure)) {
    const AxisRange range = RangeOfY(figure);
    return figure.y.logarithmic ? LogarithmicTicks(range) : LinearTicks(range, kMostTicks);
  }
  const size_t columns = NamesStandAbove(figure) ? kCategoryAboveColumns : kCategoryColumns;
  std::vector<Tick> ticks;
  for (std::string& label : CategoryLabels(figure.categories, columns)) {
    ticks.push_back({static_cast<double>(ticks.size()), std::move(label)});
  }
  return ticks;
}

double NameAbove(const Places& places, double category) {
  constexpr double kAbove = 15;  // from a bar's middle to the middle of its name
  return places.Y(category).value_or(0) - kAbove;
}

namespace {

double HeightWithLegend(const Figure& figure, const PlotArea& area) {
  const auto named = std::count_if(figure.series.begin(), figure.series.end(),
                                   [](const Series& one) { return !LegendOf(one).empty(); });
  return LegendTop(area) + kLegendRow * static_cast<double>(named) + 4;
}

// The place of bars whose names stand above them: the whole width.
PlotArea AreaBelowNames(const Figure& figure) {
  PlotArea area{.width = kWidth, .left = 24, .right = kRight, .top = 4};
  area.bottom = area.top + kRowWithName * static_cast<double>(figure.categories.size());
  area.height = HeightWithLegend(figure, area);
  return area;
}

}  // namespace

PlotArea AreaOf(const Figure& figure) {
  const bool bars = HasBars(figure);
  if (NamesStandAbove(figure)) return AreaBelowNames(figure);
  const double labels = WidthOfLabels(TicksOfY(figure));
  PlotArea area{.width = kWidth,
                .left = std::max(bars ? kLeftOfBars : kLeft, labels + 14),
                .right = kRight,
                .top = bars ? 8 : kTop};
  area.bottom =
      area.top + (bars ? kBarHeight * static_cast<double>(figure.categories.size()) : kPlotHeight);
  area.height = HeightWithLegend(figure, area);
  return area;
}

double LegendTop(const PlotArea& area) { return area.bottom + kBottom + 2; }

Places::Places(const Figure& figure)
    : area_(AreaOf(figure)),
      x_(RangeOfX(figure)),
      y_(RangeOfY(figure)),
      x_logarithmic_(figure.x.logarithmic && !HasBars(figure)),
      y_logarithmic_(figure.y.logarithmic && !HasBars(figure)),
      down_(HasBars(figure)) {}

std::optional<double> Places::X(double value) const {
  const std::optional<double> share = ShareBefore(value, x_, x_logarithmic_);
  if (!share) return std::nullopt;
  return area_.left + *share * (area_.right - area_.left);
}

std::optional<double> Places::Y(double value) const {
  const std::optional<double> share = ShareBefore(value, y_, y_logarithmic_);
  if (!share) return std::nullopt;
  const double height = area_.bottom - area_.top;
  return down_ ? area_.top + *share * height : area_.bottom - *share * height;
}

}  // namespace tandem::report

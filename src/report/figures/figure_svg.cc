#include "report/figures/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "report/figures/figure_layout.h"
#include "report/figures/figure_marks.h"
#include "text/width/display_width.h"

namespace tandem::report {
namespace {

// The palette on white, where every colour has a contrast of at least 4.5; page.css has both the
// light and the dark one as variables. All are told apart by people who are colour-blind.
constexpr std::array<const char*, kColours> kLightPalette = {"#7a6a5d", "#1b63b0", "#b0480a",
                                                             "#0f7556", "#8a3f9c", "#6b6a00"};
constexpr const char* kLightGood = "#0d6b4f";
constexpr const char* kLightBad = "#a3262b";
constexpr const char* kLightInk = "#33322e";
constexpr const char* kLightFaint = "#e4e1da";

enum class Colours { kOfPage, kLight };

class SvgWriter {
 public:
  SvgWriter(const Figure& figure, Colours colours)
      : figure_(figure), places_(figure), area_(places_.area()), colours_(colours) {}

  std::string Write() {
    svg_.In("svg",
            {{"width", Coordinate(area_.width)},
             {"height", Coordinate(area_.height)},
             {"viewBox", fmt::format("0 0 {} {}", area_.width, area_.height)},
             {"font-family", "system-ui, sans-serif"},
             {"font-size", "12"},
             {"role", "img"},
             {"aria-labelledby", fmt::format("{0}-title {0}-desc", figure_.name)},
             {"data-plot", PlotText()}},
            [&] {
              svg_.Element("title", {{"id", figure_.name + "-title"}}, figure_.title);
              svg_.Element("desc", {{"id", figure_.name + "-desc"}}, figure_.description);
              if (colours_ == Colours::kLight) {
                Add("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
              }
              AddGridAndAxes();
              AddWords();
              AddThinLines();
              for (const Series& series : figure_.series) AddSeries(series);
              AddNamesAbove();
              AddNamesOfPoints();
              AddLegend();
            });
    return svg_.bytes();
  }

 private:
  std::string Ink() const { return colours_ == Colours::kOfPage ? "var(--figure-ink)" : kLightInk; }
  std::string Faint() const {
    return colours_ == Colours::kOfPage ? "var(--figure-faint)" : kLightFaint;
  }
  std::string ColourOf(const Series& series) const {
    if (series.tone != Tone::kPalette) {
      const bool good = series.tone == Tone::kGood;
      if (colours_ == Colours::kOfPage) return good ? "var(--good)" : "var(--bad)";
      return good ? kLightGood : kLightBad;
    }
    const size_t i = series.colour % kColours;
    return colours_ == Colours::kOfPage ? fmt::format("var(--figure-{})", i) : kLightPalette[i];
  }

  // Returns the data by which the page's script finds the value below the pointer.
  std::string PlotText() const {
    const AxisRange x = RangeOfX(figure_);
    return fmt::format("{:.6g} {:.6g} {:.6g} {:.6g} {:.9g} {:.9g} {}", area_.left, area_.right,
                       area_.top, area_.bottom, x.low, x.high,
                       places_.x_logarithmic() ? "log" : "linear");
  }

  void Add(std::string markup) { svg_.Add({std::move(markup)}); }

  void AddPath(const std::string& d, const std::string& colour, double width, bool dashed) {
    if (d.empty()) return;
    Add(fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>", d, colour,
                    width, dashed ? " stroke-dasharray=\"5 4\"" : ""));
  }

  void AddDot(const Point& at, const std::string& colour, double radius) {
    Add(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>", Coordinate(at[0]),
                    Coordinate(at[1]), radius, colour));
  }

  void AddBox(const Point& from, const Point& to, const std::string& colour) {
    Add(
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" "
                    "fill-opacity=\"0.75\"/>",
                    Coordinate(from[0]), Coordinate(from[1]), Coordinate(to[0] - from[0]),
                    Coordinate(to[1] - from[1]), colour));
  }

  // `y` is the middle of the word, `anchor` where `x` is in it: "start", "middle" or "end".
  void AddWord(double x, double y, const char* anchor, const std::string& word) {
    svg_.Element(
        "text",
        {{"x", Coordinate(x)}, {"y", Coordinate(y + 4)}, {"text-anchor", anchor}, {"fill", Ink()}},
        word);
  }

  bool HasBars() const { return !figure_.categories.empty(); }

  // Categories of bars need neither a grid nor marks on their axis.
  void AddGridAndAxes() {
    std::string grid;
    std::string axes;
    for (const Tick& tick : TicksOfX(figure_)) {
      const std::string x = Coordinate(places_.X(tick.value).value_or(area_.left));
      grid += fmt::format("M{} {}V{}", x, Coordinate(area_.top), Coordinate(area_.bottom));
      axes += fmt::format("M{} {}v4", x, Coordinate(area_.bottom));
    }
    for (const Tick& tick : HasBars() ? std::vector<Tick>{} : TicksOfY(figure_)) {
      const std::string y = Coordinate(places_.Y(tick.value).value_or(area_.bottom));
      grid += fmt::format("M{} {}H{}", Coordinate(area_.left), y, Coordinate(area_.right));
      axes += fmt::format("M{} {}h-4", Coordinate(area_.left), y);
    }
    axes += fmt::format("M{} {}V{}", Coordinate(area_.left), Coordinate(area_.top),
                        Coordinate(area_.bottom));
    if (!HasBars()) axes += "H" + Coordinate(area_.right);
    AddPath(grid, Faint(), 1, false);
    AddPath(axes, Ink(), 1, false);
  }

  void AddWords() {
    for (const Tick& tick : TicksOfX(figure_)) {
      // A long label at the axis' end moves to the left, where it is still on the canvas.
      const double half = 3.4 * static_cast<double>(tick.label.size());
      const double x = std::min(places_.X(tick.value).value_or(0), area_.width - 2 - half);
      AddWord(x, area_.bottom + 16, "middle", tick.label);
    }
    for (const Tick& tick : TicksOfY(figure_)) {
      if (NamesStandAbove(figure_)) break;
      AddWord(area_.left - 8, places_.Y(tick.value).value_or(0), "end", tick.label);
    }
    AddWord(area_.right, area_.bottom + 34, "end", figure_.x.label);
    if (!HasBars()) AddWord(4, 12, "start", figure_.y.label);
  }

  // Adds names that stand above bars, over the lines that cross them: the paper shows around
  // letters.
  void AddNamesAbove() {
    if (!NamesStandAbove(figure_)) return;
    for (const Tick& tick : TicksOfY(figure_)) {
      AddWordOverLines({area_.left + 4, NameAbove(places_, tick.value)}, "start", tick.label);
    }
  }

  void AddNamesOfPoints() {
    for (const PointName& name : NamesOfPoints(figure_, places_)) {
      AddWordOverLines(name.at, name.ends ? "end" : "start", name.text);
    }
  }

  void AddWordOverLines(const Point& at, const char* anchor, const std::string& word) {
    svg_.Element("text",
                 {{"x", Coordinate(at[0])},
                  {"y", Coordinate(at[1] + 4)},
                  {"text-anchor", anchor},
                  {"fill", Ink()},
                  {"stroke", colours_ == Colours::kOfPage ? "var(--panel)" : "#ffffff"},
                  {"stroke-width", "4"},
                  {"paint-order", "stroke"}},
                 word);
  }

  // The lines beside the data: where y = x, and at an x of note.
  void AddThinLines() {
    if (figure_.diagonal) {
      const double from = std::max(RangeOfX(figure_).low, RangeOfY(figure_).low);
      const double to = std::min(RangeOfX(figure_).high, RangeOfY(figure_).high);
      AddPath(LinePath({.points = {{from, from}, {to, to}}}, places_), Ink(), 1, true);
    }
    const std::optional<double> x = figure_.vertical ? places_.X(*figure_.vertical) : std::nullopt;
    if (x && *x >= area_.left && *x <= area_.right) {
      AddPath(
          fmt::format("M{} {}V{}", Coordinate(*x), Coordinate(area_.top), Coordinate(area_.bottom)),
          Ink(), 1, true);
    }
  }

  void AddSeries(const Series& series) {
    const std::string colour = ColourOf(series);
    if (series.mark == Mark::kBars) {
      AddBars(series);
    } else if (series.mark == Mark::kCells) {
      AddCells(series);
    } else if (series.mark == Mark::kSteps) {
      const StepPaths paths = StepsPath(series, places_);
      if (!series.thin) {
        Add(fmt::format("<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.15\"/>", paths.fill, colour));
      }
      AddPath(paths.outline, colour, 1.5, series.dashed);
    } else {
      if (series.mark != Mark::kPoints) {
        AddPath(LinePath(series, places_), colour, series.thin ? 1 : 2, series.dashed);
      }
      AddDots(series);
    }
    const std::string intervals = IntervalsPath(series, places_, AsideOf(series));
    if (intervals.empty()) return;
    Add(
        fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\" "
                    "stroke-opacity=\"0.7\"/>",
                    intervals, series.mark == Mark::kBars ? Ink() : colour));
  }

  // Points of several series beside one category stand below each other.
  double AsideOf(const Series& series) const {
    if (!HasBars() || series.mark == Mark::kBars) return 0;
    const auto n = static_cast<double>(figure_.series.size());
    const auto i = static_cast<double>(&series - figure_.series.data());
    const double room = NamesStandAbove(figure_) ? 12 : 20;
    return (i - (n - 1) / 2) * std::min(5.0, room / n);
  }

  void AddDots(const Series& series) {
    constexpr size_t kCloud = 60;  // points that are so many are small
    const bool alone = series.mark == Mark::kPoints;
    const double radius = !alone ? 2.5 : series.points.size() > kCloud ? 1.5 : 3.5;
    for (const Point& dot : Dots(series, places_)) {
      AddDot({dot[0], dot[1] + AsideOf(series)}, ColourOf(series), radius);
    }
  }

  void AddBars(const Series& series) {
    const double half = NamesStandAbove(figure_) ? 0.17 : 0.32;  // of a category's height
    for (const Point& bar : series.points) {
      const std::optional<double> end = places_.X(bar[0]);
      const double zero = std::clamp(places_.X(0).value_or(area_.left), area_.left, area_.right);
      const std::optional<double> top = places_.Y(bar[1] - half);
      const std::optional<double> bottom = places_.Y(bar[1] + half);
      if (!end || !top || !bottom) continue;
      const double other = std::clamp(*end, area_.left, area_.right);
      AddBox({std::min(zero, other), *top}, {std::max(zero, other), *bottom}, ColourOf(series));
    }
  }

  void AddCells(const Series& series) {
    double most = 0;
    for (const double shade : series.shades) most = std::max(most, shade);
    for (size_t i = 0; i < std::min(series.points.size(), series.shades.size()); ++i) {
      const auto [x, y] = series.points[i];
      const std::optional<double> left = places_.X(x - 0.5), right = places_.X(x + 0.5);
      const std::optional<double> top = places_.Y(y - 0.46), bottom = places_.Y(y + 0.46);
      if (!left || !right || !top || !bottom || most <= 0) continue;
      const double gap = std::min(1.0, (*right - *left) / 8);
      Add(fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" "
          "fill-opacity=\"{:.3f}\"/>",
          Coordinate(*left + gap), Coordinate(*top), Coordinate(*right - *left - 2 * gap),
          Coordinate(*bottom - *top), ColourOf(series), series.shades[i] / most));
    }
  }

  void AddLegend() {
    constexpr size_t kColumns = 48;  // that fit beside the sample
    double y = LegendTop(area_) + kLegendRow / 2;
    for (const Series& series : figure_.series) {
      if (LegendOf(series).empty()) continue;
      AddSample(series, y);
      AddWord(34, y, "start", text::CutToWidth(LegendOf(series), kColumns));
      y += kLegendRow;
    }
  }

  // Says how the series looks. A dot is larger than those of the data, so that its colour can be
  // seen.
  void AddSample(const Series& series, double y) {
    const std::string colour = ColourOf(series);
    if (series.mark == Mark::kBars) {
      AddBox({4, y - 5}, {26, y + 5}, colour);
    } else if (series.mark == Mark::kPoints) {
      AddDot({15, y}, colour, 4);
    } else {
      AddPath(fmt::format("M4 {}H26", Coordinate(y)), colour, series.mark == Mark::kSteps ? 1.5 : 2,
              series.dashed);
    }
  }

  const Figure& figure_;
  const Places places_;
  const PlotArea& area_;
  const Colours colours_;
  Html svg_;
};

}  // namespace

Markup InlineSvg(const Figure& figure) { return {SvgWriter(figure, Colours::kOfPage).Write()}; }

std::string SvgFile(const Figure& figure) {
  constexpr std::string_view kTag = "<svg";
  const std::string svg = SvgWriter(figure, Colours::kLight).Write();
  // The element needs no namespace in a page.
  return fmt::format("{} xmlns=\"http://www.w3.org/2000/svg\"{}\n", kTag, svg.substr(kTag.size()));
}

}  // namespace tandem::report

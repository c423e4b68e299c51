#include "report/figures/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <sstream>
#include <string>

#include "report/figures/figure_layout.h"
#include "report/figures/figure_marks.h"
#include "report/figures/figure_svg.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

Figure RocLike() {
  return {.name = "roc",
          .title = "ROC",
          .description = "Rates.",
          .x = {.label = "false-positive rate",
                .column = "false_positive_rate",
                .logarithmic = true,
                .low = 0.001,
                .high = 1},
          .y = {.label = "true-positive rate", .column = "true_positive_rate", .low = 0, .high = 1},
          .series = {{.name = "before", .points = {{0, 0.1}, {0.0001, 0.2}, {0.01, 0.5}, {1, 1}}},
                     {.name = "after", .points = {{0.002, 0.4}, {1, 1}}, .colour = 1}}};
}

Figure Bars() {
  return {.name = "time",
          .title = "Time",
          .x = {.label = "seconds", .column = "seconds"},
          .y = {.column = "part"},
          .series = {{.mark = Mark::kBars, .points = {{60, 0}, {12, 1}}}},
          .categories = {"steps", "it's <b>"}};
}

TEST(FigureTsv, HasARowForEachPoint) {
  EXPECT_EQ(FigureTsv(RocLike()),
            "series\tfalse_positive_rate\ttrue_positive_rate\n"
            "before\t0\t0.1\nbefore\t0.0001\t0.2\nbefore\t0.01\t0.5\nbefore\t1\t1\n"
            "after\t0.002\t0.4\nafter\t1\t1\n");
  EXPECT_EQ(FigureTsv(Bars()), "series\tseconds\tpart\n\t60\tsteps\n\t12\tit's <b>\n");
}

Figure Intervals() {
  Figure figure = RocLike();
  figure.x.logarithmic = false;
  figure.x.low = figure.x.high = figure.y.low = figure.y.high = std::nullopt;
  figure.series = {{.name = "a",
                    .mark = Mark::kLineAndPoints,
                    .points = {{1, 0.4}, {2, 0.6}},
                    .intervals = {{0.3, 0.5}, {-5, 5}}}};
  return figure;
}

TEST(FigureTsv, HasTheIntervals) {
  EXPECT_EQ(FigureTsv(Intervals()),
            "series\tfalse_positive_rate\ttrue_positive_rate\tlow\thigh\n"
            "a\t1\t0.4\t0.3\t0.5\na\t2\t0.6\t-5\t5\n");
}

TEST(FigureRange, AnIntervalLengthensItByNoMoreThanThePointsSpan) {
  const AxisRange range = RangeOfY(Intervals());
  EXPECT_NEAR(range.low, 0.2, 1e-9);
  EXPECT_NEAR(range.high, 0.8, 1e-9);
}

TEST(FigureMarks, AnIntervalIsCutAtTheFigureAndHasNoEndThere) {
  const Figure figure = Intervals();
  const Places places(figure);
  const std::string path = IntervalsPath(figure.series[0], places, 0);
  const PlotArea& area = places.area();
  EXPECT_THAT(path, HasSubstr(Coordinate(area.right) + " " + Coordinate(area.top) + "L" +
                              Coordinate(area.right) + " " + Coordinate(area.bottom)));
  // Three strokes for the first one, one for the second.
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 4);
}

TEST(FigureLayout, BarsBelowZeroBeginThere) {
  Figure figure = Bars();
  figure.series[0].points = {{-0.02, 0}, {0.05, 1}};
  EXPECT_LE(RangeOfX(figure).low, -0.02);
  const std::string svg = SvgFile(figure);
  const std::string zero = Coordinate(*Places(figure).X(0));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"" + zero + "\""));
}

TEST(FigureLayout, AnIntervalOfABarIsSeenToPassZero) {
  Figure figure = Bars();
  figure.series[0].points = {{0.08, 0}, {0.09, 1}};
  figure.series[0].intervals = {{-0.02, 0.18}, {0.08, 0.1}};
  EXPECT_LE(RangeOfX(figure).low, -0.02);
}

TEST(FigureLayout, LongNamesStandAboveTheirBars) {
  Figure figure = Bars();
  EXPECT_FALSE(NamesStandAbove(figure));
  figure.categories[0] = std::string(31, 'w');
  EXPECT_TRUE(NamesStandAbove(figure));
  EXPECT_THAT(SvgFile(figure), HasSubstr(">" + std::string(31, 'w') + "</text>"));
  EXPECT_LT(NameAbove(Places(figure), 0), *Places(figure).Y(0));
}

TEST(FigureLayout, MarksStandAtTheGivenValues) {
  Figure figure = RocLike();
  figure.x.low = 1e-5;
  figure.x.high = 1;
  figure.x.marks = {3e-5, 3.1e-5, 0.1};
  std::vector<std::string> labels;
  for (const Tick& tick : TicksOfX(figure)) labels.push_back(tick.label);
  EXPECT_THAT(labels, ElementsAre("3e-05", "", "0.1"));
}

TEST(FigureSvg, CellsAreShadedByTheirShareOfTheLargest) {
  Figure figure = Bars();
  figure.shade_column = "draws";
  figure.series = {{.mark = Mark::kCells, .points = {{0, 0}, {1, 1}}, .shades = {0.5, 2}}};
  EXPECT_EQ(FigureTsv(figure), "series\tseconds\tpart\tdraws\n\t0\tsteps\t0.5\n\t1\tit's <b>\t2\n");
  const std::string svg = SvgFile(figure);
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.250\""));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"1.000\""));
  EXPECT_EQ(RangeOfX(figure).low, -0.5);
  EXPECT_EQ(RangeOfX(figure).high, 1.5);
}

TEST(FigureSvg, TheLegendHasItsOwnWordsOrNone) {
  Figure figure = RocLike();
  figure.series[0].legend = "3 others";
  figure.series[1].legend = "";
  const std::string svg = SvgFile(figure);
  EXPECT_THAT(svg, HasSubstr(">3 others</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">after</text>")));
}

TEST(FigureTsv, KeepsNamesInOneCell) {
  Figure figure = RocLike();
  figure.series = {{.name = "a\tb\nc", .points = {{1, std::nan("")}}}};
  EXPECT_THAT(FigureTsv(figure), HasSubstr("\na b c\t1\t\n"));
}

TEST(FigureRange, IsThatOfThePointsOrTheOneAskedFor) {
  Figure figure = RocLike();
  EXPECT_EQ(RangeOfX(figure).low, 0.001);
  figure.x.low.reset();
  EXPECT_NEAR(RangeOfX(figure).low, 0.0001, 1e-12);  // 0 has no place on a logarithmic axis
  figure.x.logarithmic = false;
  figure.x.high.reset();
  EXPECT_EQ(RangeOfX(figure).low, 0);
  EXPECT_EQ(RangeOfX(figure).high, 1);
  figure.y.low.reset();
  figure.y.high.reset();
  EXPECT_EQ(RangeOfY(figure).low, 0);  // ends at ticks
  EXPECT_EQ(RangeOfY(figure).high, 1);
}

TEST(FigureRange, OfYIsFromTickToTick) {
  for (const double low : {-0.95, -0.81, -0.2, 0.31}) {
    for (const double high : {0.42, 0.79, 1.37, 20.0}) {
      const Figure figure{.series = {{.points = {{0, low}, {1, high}}}}};
      const std::vector<Tick> ticks = TicksOfY(figure);
      EXPECT_NEAR(ticks.front().value, RangeOfY(figure).low, 1e-9) << low << " to " << high;
      EXPECT_NEAR(ticks.back().value, RangeOfY(figure).high, 1e-9) << low << " to " << high;
    }
  }
}

TEST(FigureRange, IsNeverEmpty) {
  Figure figure = RocLike();
  figure.x = {};
  figure.y = {};
  for (const std::vector<Point>& points : {std::vector<Point>{},
                                           {{3, 3}},
                                           {{0, 0}},
                                           {{-2, -2}, {-2, -2}},
                                           {{std::nan(""), HUGE_VAL}}}) {
    figure.series = {{.points = points}};
    EXPECT_LT(RangeOfX(figure).low, RangeOfX(figure).high);
    EXPECT_LT(RangeOfY(figure).low, RangeOfY(figure).high);
    figure.x.logarithmic = true;
    EXPECT_GT(RangeOfX(figure).low, 0);
    EXPECT_LT(RangeOfX(figure).low, RangeOfX(figure).high);
    figure.x.logarithmic = false;
  }
}

std::vector<std::string> Labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks) labels.push_back(tick.label);
  return labels;
}

TEST(FigureTicks, AreRoundNumbersInTheRange) {
  Figure figure = RocLike();
  EXPECT_THAT(Labels(TicksOfX(figure)), UnorderedElementsAre("0.001", "0.01", "0.1", "1"));
  EXPECT_THAT(Labels(TicksOfY(figure)), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  figure.x = {.low = -0.3, .high = 0.45};
  EXPECT_THAT(Labels(TicksOfX(figure)),
              ElementsAre("-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3", "0.4"));
  figure.x = {.low = 0, .high = 700000};  // eight labels would touch each other
  EXPECT_THAT(Labels(TicksOfX(figure)), ElementsAre("0", "200000", "400000", "600000"));
  figure.x = {.low = 0, .high = 2};
  EXPECT_THAT(Labels(TicksOfX(figure)), ElementsAre("0", "0.5", "1", "1.5", "2"));
  figure.x = {.logarithmic = true, .low = 1e-12, .high = 1};
  EXPECT_THAT(Labels(TicksOfX(figure)),
              UnorderedElementsAre("1", "0.01", "0.0001", "1e-06", "1e-08", "1e-10", "1e-12"));
  EXPECT_THAT(Labels(TicksOfY(Bars())), ElementsAre("steps", "it's <b>"));
}

TEST(FigureLayout, HasRoomForTheLabels) {
  Figure figure = RocLike();
  EXPECT_EQ(AreaOf(figure).left, 48);
  figure.y = {.low = 0, .high = 0.00002};
  EXPECT_GT(AreaOf(figure).left, 55);
  const double height = AreaOf(figure).height;
  figure.series[0].name.clear();
  EXPECT_EQ(AreaOf(figure).height, height - kLegendRow);
}

TEST(FigureLayout, ValuesHavePlacesOnTheirAxes) {
  const Places places(RocLike());
  const PlotArea& area = places.area();
  EXPECT_EQ(places.X(0.001), area.left);
  EXPECT_EQ(places.X(1), area.right);
  EXPECT_NEAR(places.X(0.01).value(), area.left + (area.right - area.left) / 3, 1e-9);
  EXPECT_EQ(places.X(0), std::nullopt);
  EXPECT_EQ(places.X(std::nan("")), std::nullopt);
  EXPECT_EQ(places.Y(0), area.bottom);
  EXPECT_EQ(places.Y(1), area.top);
  const Places bars(Bars());
  EXPECT_LT(bars.Y(0).value(), bars.Y(1).value());  // the first on top
}

// A figure whose unit of x and y is 10 on the canvas, from (left, bottom) = (0, 0) to (10, 10).
Figure Plain(std::vector<Point> points, Mark mark = Mark::kLine) {
  return {.name = "plain",
          .x = {.low = 0, .high = 10},
          .y = {.low = 0, .high = 10},
          .series = {{.mark = mark, .points = std::move(points)}}};
}

// The path of the only series, as (x, y) of the figure.
std::string PathOf(const Figure& figure) { return LinePath(figure.series.front(), Places(figure)); }

std::string At(const Figure& figure, double x, double y) {
  const Places places(figure);
  return Coordinate(places.X(x).value()) + " " + Coordinate(places.Y(y).value());
}

TEST(LinePath, JoinsPointsLeftOfALogarithmicAxis) {
  const Figure figure = RocLike();
  EXPECT_EQ(PathOf(figure),
            "M" + At(figure, 0.001, 0.2) + "L" + At(figure, 0.01, 0.5) + "L" + At(figure, 1, 1));
}

TEST(LinePath, BreaksWhereANumberIsMissing) {
  const Figure figure = Plain({{0, 1}, {1, 2}, {2, std::nan("")}, {3, 3}, {4, 4}});
  EXPECT_EQ(PathOf(figure), "M" + At(figure, 0, 1) + "L" + At(figure, 1, 2) + "M" +
                                At(figure, 3, 3) + "L" + At(figure, 4, 4));
}

TEST(LinePath, IsCutAtTheAxes) {
  const Figure figure = Plain({{-5, 5}, {5, 5}, {5, 25}, {6, 25}, {6, 15}, {6, 2}});
  EXPECT_EQ(PathOf(figure), "M" + At(figure, 0, 5) + "L" + At(figure, 5, 5) + "L" +
                                At(figure, 5, 10) + "M" + At(figure, 6, 10) + "L" +
                                At(figure, 6, 2));
  EXPECT_EQ(PathOf(Plain({{-5, 5}, {-1, 5}})), "");
  EXPECT_EQ(PathOf(Plain({{-1, 9}, {1, 12}})), "");  // passes the corner outside
}

TEST(Dots, ShowSeriesOfFewPointsAndPointsThatNoLineShows) {
  const auto count = [](const Figure& figure) {
    return Dots(figure.series.front(), Places(figure)).size();
  };
  EXPECT_EQ(count(Plain({{1, 1}})), 1U);
  EXPECT_EQ(count(Plain({{1, 1}, {2, 2}})), 2U);
  std::vector<Point> many;
  for (int i = 0; i < 40; ++i) many.push_back({i * 0.1, 5});
  EXPECT_EQ(count(Plain(many)), 0U);
  EXPECT_EQ(count(Plain(many, Mark::kPoints)), 40U);
  EXPECT_EQ(count(Plain(many, Mark::kLineAndPoints)), 40U);
  many.insert(many.end(), {{6, std::nan("")}, {7, 7}, {8, std::nan("")}});
  EXPECT_EQ(count(Plain(many)), 1U);
  EXPECT_EQ(count(Plain({{1, 1}, {11, 1}, {1, -1}, {10, 10}}, Mark::kPoints)), 2U);
}

TEST(StepsPath, IsLevelFromEachXToTheNext) {
  const Figure figure = Plain({{1, 2}, {3, 4}, {5, 20}}, Mark::kSteps);
  const Places places(figure);
  const auto x = [&](double value) { return Coordinate(places.X(value).value()); };
  const auto y = [&](double value) { return Coordinate(places.Y(value).value()); };
  const StepPaths paths = StepsPath(figure.series.front(), places);
  EXPECT_EQ(paths.outline,
            "M" + x(1) + " " + y(2) + "H" + x(3) + "V" + y(4) + "H" + x(5) + "V" + y(10));
  EXPECT_EQ(paths.fill, paths.outline + "V" + y(0) + "H" + x(1) + "Z");
}

// A drawing as XML.
boost::property_tree::ptree Parsed(const std::string& svg) {
  std::istringstream text(svg);
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(text, tree);
  return tree;
}

// The contents of its elements of this name, or their attribute.
std::vector<std::string> Values(const std::string& svg, const std::string& name,
                                const std::string& attribute = "") {
  std::vector<std::string> values;
  const std::string path = attribute.empty() ? "" : "<xmlattr>." + attribute;
  const boost::property_tree::ptree tree = Parsed(svg);
  if (name == "svg") return {tree.get<std::string>("svg." + path)};
  for (const auto& [element, node] : tree.get_child("svg")) {
    if (element == name) values.push_back(node.get<std::string>(path));
  }
  return values;
}

TEST(InlineSvg, ColoursFollowThePageAndNothingRefersByIdOrStyle) {
  const std::string svg = InlineSvg(RocLike()).text;
  EXPECT_THAT(Values(svg, "path", "stroke"),
              testing::IsSupersetOf({"var(--figure-ink)", "var(--figure-faint)", "var(--figure-0)",
                                     "var(--figure-1)"}));
  EXPECT_THAT(svg, Not(HasSubstr("#")));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, Not(HasSubstr("style")));
  EXPECT_THAT(Values(svg, "title", "id"), ElementsAre("roc-title"));
  EXPECT_THAT(Values(svg, "desc", "id"), ElementsAre("roc-desc"));
  EXPECT_THAT(Values(svg, "svg", "aria-labelledby"), ElementsAre("roc-title roc-desc"));
  EXPECT_THAT(Values(svg, "svg", "role"), ElementsAre("img"));
  EXPECT_THAT(Values(svg, "svg", "data-plot"), ElementsAre("48 376 30 225 0.001 1 log"));
  EXPECT_THAT(Values(svg, "title"), ElementsAre("ROC"));
  EXPECT_THAT(Values(svg, "text"),
              testing::IsSupersetOf({"before", "after", "0.001", "false-positive rate"}));
}

TEST(SvgFile, HasColoursThatEveryProgramKnows) {
  const std::string file = SvgFile(RocLike());
  EXPECT_THAT(file, Not(HasSubstr("var(")));
  EXPECT_THAT(Values(file, "rect", "fill"), ElementsAre("#ffffff"));
  EXPECT_THAT(Values(file, "svg", "xmlns"), ElementsAre("http://www.w3.org/2000/svg"));
}

TEST(InlineSvg, EscapesTexts) {
  Figure figure = Bars();
  figure.title = "<script>";
  figure.series[0].name = "a \x01 \xFF & \"b\"";
  const std::string svg = InlineSvg(figure).text;
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(Values(svg, "text"),
              testing::IsSupersetOf({"steps", "it's <b>", "a ? \xEF\xBF\xBD & \"b\""}));
}

TEST(InlineSvg, CutsLongNames) {
  Figure figure = Bars();
  figure.categories[0] = figure.series[0].name = std::string(300, 'w');
  for (const std::string& word : Values(InlineSvg(figure).text, "text")) {
    EXPECT_LT(word.size(), 60U);
  }
}

TEST(InlineSvg, DrawsEveryMarkAndFiguresWithoutPoints) {
  for (const Mark mark : {Mark::kLine, Mark::kLineAndPoints, Mark::kPoints, Mark::kSteps}) {
    Figure figure = RocLike();
    figure.x = {};
    figure.diagonal = true;
    figure.vertical = 0.5;
    figure.series = {{.mark = mark, .points = {{0, 0.2}, {1, 1}}, .dashed = true, .colour = 5}};
    EXPECT_THAT(InlineSvg(figure).text, HasSubstr("var(--figure-5)"));
    figure.series[0].points.clear();
    EXPECT_THAT(InlineSvg(figure).text, HasSubstr("var(--figure-ink)"));
    figure.series.clear();
    figure.diagonal = false;
    EXPECT_THAT(Values(InlineSvg(figure).text, "title"), ElementsAre("ROC"));
  }
}

TEST(InlineSvg, DrawsBarsFromTheAxis) {
  const std::string svg = InlineSvg(Bars()).text;
  const Places places(Bars());
  EXPECT_THAT(Values(svg, "rect", "x"), testing::Each(Coordinate(places.area().left)));
  EXPECT_THAT(Values(svg, "rect", "width"),
              ElementsAre(Coordinate(places.X(60).value() - places.area().left),
                          Coordinate(places.X(12).value() - places.area().left)));
}

}  // namespace
}  // namespace tandem::report

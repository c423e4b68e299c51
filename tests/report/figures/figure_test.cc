#include "report/figures/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <pugixml.hpp>
#include <string>

#include "base/error.h"
#include "report/figures/figure_script.h"
#include "report/figures/figure_svg.h"
#include "report/figures/gnuplot.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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

TEST(GnuplotScript, JoinsPointsLeftOfALogarithmicAxis) {
  const std::string script = GnuplotScript(RocLike());
  EXPECT_THAT(script, HasSubstr("set logscale x"));
  EXPECT_THAT(script, HasSubstr("set xrange [0.001:1]"));
  EXPECT_THAT(script, HasSubstr("$series0 << END\n0.001\t0.2\n0.01\t0.5\n1\t1\nEND\n"));
  EXPECT_THAT(script, HasSubstr("$series1 << END\n0.002\t0.4\n1\t1\nEND\n"));
}

TEST(GnuplotScript, KeepsTextsInTheirQuotes) {
  Figure figure = RocLike();
  figure.series[0].name = "it's'\nsystem('id') `id` \xFF";
  EXPECT_THAT(GnuplotScript(figure), HasSubstr("title 'it''s'' system(''id'') `id` \xEF\xBF\xBD'"));
}

TEST(GnuplotScript, BreaksALineWhereANumberIsMissing) {
  Figure figure = RocLike();
  figure.x = {};
  figure.series = {{.points = {{0, 1}, {1, std::nan("")}, {2, 3}}}};
  EXPECT_THAT(GnuplotScript(figure), HasSubstr("0\t1\n\n2\t3\n"));
}

// The elements of a drawing by their names, and what the attribute of each says.
std::vector<std::string> Values(const std::string& svg, const char* query) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(svg.c_str()));
  std::vector<std::string> values;
  for (const pugi::xpath_node& node : document.select_nodes(query)) {
    values.push_back(node.attribute() ? node.attribute().value() : node.node().text().get());
  }
  return values;
}

TEST(DrawFigure, ColoursFollowThePageAndNothingRefersByIdOrStyle) {
  const DrawnFigure drawn = DrawFigure(RocLike());
  const std::string& svg = drawn.inlined.text;
  EXPECT_THAT(Values(svg, "//*[@stroke='var(--figure-0)']/@stroke"), Not(testing::IsEmpty()));
  EXPECT_THAT(Values(svg, "//*[@stroke='var(--figure-1)']/@stroke"), Not(testing::IsEmpty()));
  EXPECT_THAT(svg, HasSubstr("var(--figure-ink)"));
  EXPECT_THAT(svg, HasSubstr("var(--figure-faint)"));
  EXPECT_THAT(svg, Not(HasSubstr("rgb(")));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, Not(HasSubstr("style")));
  EXPECT_THAT(Values(svg, "//@id"), ElementsAre("roc-title", "roc-desc"));
  EXPECT_THAT(Values(svg, "/svg/@role"), ElementsAre("img"));
  EXPECT_THAT(Values(svg, "/svg/title"), ElementsAre("ROC"));
  EXPECT_THAT(Values(svg, "//text"),
              testing::IsSupersetOf({"before", "after", "0.001", "false-positive rate"}));
}

TEST(DrawFigure, TheFileHasColoursThatEveryProgramKnows) {
  const std::string file = DrawFigure(RocLike()).file;
  EXPECT_THAT(file, Not(HasSubstr("var(")));
  EXPECT_THAT(Values(file, "/svg/rect/@fill"), ElementsAre("#ffffff"));
  EXPECT_THAT(file, HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""));
}

TEST(DrawFigure, GivesTheSameBytesAgain) {
  EXPECT_EQ(DrawFigure(RocLike()).file, DrawFigure(RocLike()).file);
}

TEST(DrawFigure, EscapesTexts) {
  Figure figure = Bars();
  figure.title = "<script>";
  const std::string svg = DrawFigure(figure).inlined.text;
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(Values(svg, "//text"), testing::IsSupersetOf({"steps", "it's <b>"}));
}

TEST(DrawFigure, DrawsEveryMarkAndFiguresWithoutPoints) {
  for (const Mark mark : {Mark::kLine, Mark::kLineAndPoints, Mark::kPoints, Mark::kSteps}) {
    Figure figure = RocLike();
    figure.x = {};
    figure.diagonal = true;
    figure.vertical = 0.5;
    figure.series = {{.mark = mark, .points = {{0, 0.2}, {1, 1}}, .dashed = true, .colour = 5}};
    EXPECT_THAT(DrawFigure(figure).inlined.text, HasSubstr("var(--figure-5)"));
    figure.series[0].points.clear();
    EXPECT_THAT(DrawFigure(figure).inlined.text, HasSubstr("var(--figure-ink)"));
    figure.series.clear();
    figure.diagonal = false;
    EXPECT_THAT(DrawFigure(figure).inlined.text, HasSubstr("var(--figure-ink)"));
  }
}

TEST(FigureSvg, RefusesWhatGnuplotDoesNotDraw) {
  const auto drawn = [](const std::string& inner) {
    return "<svg><g id=\"gnuplot_canvas\"><rect/>" + inner + "</g></svg>";
  };
  const Figure figure = RocLike();
  EXPECT_NO_THROW(FigureSvg(figure, drawn("<path d='M0,0'/>"), Colours::kLight));
  EXPECT_THROW(FigureSvg(figure, drawn("<script>1</script>"), Colours::kLight), Error);
  EXPECT_THROW(FigureSvg(figure, drawn("<use xlink:href='#other'/>"), Colours::kLight), Error);
  EXPECT_THROW(FigureSvg(figure, drawn("<path stroke='rgb(99,1,1)'/>"), Colours::kLight), Error);
  EXPECT_THROW(FigureSvg(figure, "<svg>", Colours::kLight), Error);
  EXPECT_THAT(FigureSvg(figure, drawn("<path d='M0,0' onclick='x' style='y'/>"), Colours::kLight),
              Not(testing::AnyOf(HasSubstr("onclick"), HasSubstr("style"))));
}

TEST(RunGnuplot, SaysWhatIsMissing) {
  try {
    RunGnuplot("", "no-such-gnuplot");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("apt-get install gnuplot-nox"));
  }
}

TEST(RunGnuplot, PassesOnWhatGnuplotSays) {
  try {
    RunGnuplot("plot nothing_of_the_kind\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kInternal);
    EXPECT_THAT(error.what(), HasSubstr("nothing_of_the_kind"));
  }
}

TEST(RunGnuplot, EndsWhereTheProgramReadsNothing) {
  // More than a pipe holds, to a program that ends without reading it.
  EXPECT_THROW(RunGnuplot(std::string(4 << 20, '#'), "false"), Error);
}

}  // namespace
}  // namespace tandem::report

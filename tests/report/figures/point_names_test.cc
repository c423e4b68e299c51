// Names beside the points of a figure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "report/figures/figure.h"
#include "report/figures/figure_layout.h"
#include "report/figures/figure_marks.h"
#include "report/figures/figure_svg.h"

namespace tandem::report {
namespace {

Figure Empty() {
  return {.name = "border",
          .title = "Border",
          .description = "Models.",
          .x = {.label = "x", .column = "x", .low = 0, .high = 1},
          .y = {.label = "y", .column = "y", .low = 0, .high = 1},
          .series = {}};
}

// The second name has no room on its point's right, the third would lie over the first, and of the
// last there are more than have room.
TEST(PointNames, StandBesideTheirPointsAndNotOnEachOther) {
  Figure figure = Empty();
  figure.series = {{.mark = Mark::kPoints,
                    .points = {{0.1, 0.5}, {0.95, 0.5}, {0.1, 0.49}},
                    .names = {"trial 1", "0.5 of trial 1", "<trial>"}}};
  EXPECT_EQ(FigureTsv(figure),
            "series\tx\ty\tname\n\t0.1\t0.5\ttrial 1\n"
            "\t0.95\t0.5\t0.5 of trial 1\n\t0.1\t0.49\t<trial>\n");
  const Places places(figure);
  const std::vector<PointName> names = NamesOfPoints(figure, places);
  ASSERT_EQ(names.size(), 3U);
  EXPECT_FALSE(names[0].ends);
  EXPECT_GT(names[0].at[0], places.X(0.1).value());
  EXPECT_TRUE(names[1].ends);
  EXPECT_LT(names[1].at[0], places.X(0.95).value());
  EXPECT_EQ(names[1].at[1], names[0].at[1]);
  EXPECT_NEAR(names[2].at[1] - places.Y(0.49).value(), 14, 1e-9);
  const std::string svg = InlineSvg(figure).text;
  for (const char* name : {">trial 1<", ">0.5 of trial 1<", ">&lt;trial&gt;<"}) {
    EXPECT_THAT(svg, testing::HasSubstr(name));
  }
  Series& series = figure.series.front();
  series.points.assign(50, {0.1, 0.5});
  series.names.assign(50, "trial 1");
  size_t inside = 0;
  for (const PointName& name : NamesOfPoints(figure, places)) {
    inside += name.at[1] >= places.area().top && name.at[1] <= places.area().bottom ? 1 : 0;
  }
  EXPECT_EQ(inside, 50U);
}

// Two names a line apart, whose distance is a rounding below a line, do not lie over each other.
TEST(PointNames, FindAPlaceWhereverTheirPointsAre) {
  Figure figure = Empty();
  for (int step = 0; step < 400; ++step) {
    const double y = 0.9 - step * 0.0019;
    figure.series = {{.mark = Mark::kPoints,
                      .points = {{0.2, y}, {0.2, y}, {0.21, y - 0.001}, {0.2, y}},
                      .names = {"trial 1", "trial 2", "trial 3", "trial 4"}}};
    const std::vector<PointName> names = NamesOfPoints(figure, Places(figure));
    for (size_t i = 0; i < names.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        EXPECT_GT(std::abs(names[i].at[1] - names[j].at[1]), 12) << y;
      }
    }
  }
}

}  // namespace
}  // namespace tandem::report

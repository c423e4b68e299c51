// The names of bars, cut to their places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/figures/figure.h"
#include "report/figures/figure_layout.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;

TEST(FigureLayout, NamesThatBeginAlikeAreCutWhereTheyDoNotDiffer) {
  const std::string same =
      "infonce, optimizer.learning_rate = 0.0001, objective.temperature = 0.05, ";
  Figure figure{.series = {{.mark = Mark::kBars}}};
  figure.categories = {same + "seed a", same + "seed b", "bixse, " + std::string(60, 'w'), "short"};
  std::vector<std::string> labels;
  for (const Tick& tick : TicksOfY(figure)) labels.push_back(tick.label);
  EXPECT_THAT(labels, ElementsAre("infonce, optimize…a", "infonce, optimize…b",
                                  "bixse, " + std::string(44, 'w') + "…", "short"));
}

}  // namespace
}  // namespace tandem::report

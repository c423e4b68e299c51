#include "train/step/false_negatives.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <vector>

namespace tandem::train {
namespace {

// Own documents score 0.8 and -0.5 (column 1 of row 1).
struct Demo {
  at::Tensor scores = at::tensor({0.8, 0.75, 0.9, -0.5, 0.79, -0.5, -0.52, -0.6}, at::kDouble)
                          .reshape({2, 4})
                          .requires_grad_(true);
  objective::Labels labels;

  Demo() {
    labels.positive = at::tensor({0, 1}, at::kLong);
    labels.negative = at::tensor({0, 1, 1, 1, 1, 0, 1, 1}, at::kLong).reshape({2, 4}).to(at::kBool);
  }
  std::vector<int> Cells() const {
    std::vector<int> cells;
    for (int i = 0; i < 8; ++i) cells.push_back(labels.negative[i / 4][i % 4].item<bool>());
    return cells;
  }
};

using Cells = std::vector<int>;

TEST(FalseNegatives, OffByDefault) {
  Demo demo;
  const at::Tensor before = demo.labels.negative;
  EXPECT_EQ(FilterFalseNegatives(demo.scores, {}, demo.labels), 0);
  EXPECT_TRUE(demo.labels.negative.is_same(before));
  EXPECT_FALSE(FalseNegativeRulesOf(config::MaskRecipe()).enabled());
}

TEST(FalseNegatives, EachBoundTakesWhatIsAboveIt) {
  const auto filtered = [](const FalseNegativeRules& rules, int64_t count) {
    Demo demo;
    EXPECT_EQ(FilterFalseNegatives(demo.scores, rules, demo.labels), count);
    return demo.Cells();
  };
  EXPECT_EQ(filtered({.score = 0.77}, 2), (Cells{0, 1, 0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(filtered({.score = 0.79}, 1), (Cells{0, 1, 0, 1, 1, 0, 1, 1}));  // strictly above
  EXPECT_EQ(filtered({.absolute_margin = 0.1}, 4), (Cells{0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(filtered({.relative_margin = 0.05}, 3), (Cells{0, 1, 0, 1, 0, 0, 0, 1}));
  // With several bounds, the lowest one decides.
  EXPECT_EQ(filtered({.score = 0.85, .relative_margin = 0}, 2), (Cells{0, 1, 0, 1, 0, 0, 1, 1}));
}

TEST(FalseNegatives, LeavesTheCallersMaskAlone) {
  Demo demo;
  objective::Labels copy = demo.labels;
  FilterFalseNegatives(demo.scores, {.score = -1}, copy);
  EXPECT_EQ(demo.Cells(), (Cells{0, 1, 1, 1, 1, 0, 1, 1}));
}

}  // namespace
}  // namespace tandem::train

#include "train/step/false_negatives.h"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/core/values.h"

namespace tandem::train {
namespace {

// Own documents score 0.8 and -0.5 (column 1 of row 1).
struct Demo {
  tensor::Tensor scores = tensor::Doubles({2, 4}, {0.8, 0.75, 0.9, -0.5, 0.79, -0.5, -0.52, -0.6})
                              .set_requires_grad(true);
  objective::Labels labels;

  Demo() {
    labels.positive = tensor::Of<int64_t>({2}, {0, 1});
    labels.negative = tensor::Of<bool>({2, 4}, {false, true, true, true, true, false, true, true});
  }
  std::vector<int> Cells() const {
    const bool* cell = labels.negative.data_ptr<bool>();
    return std::vector<int>(cell, cell + labels.negative.numel());
  }
};

using Cells = std::vector<int>;

TEST(FalseNegatives, OffByDefault) {
  Demo demo;
  const tensor::Tensor before = demo.labels.negative;
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

#include "train/step/same_tower_filter.h"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/core/values.h"

namespace tandem::train {
namespace {

using MaskCells = std::vector<int>;

MaskCells TowerCells(const tensor::Tensor& mask) {
  const bool* cell = mask.data_ptr<bool>();
  return {cell, cell + mask.numel()};
}

// Three queries; the mask takes the first two for one query text.
struct TowerDemo {
  objective::Scores scores{
      .query_document = tensor::Doubles({1}, {9}),
      .query_query = tensor::Doubles({3, 3}, {1, 0.95, 0.9, 0.95, 1, 0.2, 0.9, 0.2, 1})
                         .set_requires_grad(true),
      .document_document = tensor::Doubles({3, 3}, {1, 0.91, 0.3, 0.91, 1, 0.5, 0.3, 0.5, 1})};
  objective::Labels labels;

  TowerDemo() {
    labels.query_negative = tensor::Of<bool>({3, 3}, {0, 0, 1, 0, 0, 1, 1, 1, 0});
    labels.document_negative = tensor::Of<bool>({3, 3}, {0, 1, 1, 1, 0, 1, 1, 1, 0});
  }
};

TEST(SameTowerFilter, TakesAllowedCellsOfBothTowersThatAreAboveAndCountsThem) {
  TowerDemo demo;
  const objective::Labels before = demo.labels;
  EXPECT_EQ(FilterSameTower(demo.scores, 0.85, demo.labels), 4);
  EXPECT_EQ(TowerCells(demo.labels.query_negative), (MaskCells{0, 0, 0, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(TowerCells(demo.labels.document_negative), (MaskCells{0, 0, 1, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(TowerCells(before.query_negative), (MaskCells{0, 0, 1, 0, 0, 1, 1, 1, 0}));
}

TEST(SameTowerFilter, AScoreAtTheBoundStays) {
  TowerDemo demo;
  EXPECT_EQ(FilterSameTower(demo.scores, 0.91, demo.labels), 0);
  EXPECT_EQ(TowerCells(demo.labels.document_negative), (MaskCells{0, 1, 1, 1, 0, 1, 1, 1, 0}));
}

TEST(SameTowerFilter, MasksWithoutScoresStay) {
  TowerDemo demo;
  demo.scores.document_document = {};
  EXPECT_EQ(FilterSameTower(demo.scores, -1, demo.labels), 4);
  EXPECT_EQ(TowerCells(demo.labels.query_negative), MaskCells(9, 0));
  EXPECT_EQ(TowerCells(demo.labels.document_negative), (MaskCells{0, 1, 1, 1, 0, 1, 1, 1, 0}));
}

}  // namespace
}  // namespace tandem::train

// Isotonic regression: eval/calibration/calibration.h says what it finds.
#include <algorithm>
#include <vector>

#include "eval/calibration/calibration.h"
#include "eval/calibration/labelled_sums.h"

namespace tandem::eval {
namespace {

// Neighbouring scores that share a value.
struct Block {
  double first_score, last_score;
  double weighted_labels;
  double weight;
  double value() const { return weighted_labels / weight; }
};

// One block for each score, in ascending order.
std::vector<Block> BlocksOf(std::span<const LabelledScore> labelled) {
  std::vector<LabelledScore> sorted(labelled.begin(), labelled.end());
  // Sums must not depend on the order in which equal scores came, hence the further keys.
  std::sort(sorted.begin(), sorted.end(), [](const LabelledScore& a, const LabelledScore& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.label != b.label ? a.label < b.label : a.weight < b.weight;
  });
  std::vector<Block> blocks;
  for (const LabelledScore& one : sorted) {
    if (blocks.empty() || blocks.back().first_score != one.score) {
      blocks.push_back({one.score, one.score, 0, 0});
    }
    blocks.back().weighted_labels += one.weight * one.label;
    blocks.back().weight += one.weight;
  }
  return blocks;
}

}  // namespace

IsotonicMap FitIsotonic(std::span<const LabelledScore> labelled) {
  SumLabels(labelled);
  std::vector<Block> pooled;
  for (Block block : BlocksOf(labelled)) {
    while (!pooled.empty() && pooled.back().value() >= block.value()) {
      block.first_score = pooled.back().first_score;
      block.weighted_labels += pooled.back().weighted_labels;
      block.weight += pooled.back().weight;
      pooled.pop_back();
    }
    pooled.push_back(block);
  }
  IsotonicMap map;
  const auto keep = [&map](double score, double probability) {
    map.scores.push_back(score);
    map.probabilities.push_back(probability);
  };
  for (const Block& block : pooled) {
    const double probability = std::clamp(block.value(), 0.0, 1.0);
    keep(block.first_score, probability);
    if (block.last_score != block.first_score) keep(block.last_score, probability);
  }
  return map;
}

}  // namespace tandem::eval

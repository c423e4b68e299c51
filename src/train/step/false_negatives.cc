#include "train/step/false_negatives.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "tensor/core/device_memory.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"

namespace tandem::train {
namespace {

// The cells that a thread looks at are at least so many.
constexpr int64_t kCellsOfThread = 32768;

// Returns the highest score that a negative may have, for a paired document of score `own`.
double BoundOf(const FalseNegativeRules& rules, double own) {
  double bound = rules.score.value_or(INFINITY);
  if (rules.absolute_margin) bound = std::min(bound, own - *rules.absolute_margin);
  if (rules.relative_margin) {
    bound = std::min(bound, own - std::abs(own) * *rules.relative_margin);
  }
  return bound;
}

}  // namespace

FalseNegativeRules FalseNegativeRulesOf(const config::MaskRecipe& recipe) {
  return {.score = recipe.false_negative_score,
          .absolute_margin = recipe.false_negative_absolute_margin,
          .relative_margin = recipe.false_negative_relative_margin};
}

int64_t FilterFalseNegatives(const tensor::Tensor& query_document, const FalseNegativeRules& rules,
                             objective::Labels& labels) {
  if (!rules.enabled()) return 0;
  const tensor::Tensor scores = tensor::OnCpu(query_document.detach());
  const int64_t queries = scores.size(0), documents = scores.size(1);
  const tensor::Tensor left = tensor::Empty({queries, documents}, tensor::kBool);
  std::atomic<int64_t> removed = 0;
  const auto filter_row = [&](int64_t query) {
    const auto* score = scores.data_ptr<double>() + query * documents;
    const bool* before = labels.negative.data_ptr<bool>() + query * documents;
    bool* after = left.data_ptr<bool>() + query * documents;
    const double bound = BoundOf(rules, score[labels.positive.data_ptr<int64_t>()[query]]);
    int64_t too_high = 0;
    for (int64_t d = 0; d < documents; ++d) {
      after[d] = before[d] && !(score[d] > bound);
      too_high += before[d] != after[d] ? 1 : 0;
    }
    removed += too_high;
  };
  tensor::ParallelFor(0, queries, kCellsOfThread / std::max<int64_t>(1, documents) + 1,
                      [&](int64_t first, int64_t past) {
                        for (int64_t query = first; query < past; ++query) filter_row(query);
                      });
  labels.negative = left;
  return removed;
}

}  // namespace tandem::train

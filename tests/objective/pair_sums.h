// Pairs of positives and negatives for tests and benchmarks of the Mann-Whitney loss.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "objective/losses/mann_whitney/mann_whitney_pairs.h"

namespace tandem::objective {

// A batch that has just these scores: query i's paired document is column 0, a negative column 1.
class PairBatch {
 public:
  PairBatch(std::vector<double> positives, std::span<const double> negatives)
      : positives_(std::move(positives)),
        scores_(positives_.size() + negatives.size()),
        gradient_(scores_.size()),
        negative_(std::make_unique<bool[]>(scores_.size())) {
    // One row is enough for any number of positives and negatives; nothing here reads paired
    // documents from it.
    std::copy(negatives.begin(), negatives.end(), scores_.begin());
    std::fill_n(negative_.get(), negatives.size(), true);
    batch_ = {.queries = 1,
              .documents = static_cast<int64_t>(scores_.size()),
              .query_document = scores_.data(),
              .negative = negative_.get()};
  }

  PairTask Task(double temperature, int threads = 1) {
    batch_.threads = threads;
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    return {.batch = batch_,
            .positives = positives_,
            .temperature = temperature,
            .weights = weights,
            .own = positives_.size(),
            .cell_gradient = gradient_.data(),
            .slope_factor = 1};
  }
  // The weights of the first positives; none: all weigh 1.
  std::vector<double> weights;

  // The gradients of the negatives, in their order, once a sum was taken.
  const std::vector<double>& negative_slopes() const { return gradient_; }

 private:
  std::vector<double> positives_;
  std::vector<double> scores_;
  std::vector<double> gradient_;
  std::unique_ptr<bool[]> negative_;
  Batch batch_;
};

}  // namespace tandem::objective

#include "eval/views/similarity_ratio.h"

#include <cmath>

#include "base/random.h"

namespace tandem::eval {
namespace {

// Takes the pairs one by one.
class RatioSums {
 public:
  RatioSums(const UnitRows& queries, const UnitRows& positives)
      : queries_(queries), positives_(positives) {}

  void Add(size_t i, size_t j) {
    const double numerator = Dot(queries_.row(i), queries_.row(j));
    const double denominator = Dot(queries_.row(i), positives_.row(j));
    query_query_ += numerator;
    query_positive_ += denominator;
    ++pairs_;
    if (std::abs(denominator) < kLeastRatioDenominator) {
      ++result_.left_out;
    } else {
      result_.ratios.push_back(numerator / denominator);
    }
  }

  SimilarityRatios Take() {
    if (pairs_ > 0) {
      result_.mean_query_query = query_query_ / static_cast<double>(pairs_);
      result_.mean_query_positive = query_positive_ / static_cast<double>(pairs_);
    }
    return std::move(result_);
  }

 private:
  const UnitRows& queries_;
  const UnitRows& positives_;
  double query_query_ = 0;
  double query_positive_ = 0;
  size_t pairs_ = 0;
  SimilarityRatios result_;
};

}  // namespace

SimilarityRatios RatiosOf(const UnitRows& queries, const UnitRows& positives,
                          const RatioOptions& options) {
  const size_t rows = queries.size();
  RatioSums sums(queries, positives);
  if (rows < 2) return sums.Take();
  if (rows * (rows - 1) <= options.draws) {
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < rows; ++j) {
        if (i != j) sums.Add(i, j);
      }
    }
    return sums.Take();
  }
  RandomStream random({.seed = options.seed, .purpose = "similarity ratio"});
  for (size_t draw = 0; draw < options.draws; ++draw) {
    const size_t i = random.Below(rows);
    const size_t other = random.Below(rows - 1);
    sums.Add(i, other < i ? other : other + 1);
  }
  return sums.Take();
}

}  // namespace tandem::eval

#include "search/scoring/score_counts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/random.h"
#include "search/retrieval/exact.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::search {
namespace {

// Whole numbers of small size, so that products are exact and many scores are equal.
tensor::Tensor WholeNumbers(int64_t rows, int64_t width, uint64_t seed) {
  RandomStream stream({.seed = seed, .purpose = "whole numbers"});
  std::vector<double> numbers;
  for (int64_t i = 0; i < rows * width; ++i) {
    numbers.push_back(static_cast<double>(stream.Below(7)) - 3);
  }
  return MakeTensor({rows, width}, numbers);
}

tensor::Tensor Ones(const tensor::Shape& shape) { return tensor::Full(shape, 1, tensor::kFloat); }

std::vector<uint32_t> CountAll(const tensor::Tensor& queries, const tensor::Tensor& documents,
                               const std::vector<float>& thresholds) {
  const tensor::Tensor scores = tensor::ProductTransposed(queries, documents);
  std::vector<uint32_t> counts;
  for (int64_t q = 0; q < scores.size(0); ++q) {
    const float* row = scores.data_ptr<float>() + q * scores.size(1);
    for (const float threshold : thresholds) {
      uint32_t count = 0;
      for (int64_t d = 0; d < scores.size(1); ++d) count += row[d] >= threshold;
      counts.push_back(count);
    }
  }
  return counts;
}

TEST(ScoreCounts, CountsDocumentsThatScoreAtLeastAThreshold) {
  const tensor::Tensor queries = WholeNumbers(131, 8, 1), documents = WholeNumbers(2500, 8, 2);
  for (const std::vector<float>& thresholds :
       {std::vector<float>{-4, 0, 3, 7, 30}, {2.5F}, {-100, 100}, {100}}) {
    ScoreCounts counts(queries, thresholds);
    counts.Add(documents.narrow(0, 0, 1500));
    counts.Add(documents.narrow(0, 1500, 1000));
    EXPECT_EQ(counts.Take(), CountAll(queries, documents, thresholds));
  }
}

// A threshold that is a score counts its document: both passes make the same bits of it.
TEST(ScoreCounts, ScoresAreThoseOfTheSearch) {
  const tensor::Tensor queries = RandomTensor({70, 48}, 3), documents = RandomTensor({1300, 48}, 4);
  data::Texts texts;
  for (int d = 0; d < 1300; ++d) texts.Add(std::to_string(d), "");
  constexpr size_t kDepth = 40;
  ExactSearch search(queries, kDepth, texts);
  search.Add(documents);
  const std::vector<QueryHits> found = search.Take();
  std::set<float> scores;
  for (const QueryHits& hits : found) scores.insert(hits.hits.back().score);
  const std::vector<float> thresholds(scores.begin(), scores.end());
  ScoreCounts counts(queries, thresholds);
  counts.Add(documents);
  const std::vector<uint32_t> counted = counts.Take();
  for (size_t q = 0; q < 70; ++q) {
    const auto at = scores.find(found[q].hits.back().score);
    EXPECT_EQ(
        counted[q * thresholds.size() + static_cast<size_t>(std::distance(scores.begin(), at))],
        kDepth);
  }
}

TEST(ScoreCounts, WithoutThresholdsItCountsNothing) {
  ScoreCounts counts(Ones({3, 2}), {});
  counts.Add(Ones({5, 2}));
  EXPECT_TRUE(counts.Take().empty());
}

TEST(ScoreCounts, RefusesWhatItCannotCount) {
  EXPECT_THROW(ScoreCounts(Ones({1, 2}), {1, 1}), std::logic_error);
  EXPECT_THROW(ScoreCounts(Ones({1, 2}), {2, 1}), std::logic_error);
  ScoreCounts counts(Ones({1, 2}), {1});
  EXPECT_THROW(
      counts.Add(tensor::Full({4, 2}, std::numeric_limits<float>::quiet_NaN(), tensor::kFloat)),
      NumericError);
}

}  // namespace
}  // namespace tandem::search

#include "search/scoring/score_counts.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "search/scoring/score_tile.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/kernels/cpu/rows/score_rows.h"

namespace tandem::search {
// The tiles are those of ExactSearch, so that scores are the same.

ScoreCounts::ScoreCounts(const tensor::Tensor& queries, std::vector<float> thresholds)
    : queries_(queries), thresholds_(std::move(thresholds)) {
  // adjacent_find finds a pair that is not strictly ascending.
  if (std::adjacent_find(thresholds_.begin(), thresholds_.end(), std::greater_equal<>()) !=
      thresholds_.end()) {
    throw std::logic_error("thresholds of ScoreCounts ascend");
  }
  counts_.resize(static_cast<size_t>(queries.size(0)) * thresholds_.size());
}

void ScoreCounts::CountTile(const float* scores, size_t first_query, size_t queries,
                            size_t documents) {
  for (size_t q = 0; q < queries; ++q) {
    const float* row = scores + q * documents;
    if (!tensor::cpu::AllFinite(row, documents)) {
      throw NumericError(
          "a score of the search is not finite, so the model's embeddings are not: its weights are "
          "broken");
    }
    uint32_t* counts = counts_.data() + (first_query + q) * thresholds_.size();
    for (size_t d = 0; d < documents; ++d) {
      if (row[d] < thresholds_.front()) continue;
      const auto above = std::upper_bound(thresholds_.begin(), thresholds_.end(), row[d]);
      ++counts[above - thresholds_.begin() - 1];
    }
  }
}

void ScoreCounts::Add(const tensor::Tensor& rows) {
  if (thresholds_.empty()) return;
  const auto total = static_cast<size_t>(rows.size(0));
  const auto width = static_cast<size_t>(rows.size(1));
  const auto query_count = static_cast<size_t>(queries_.size(0));
  const size_t tiles = (query_count + kTileQueries - 1) / kTileQueries;
  tensor::ParallelFor(0, static_cast<int64_t>(tiles), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> scores(kTileQueries * kTileDocuments);
    for (auto tile = static_cast<size_t>(begin); tile < static_cast<size_t>(end); ++tile) {
      const size_t query = tile * kTileQueries;
      const size_t queries = std::min(kTileQueries, query_count - query);
      for (size_t first = 0; first < total; first += kTileDocuments) {
        const size_t documents = std::min(kTileDocuments, total - first);
        tensor::cpu::MultiplyRowsByRows({.a = queries_.data_ptr<float>() + query * width,
                                         .m = static_cast<int64_t>(queries),
                                         .b = rows.data_ptr<float>() + first * width,
                                         .n = static_cast<int64_t>(documents),
                                         .depth = static_cast<int64_t>(width),
                                         .out = scores.data()});
        CountTile(scores.data(), query, queries, documents);
      }
    }
  });
}

std::vector<uint32_t> ScoreCounts::Take() {
  const size_t thresholds = thresholds_.size();
  for (size_t query = 0; query < counts_.size(); query += thresholds) {
    for (size_t t = thresholds - 1; t > 0; --t) counts_[query + t - 1] += counts_[query + t];
  }
  return std::exchange(counts_, {});
}

}  // namespace tandem::search

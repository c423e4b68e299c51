// Says how many documents score at least a threshold, for each query and many thresholds: what a
// threshold shows of the whole corpus (eval/samples/corpus_levels.h).
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/core/tensor.h"

namespace tandem::search {

// Documents come in blocks, as to ExactSearch (search/retrieval/exact.h); scores are the same
// numbers, bit for bit, where the blocks are the same. Memory is 4 Q T bytes and a block of scores
// for each thread.
//
//   ScoreCounts counts(queries, thresholds);
//   for each block: counts.Add(rows);
//   const std::vector<uint32_t> found = counts.Take();
class ScoreCounts {
 public:
  // `queries` float32 [Q, E]; scores are dot products. `thresholds` [T], ascending without equal
  // ones; throws std::logic_error for others.
  ScoreCounts(const tensor::Tensor& queries, std::vector<float> thresholds);

  // The next documents' embeddings, float32 [n, E]. Throws NumericError for a score that is not
  // finite.
  void Add(const tensor::Tensor& rows);

  // [Q, T]: documents so far whose score is at least the threshold. The object is then empty.
  std::vector<uint32_t> Take();

 private:
  // Adds scores [queries, documents] to the rows of `counts_` from first_query on.
  void CountTile(const float* scores, size_t first_query, size_t queries, size_t documents);

  tensor::Tensor queries_;
  std::vector<float> thresholds_;
  // [Q, T] until Take: documents whose highest threshold reached is this one.
  std::vector<uint32_t> counts_;
};

}  // namespace tandem::search

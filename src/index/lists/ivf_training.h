// Lists of near rows: their centroids, and the list of each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "index/vector_index.h"

namespace tandem::index {

// Up to `count` rows spread evenly over all, drawn by `purpose`: values [n, E].
std::vector<float> SampleRows(const VectorRows& rows, size_t count, const char* purpose);

// Centroids [lists, E] of length 1, by k-means over a sample; rows belong to the centroid with the
// largest dot product. Needs `lists` rows at least. Throws Interrupted between its rounds.
std::vector<float> TrainCentroids(const VectorRows& rows, size_t lists,
                                  const BuildOptions& options);

// Finds the nearest of the centroids [lists, E] of many rows, by products of matrices.
class ListAssigner {
 public:
  ListAssigner(std::span<const float> centroids, size_t width, int threads);
  ~ListAssigner();
  // Writes the list of each of `count` rows [count, E].
  void Assign(const float* rows, size_t count, uint32_t* lists) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::index

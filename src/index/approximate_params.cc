#include "index/approximate_params.h"

#include <algorithm>
#include <cmath>

namespace tandem::index {

size_t ListCount(size_t rows, size_t wanted) {
  if (wanted > 0) return std::min(wanted, rows);
  constexpr size_t kMostLists = 16384, kFewestRows = 16;
  const size_t lists = static_cast<size_t>(4 * std::sqrt(static_cast<double>(rows)));
  return std::min({std::max<size_t>(1, std::min(lists, rows / kFewestRows)), kMostLists, rows});
}

size_t ProductCodeBytes(size_t width, size_t wanted) {
  if (wanted > 0) return wanted;
  size_t bytes = std::max<size_t>(width / 8, 1);
  while (width % bytes != 0) --bytes;
  return bytes;
}

double EffortFactor(double recall) { return std::pow(0.05 / std::max(1 - recall, 1e-4), 1.5); }

double ListsRead(size_t lists, double recall) {
  // Measured alike with 1,000 to 4,000 lists. Assumed: of more lists no more are read.
  constexpr double kAtRecall95 = 70;
  return std::min(kAtRecall95 * EffortFactor(recall), static_cast<double>(lists));
}

KindCost ListsCost(const VectorRows& shape, size_t lists, double code_bytes, double seconds_of_code,
                   double recall) {
  constexpr double kSecondsOfCentroid = 12e-9;  // and its place in the order
  constexpr double kFlops = 42e9;               // of one thread that assigns rows, training counted
  const double n = static_cast<double>(shape.count), e = static_cast<double>(shape.width);
  const double l = static_cast<double>(lists);
  const double codes = lists == 0 ? 0 : ListsRead(lists, recall) * n / l;
  return {.resident_bytes = l * (5 * e + 12),
          .disk_bytes = n * (4 + code_bytes) + l * (4 * e + 8),
          .query_seconds = l * kSecondsOfCentroid + codes * seconds_of_code,
          .query_bytes = codes * (4 + code_bytes),
          .build_seconds = n * l * 2 * e / kFlops,
          .best_recall = 0.9999};
}

}  // namespace tandem::index

#include "index/lists/ivf_training.h"

#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>

#include <algorithm>

#include "base/random.h"
#include "index/build_parts.h"
#include "index/faiss_threads.h"

namespace tandem::index {
namespace {

constexpr uint64_t kTrainingSeed = 1;
constexpr size_t kRowsPerCentroid = 40;  // FAISS warns below 39
constexpr int kRounds = 8;  // after 8 the error of k-means falls little; FAISS's default is 10

}  // namespace

std::vector<float> SampleRows(const VectorRows& rows, size_t count, const char* purpose) {
  count = std::min(count, rows.count);
  std::vector<float> sample(count * rows.width);
  RandomStream random({.seed = kTrainingSeed, .purpose = purpose});
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * rows.count / count, end = (i + 1) * rows.count / count;
    const size_t row = begin + random.Below(end - begin);
    std::copy_n(rows.values + row * rows.width, rows.width, sample.data() + i * rows.width);
  }
  return sample;
}

std::vector<float> TrainCentroids(const VectorRows& rows, size_t lists,
                                  const BuildOptions& options) {
  if (lists == 0) return {};
  const FaissThreads threads(options.threads);
  const size_t fits = options.memory / 2 / (rows.width * sizeof(float));
  const std::vector<float> sample =
      SampleRows(rows, std::max(lists, std::min(lists * kRowsPerCentroid, fits)), "centroids");
  faiss::ClusteringParameters parameters;
  parameters.niter = 1;
  parameters.spherical = true;
  parameters.seed = static_cast<int>(kTrainingSeed);
  parameters.min_points_per_centroid = 1;  // no warnings on stderr
  parameters.max_points_per_centroid = static_cast<int>(sample.size() / rows.width / lists + 1);
  faiss::Clustering clustering(static_cast<int>(rows.width), static_cast<int>(lists), parameters);
  for (int round = 0; round < kRounds; ++round) {
    ThrowIfBuildStopped(options);
    // FAISS begins with the centroids that are there.
    faiss::IndexFlatIP nearest(static_cast<int>(rows.width));
    clustering.train(static_cast<int64_t>(sample.size() / rows.width), sample.data(), nearest);
    if (options.progress) options.progress((round + 1.0) / kRounds);
  }
  return clustering.centroids;
}

struct ListAssigner::State {
  State(size_t width, int thread_count)
      : centroids(static_cast<int>(width)), threads(thread_count) {}
  faiss::IndexFlatIP centroids;
  int threads;
};

ListAssigner::ListAssigner(std::span<const float> centroids, size_t width, int threads)
    : state_(std::make_unique<State>(width, threads)) {
  if (centroids.empty()) return;
  state_->centroids.add(static_cast<int64_t>(centroids.size() / width), centroids.data());
}
ListAssigner::~ListAssigner() = default;

void ListAssigner::Assign(const float* rows, size_t count, uint32_t* lists) const {
  const FaissThreads threads(state_->threads);
  std::vector<float> scores(count);
  std::vector<int64_t> labels(count);
  state_->centroids.search(static_cast<int64_t>(count), rows, 1, scores.data(), labels.data());
  // A row that is near to none (of NaN) gets no label.
  std::transform(labels.begin(), labels.end(), lists,
                 [](int64_t label) { return static_cast<uint32_t>(std::max<int64_t>(label, 0)); });
}

}  // namespace tandem::index

#include "index/lists/product_codes.h"

#include <faiss/impl/ProductQuantizer.h>

#include <algorithm>

#include "index/faiss_threads.h"

namespace tandem::index {

ProductCodes::ProductCodes(std::span<const float> codebooks, size_t width, size_t parts)
    : codebooks_(codebooks),
      parts_(parts),
      part_width_(width / parts),
      half_squares_(parts * kCentroids, 0) {
  for (size_t i = 0; i < codebooks_.size(); ++i) {
    const size_t part = i / (part_width_ * kCentroids);
    half_squares_[part * kCentroids + i % kCentroids] += codebooks_[i] * codebooks_[i] / 2;
  }
}

void ProductCodes::Products(const float* vector, float* products) const {
  std::fill_n(products, parts_ * kCentroids, 0.0F);
  for (size_t part = 0; part < parts_; ++part) {
    float* sums = products + part * kCentroids;
    for (size_t i = 0; i < part_width_; ++i) {
      const float factor = vector[part * part_width_ + i];
      const float* values = codebooks_.data() + (part * part_width_ + i) * kCentroids;
      for (size_t c = 0; c < kCentroids; ++c) sums[c] += factor * values[c];
    }
  }
}

void ProductCodes::Encode(const float* row, float* products, uint8_t* code) const {
  Products(row, products);
  for (size_t part = 0; part < parts_; ++part) {
    // The nearest centroid has the largest dot product less half its squared length.
    float* nearness = products + part * kCentroids;
    for (size_t c = 0; c < kCentroids; ++c) nearness[c] -= half_squares_[part * kCentroids + c];
    code[part] = static_cast<uint8_t>(std::max_element(nearness, nearness + kCentroids) - nearness);
  }
}

std::vector<float> TrainCodebooks(std::span<const float> rows, size_t width, size_t parts,
                                  int threads) {
  const FaissThreads faiss_threads(threads);
  faiss::ProductQuantizer quantizer(width, parts, 8);
  quantizer.cp.min_points_per_centroid = 1;  // no warnings on stderr
  quantizer.cp.niter = 12;                   // FAISS's 25 find hardly better ones
  // Fewer rows than centroids are repeated.
  std::vector<float> sample(rows.begin(), rows.end());
  if (sample.empty()) sample.assign(width, 0);
  while (sample.size() < ProductCodes::kCentroids * width) {
    const std::vector<float> once = sample;
    sample.insert(sample.end(), once.begin(), once.end());
  }
  quantizer.train(sample.size() / width, sample.data());
  const size_t part_width = width / parts;
  std::vector<float> codebooks(width * ProductCodes::kCentroids);
  for (size_t part = 0; part < parts; ++part) {
    for (size_t c = 0; c < ProductCodes::kCentroids; ++c) {
      const float* centroid = quantizer.get_centroids(part, c);
      for (size_t i = 0; i < part_width; ++i) {
        codebooks[(part * part_width + i) * ProductCodes::kCentroids + c] = centroid[i];
      }
    }
  }
  return codebooks;
}

}  // namespace tandem::index

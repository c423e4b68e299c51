// Product quantization: a row as one byte for each of its parts, the number of the nearest of 256
// centroids of that part (Jégou et al. 2011).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem::index {

class ProductCodes {
 public:
  static constexpr size_t kCentroids = 256;

  // `codebooks` [parts, E / parts, 256] must outlive the object. `parts` divides `width`.
  ProductCodes(std::span<const float> codebooks, size_t width, size_t parts);

  size_t parts() const { return parts_; }
  // Writes the dot products of each part of `vector` [E] with that part's centroids, [parts, 256].
  void Products(const float* vector, float* products) const;
  // Writes the code of `row` [E], [parts]. `products` is space for [parts, 256].
  void Encode(const float* row, float* products, uint8_t* code) const;

 private:
  std::span<const float> codebooks_;
  size_t parts_;
  size_t part_width_;
  std::vector<float> half_squares_;  // [parts, 256], of the centroids' lengths
};

// The dot product of a vector, whose Products are given, with the row of the code.
inline float CodeProduct(const float* products, const uint8_t* code, size_t parts) {
  float sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  size_t i = 0;
  for (; i + 4 <= parts; i += 4, products += 4 * ProductCodes::kCentroids) {
    sum0 += products[code[i]];
    sum1 += products[ProductCodes::kCentroids + code[i + 1]];
    sum2 += products[2 * ProductCodes::kCentroids + code[i + 2]];
    sum3 += products[3 * ProductCodes::kCentroids + code[i + 3]];
  }
  for (; i < parts; ++i, products += ProductCodes::kCentroids) sum0 += products[code[i]];
  return (sum0 + sum1) + (sum2 + sum3);
}

// Codebooks of rows [count, E] by k-means, as ProductCodes takes them. Any number of rows will do.
std::vector<float> TrainCodebooks(std::span<const float> rows, size_t width, size_t parts,
                                  int threads);

}  // namespace tandem::index

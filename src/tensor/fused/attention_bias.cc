#include "tensor/fused/attention_bias.h"

#include <numbers>

#include "tensor/core/make.h"

namespace tandem::tensor {

BiasByDistance::BiasByDistance(const Tensor& table, int64_t max_distance, int64_t longest) {
  if (!table.defined()) return;
  const int64_t heads = table.size(1), distances = 2 * longest - 1;
  const int64_t padding = static_cast<int64_t>(cpu::kBiasPadding);
  bucket_count_ = table.size(0);
  buckets_ = Empty({distances}, kInt);
  values_ = Zeros({heads, distances + padding}, kFloat);
  const Tensor rows = table.detach();
  const float* from = rows.data_ptr<float>();
  auto* buckets = buckets_.data_ptr<int32_t>();
  for (int64_t d = 0; d < distances; ++d) {
    const int64_t bucket = RelativeBucket(d - (longest - 1), bucket_count_, max_distance);
    buckets[d] = static_cast<int32_t>(bucket);
    float* to = values_.data_ptr<float>() + d;
    for (int64_t head = 0; head < heads; ++head, to += distances + padding) {
      *to = std::numbers::log2e_v<float> * from[bucket * heads + head];
    }
  }
}

cpu::DistanceBias BiasByDistance::ForKernels() const {
  if (!values_.defined()) return {};
  return {.values = values_.data_ptr<float>(),
          .stride = static_cast<size_t>(values_.size(1)),
          .origin = static_cast<size_t>(buckets_.size(0) / 2),
          .buckets = buckets_.data_ptr<int32_t>(),
          .bucket_count = static_cast<size_t>(bucket_count_)};
}

Tensor BiasByDistance::TableGradient(const Tensor& by_text) {
  const int64_t texts = by_text.size(0), heads = by_text.size(1), buckets = by_text.size(2);
  const double* from = by_text.data_ptr<double>();
  Tensor sums = Zeros({buckets, heads}, kDouble);
  double* to = sums.data_ptr<double>();
  for (int64_t text = 0; text < texts; ++text) {
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t b = 0; b < buckets; ++b) to[b * heads + head] += *from++;
    }
  }
  return sums.to(kFloat);
}

}  // namespace tandem::tensor

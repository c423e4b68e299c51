#include "search/similarity_rows.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "tensor/kernels/cpu/score_rows.h"

namespace tandem::search {

SimilarityRows::SimilarityRows(const at::Tensor& embeddings, std::string_view similarity,
                               std::vector<uint32_t> chosen)
    : embeddings_(embeddings), chosen_(std::move(chosen)) {
  if (embeddings.dim() != 2 || embeddings.scalar_type() != at::kFloat ||
      !embeddings.is_contiguous()) {
    throw std::logic_error("a search takes float32 embeddings [N, E] without gaps");
  }
  values_ = embeddings_.data_ptr<float>();
  width_ = static_cast<size_t>(embeddings.size(1));
  const bool cosine = similarity == "cosine";
  const size_t count = chosen_.empty() ? static_cast<size_t>(embeddings.size(0)) : chosen_.size();
  scales_.resize(count);
  std::vector<float> lengths(count);
  at::parallel_for(0, static_cast<int64_t>(count), 1024, [&](int64_t begin, int64_t end) {
    for (auto row = static_cast<size_t>(begin); row < static_cast<size_t>(end); ++row) {
      const float* values = At(row);
      const float length = std::sqrt(tensor::cpu::DotProduct(values, values, width_));
      if (!std::isfinite(length)) {
        throw NumericError(fmt::format(
            "embedding {} holds a value that is not finite or far too large: the weights of the "
            "model that made it are broken",
            row));
      }
      scales_[row] = cosine ? (length > 0 ? 1 / length : 0) : 1;
      lengths[row] = length * scales_[row];
    }
  });
  for (const float length : lengths) longest_ = std::max(longest_, length);
}

void SimilarityRows::CopyTo(size_t row, float* out) const {
  const float* values = At(row);
  const float scale = scales_[row];
  for (size_t i = 0; i < width_; ++i) out[i] = values[i] * scale;
}

float SimilarityRows::ScoreOf(const float* query, size_t row) const {
  return tensor::cpu::DotProduct(query, At(row), width_) * scales_[row];
}

}  // namespace tandem::search

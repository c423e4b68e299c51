#include "search/retrieval/similarity_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/rows/score_rows.h"

namespace tandem::search {

namespace {

std::vector<RowBlock> OneBlock(const tensor::Tensor& embeddings) {
  if (embeddings.dim() != 2 || embeddings.dtype() != tensor::kFloat) {
    throw std::logic_error("a search takes float32 embeddings [N, E]");
  }
  return {{.values = embeddings.data_ptr<float>(),
           .rows = static_cast<size_t>(embeddings.size(0)),
           .owner = std::make_shared<const tensor::Tensor>(embeddings)}};
}

}  // namespace

SimilarityRows::SimilarityRows(const tensor::Tensor& embeddings, std::string_view similarity,
                               std::vector<uint32_t> chosen)
    : SimilarityRows(OneBlock(embeddings), static_cast<size_t>(embeddings.size(1)), similarity,
                     std::move(chosen)) {}

SimilarityRows::SimilarityRows(std::vector<RowBlock> blocks, size_t width,
                               std::string_view similarity, std::vector<uint32_t> chosen)
    : blocks_(std::move(blocks)),
      values_(blocks_.front().values),
      width_(width),
      chosen_(std::move(chosen)) {
  size_t rows = 0;
  for (const RowBlock& block : blocks_) {
    starts_.push_back(rows);
    rows += block.rows;
  }
  const bool cosine = similarity == "cosine";
  const size_t count = chosen_.empty() ? rows : chosen_.size();
  scales_.resize(count);
  std::vector<float> lengths(count);
  tensor::ParallelFor(0, static_cast<int64_t>(count), 1024, [&](int64_t begin, int64_t end) {
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

const float* SimilarityRows::InBlocks(size_t at) const {
  // The last block that begins at or before the row: an empty one begins where the next one does.
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
  const auto block = static_cast<size_t>(next - starts_.begin()) - 1;
  return blocks_[block].values + (at - starts_[block]) * width_;
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

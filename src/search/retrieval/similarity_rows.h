// Embeddings as a search multiplies them: the rows that it wants, of such a length that dot
// products are the similarity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/core/tensor.h"

namespace tandem::search {

// Embeddings [rows, E] without gaps, and what keeps them in memory.
struct RowBlock {
  const float* values = nullptr;
  size_t rows = 0;
  std::shared_ptr<const void> owner;
};

// Embeddings stay where they are (a mapped file, say); rows are scaled while they are copied.
//
//   const SimilarityRows rows(embeddings, "cosine");
//   rows.CopyTo(7, out);   // embedding 7 at length 1
class SimilarityRows {
 public:
  // `embeddings` float32 [N, E] without gaps. Row i is embeddings[chosen[i]]; with an empty
  // `chosen`, row i is embeddings[i]. `similarity` is "cosine" or "dot". Reads all rows once:
  // throws NumericError for a value that is not finite. A row of zeros has cosine 0 with all
  // others.
  SimilarityRows(const tensor::Tensor& embeddings, std::string_view similarity,
                 std::vector<uint32_t> chosen = {});

  // Takes embeddings that stand in several blocks, one after the other; at least one of them has
  // rows.
  SimilarityRows(std::vector<RowBlock> blocks, size_t width, std::string_view similarity,
                 std::vector<uint32_t> chosen = {});

  size_t size() const { return scales_.size(); }
  size_t width() const { return width_; }  // E
  // The longest row once scaled: 1 for cosines.
  float longest() const { return longest_; }

  // out [width] = the row, scaled.
  void CopyTo(size_t row, float* out) const;

  // The similarity of `query`, a row that CopyTo made, with a row.
  float ScoreOf(const float* query, size_t row) const;

 private:
  const float* At(size_t row) const {
    const size_t at = chosen_.empty() ? row : chosen_[row];
    return blocks_.size() == 1 ? values_ + at * width_ : InBlocks(at);
  }
  const float* InBlocks(size_t at) const;

  std::vector<RowBlock> blocks_;
  const float* values_;         // of the first block
  std::vector<size_t> starts_;  // first row of each block
  size_t width_;
  std::vector<uint32_t> chosen_;
  std::vector<float> scales_;  // of each row
  float longest_ = 0;
};

}  // namespace tandem::search

// Products of rows of 8-bit codes with a batch of 16-bit queries.
//
// Codes are widened to 16 bits, a block of rows at a time, and multiplied in pairs: AVX2 and
// AVX-512 multiply and add a pair where they would multiply one float, AVX512-VNNI adds it to the
// sum in the same instruction. Nothing saturates, so that the sums are exact, and the same on every
// processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "index/kernels/row_scores.h"

namespace tandem::index {

// Rows of an index that are scored together: `count` from `first` on, or those that `list` names.
struct RowBlock {
  size_t first = 0;
  size_t count = 0;
  const uint32_t* list = nullptr;

  size_t operator[](size_t i) const { return list == nullptr ? first + i : list[i]; }
};

// Queries [count, width] in the layout that the product reads; width is a multiple of kRowUnit, and
// 127 * the sum of |query| is below 2^31 for each.
class PackedCodeQueries {
 public:
  PackedCodeQueries(const int16_t* queries, size_t count, size_t width);

  size_t width() const { return width_; }
  size_t columns() const { return columns_; }  // count, padded with zeros to whole panels
  const int32_t* panels() const { return panels_.get(); }

 private:
  size_t width_;
  size_t columns_;
  std::unique_ptr<int32_t[]> panels_;
};

// scores[i * columns + q] = scale of row i * (codes of row i * query q + offsets[q]), for the rows
// of the block and offsets [columns]. One thread's work.
void ScoreCodeBlock(const CodeRows& rows, const RowBlock& block, const PackedCodeQueries& queries,
                    const float* offsets, float* scores);

}  // namespace tandem::index

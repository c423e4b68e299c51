// Rows of texts in the order of these, while only the distinct ones among them are encoded, each
// once, in the order in which they first occur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "search/encode.h"
#include "search/encoding/distinct_texts.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

// Holds one window of rows, and those of texts that occur again later.
class RowsInOrder {
 public:
  // `sink` gets windows of so many texts, the last one of fewer; `distinct` and `sink` must outlive
  // the object.
  RowsInOrder(const DistinctTexts& distinct, size_t window, int64_t width,
              const EmbeddingSink& sink);

  // The rows of the next distinct texts, float32 [n, E], of which the first is text `first`.
  void Add(size_t first, const tensor::Tensor& rows);

 private:
  void Give(const float* row);

  const DistinctTexts& distinct_;
  const EmbeddingSink& sink_;
  tensor::Tensor window_;       // float32 [window, E]
  size_t filled_ = 0;           // rows of the window
  size_t next_ = 0;             // text
  std::vector<uint32_t> left_;  // [distinct]: how often each is still to come
  std::unordered_map<uint32_t, std::vector<float>> again_;  // rows of texts that come again
};

}  // namespace tandem::search

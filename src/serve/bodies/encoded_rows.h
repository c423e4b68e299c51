// The embeddings of a request's texts, and what answers say of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tandem::serve {

// Rows [texts, E] and what they took.
struct EncodedRows {
  std::span<const float> rows;
  size_t width = 0;
  size_t tokens = 0;
  size_t truncated = 0;  // texts

  size_t size() const { return rows.size() / width; }
  std::span<const float> operator[](size_t index) const {
    return rows.subspan(index * width, width);
  }
};

// The euclidean length.
double Length(std::span<const float> row);

// Appends `,"tokens":…,"truncated_texts":…`.
void AppendCounts(std::string* out, const EncodedRows& encoded);

}  // namespace tandem::serve

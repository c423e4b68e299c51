// Dot products of rows, for indexes that compare a query with few rows here and there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::index {

// The sum of a[i] * b[i]. It adds in an order that depends on `count` and the instruction set only.
float DotProduct(const float* a, const float* b, size_t count);

// Multiplies numbers from -127 to 127; exact for up to 100,000 of them.
int32_t DotProduct(const int8_t* a, const int8_t* b, size_t count);

// Writes the numbers from -127 to 127 that are nearest to row / scale and returns the scale: the
// largest magnitude of the row is 127 of it. 0 for a row of zeros.
float QuantizeRow(const float* row, size_t width, int8_t* codes);

// A query in the same form.
struct Int8Query {
  Int8Query() = default;
  Int8Query(const float* query, size_t width)
      : codes(width), scale(QuantizeRow(query, width, codes.data())) {}
  // About the dot product of the query with a row of these codes and this scale.
  float Score(const int8_t* row, float row_scale) const {
    return static_cast<float>(DotProduct(codes.data(), row, codes.size())) * row_scale * scale;
  }
  std::vector<int8_t> codes;  // [E]
  float scale = 0;
};

}  // namespace tandem::index

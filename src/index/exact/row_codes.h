// Says how rows of floats become shorter ones, and what each loses by it: measured, so that a
// search can bound its errors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/bf16.h"

namespace tandem::index {

// The length of a row; not finite where one of its values is not.
double RowLength(const float* row, size_t width);

// A row as scale * codes, with codes from -127 to 127.
struct RowCode {
  float scale = 0;      // 0 for a row of zeros, else at least the smallest normal number
  double length = 0;    // of the codes
  double residual = 0;  // length of row / scale - codes
};
// Writes codes [padded], zeros from `width` on. The row must be finite.
RowCode EncodeRow(const float* row, size_t width, size_t padded, int8_t* codes);

// Writes the row, rounded to nearest, [padded], zeros from `width` on; returns the length of what
// was lost. What would round to infinity becomes the largest finite value.
double RoundRow(const float* row, size_t width, size_t padded, tensor::cpu::Bf16* rounded);

}  // namespace tandem::index

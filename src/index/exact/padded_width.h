// The width of rows that an index keeps in a form of its own.
#pragma once

#include <cstddef>

namespace tandem::index {

// Rows of codes and of bf16 values are padded with zeros to a multiple of this: the elements of the
// widest vector.
inline constexpr size_t kRowUnit = 32;
constexpr size_t PaddedWidth(size_t width) { return (width + kRowUnit - 1) / kRowUnit * kRowUnit; }

}  // namespace tandem::index

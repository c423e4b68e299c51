// Mean pooling of packed texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/bf16.h"
#include "tensor/kernels/cpu/row_split.h"
#include "tensor/kernels/cpu/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {

// Where texts begin, [texts + 1], and how wide their rows are.
struct PooledTexts {
  const int32_t* starts;
  size_t texts;
  size_t width;
};

// out [texts, width]: the mean of the rows of each text, summed in the order of the rows.
template <typename A>
void MeanPoolForward(const A* x, const PooledTexts& pooled, float* out, int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    float* row = out + b * width;
    std::fill_n(row, width, 0.0F);
    const auto first = static_cast<size_t>(pooled.starts[b]);
    const size_t count = static_cast<size_t>(pooled.starts[b + 1]) - first;
    AddColumnSums(x + first * width, row, count, width);
    const float share = 1.0F / static_cast<float>(count);
    for (size_t c = 0; c < width; ++c) row[c] *= share;
  }
}

// Converts a row of floats to the type of `out`.
inline void StoreRow(const float* in, float* out, size_t count) { std::copy_n(in, count, out); }
inline void StoreRow(const float* in, Bf16* out, size_t count) { ToBf16(in, out, count); }

// grad [texts, width] to grad_x [T, width], the gradient of every row.
template <typename A>
void MeanPoolBackward(const float* grad, const PooledTexts& pooled, A* grad_x, int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    const auto first = static_cast<size_t>(pooled.starts[b]);
    const auto next = static_cast<size_t>(pooled.starts[b + 1]);
    auto* row = AllocateScratchArray<float>(width);
    const float share = 1.0F / static_cast<float>(next - first);
    for (size_t c = 0; c < width; ++c) row[c] = grad[b * width + c] * share;
    for (size_t r = first; r < next; ++r) StoreRow(row, grad_x + r * width, width);
  }
}

}  // namespace tandem::tensor::cpu

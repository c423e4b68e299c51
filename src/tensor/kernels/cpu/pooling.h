// Mean pooling of packed texts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/bf16.h"
#include "tensor/kernels/cpu/row_split.h"
#include "tensor/kernels/cpu/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {

// out [texts, width]: the mean of the rows of each text. Summed in the order of the rows.
template <typename A>
void MeanPoolForward(const A* x, const int32_t* starts, size_t texts, size_t width, float* out,
                     int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < texts; ++b) {
    float* row = out + b * width;
    std::fill_n(row, width, 0.0F);
    const auto first = static_cast<size_t>(starts[b]);
    const size_t count = static_cast<size_t>(starts[b + 1]) - first;
    AddColumnSums(x + first * width, row, count, width);
    const float share = 1.0F / static_cast<float>(count);
    for (size_t c = 0; c < width; ++c) row[c] *= share;
  }
}

inline void NarrowRow(const float* in, float* out, size_t count) { std::copy_n(in, count, out); }
inline void NarrowRow(const float* in, Bf16* out, size_t count) { ToBf16(in, out, count); }

template <typename A>
void MeanPoolBackward(const float* grad, const int32_t* starts, size_t texts, size_t width,
                      A* grad_x, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < texts; ++b) {
    const auto first = static_cast<size_t>(starts[b]), next = static_cast<size_t>(starts[b + 1]);
    Scratch scratch = Scratch::Reserve(Scratch::Bytes<float>(width));
    float* row = scratch.Take<float>(width);
    const float share = 1.0F / static_cast<float>(next - first);
    for (size_t c = 0; c < width; ++c) row[c] = grad[b * width + c] * share;
    for (size_t r = first; r < next; ++r) NarrowRow(row, grad_x + r * width, width);
  }
}

}  // namespace tandem::tensor::cpu

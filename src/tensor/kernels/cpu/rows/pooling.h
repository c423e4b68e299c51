// Pooling of packed texts: one row for each text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/bf16.h"
#include "tensor/kernels/cpu/rows/row_split.h"
#include "tensor/kernels/cpu/rows/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {

// Says where texts begin, [texts + 1], how many leading rows of each are left out, [texts], and how
// wide their rows are.
struct PooledTexts {
  const int32_t* starts;
  const int32_t* prompts;  // null: none is left out
  size_t texts;
  size_t width;

  size_t begin(size_t text) const { return static_cast<size_t>(starts[text]); }
  size_t end(size_t text) const { return static_cast<size_t>(starts[text + 1]); }
};

// The rows of a text that are pooled: from `first` to `next`, none where the prompt is all there
// is.
struct PooledRows {
  size_t begin;  // of the text
  size_t first;
  size_t next;

  size_t count() const { return next - first; }
};

inline PooledRows RowsOf(const PooledTexts& pooled, size_t text) {
  const size_t begin = pooled.begin(text), next = pooled.end(text);
  const auto prompt =
      pooled.prompts == nullptr ? size_t{0} : static_cast<size_t>(pooled.prompts[text]);
  return {begin, std::min(next, begin + prompt), next};
}

// A row as floats; `buffer` holds them where it has another type.
inline const float* FloatRow(const float* in, float* /*buffer*/, size_t /*count*/) { return in; }
inline const float* FloatRow(const Bf16* in, float* buffer, size_t count) {
  ToFloat(in, buffer, count);
  return buffer;
}

// Converts a row of floats to the type of `out`.
inline void StoreRow(const float* in, float* out, size_t count) { std::copy_n(in, count, out); }
inline void StoreRow(const float* in, Bf16* out, size_t count) { ToBf16(in, out, count); }

// The mean of the rows of a text and what differs from it by a factor: rows are summed in their
// order and divided by Divisor(their number).
struct MeanPool {
  static float Share(size_t count) { return 1.0F / static_cast<float>(count); }
};
struct MeanSqrtLenPool {
  static float Share(size_t count) { return 1.0F / std::sqrt(static_cast<float>(count)); }
};

template <typename Kind, typename A>
void SumPoolForward(const A* x, const PooledTexts& pooled, float* out, int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    float* row = out + b * width;
    std::fill_n(row, width, 0.0F);
    const PooledRows rows = RowsOf(pooled, b);
    if (rows.count() == 0) continue;
    AddColumnSums(x + rows.first * width, row, rows.count(), width);
    const float share = Kind::Share(rows.count());
    for (size_t c = 0; c < width; ++c) row[c] *= share;
  }
}

// Makes the gradient zero for the rows of a text that are not pooled.
template <typename A>
void ClearPrompt(const PooledRows& rows, A* grad_x, size_t width) {
  std::fill_n(grad_x + rows.begin * width, (rows.first - rows.begin) * width, A{});
}

// grad [texts, width] to grad_x [T, width], the gradient of every row.
template <typename Kind, typename A>
void SumPoolBackward(const float* grad, const PooledTexts& pooled, A* grad_x, int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    const PooledRows rows = RowsOf(pooled, b);
    ClearPrompt(rows, grad_x, width);
    if (rows.count() == 0) continue;
    auto* row = AllocateScratchArray<float>(width);
    const float share = Kind::Share(rows.count());
    for (size_t c = 0; c < width; ++c) row[c] = grad[b * width + c] * share;
    for (size_t r = rows.first; r < rows.next; ++r) StoreRow(row, grad_x + r * width, width);
  }
}

// The weight of row r of a text in its weighted mean: its position, counted from 1, over the sum of
// the positions that are pooled.
class PositionWeights {
 public:
  explicit PositionWeights(const PooledRows& rows) : begin_(rows.begin) {
    const auto first = static_cast<double>(rows.first - rows.begin + 1);
    const auto last = static_cast<double>(rows.next - rows.begin);
    sum_ = (first + last) * static_cast<double>(rows.count()) / 2;
  }
  float Of(size_t row) const {
    return static_cast<float>(static_cast<double>(row - begin_ + 1) / sum_);
  }

 private:
  size_t begin_;
  double sum_;
};

template <typename A>
void WeightedMeanPoolForward(const A* x, const PooledTexts& pooled, float* out, int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    float* row = out + b * width;
    std::fill_n(row, width, 0.0F);
    const PooledRows rows = RowsOf(pooled, b);
    const PositionWeights weights(rows);
    auto* buffer = AllocateScratchArray<float>(width);
    for (size_t r = rows.first; r < rows.next; ++r) {
      AddScaled(FloatRow(x + r * width, buffer, width), weights.Of(r), row, width);
    }
  }
}

template <typename A>
void WeightedMeanPoolBackward(const float* grad, const PooledTexts& pooled, A* grad_x,
                              int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    const PooledRows rows = RowsOf(pooled, b);
    ClearPrompt(rows, grad_x, width);
    const PositionWeights weights(rows);
    auto* row = AllocateScratchArray<float>(width);
    for (size_t r = rows.first; r < rows.next; ++r) {
      const float weight = weights.Of(r);
      for (size_t c = 0; c < width; ++c) row[c] = grad[b * width + c] * weight;
      StoreRow(row, grad_x + r * width, width);
    }
  }
}

// `where` [texts, width]: the first row that has the column's largest number, -1 where no row is
// pooled.
template <typename A>
void MaxPoolForward(const A* x, const PooledTexts& pooled, float* out, int32_t* where,
                    int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    float* best = out + b * width;
    int32_t* best_row = where + b * width;
    std::fill_n(best, width, 0.0F);
    std::fill_n(best_row, width, -1);
    const PooledRows rows = RowsOf(pooled, b);
    auto* buffer = AllocateScratchArray<float>(width);
    for (size_t r = rows.first; r < rows.next; ++r) {
      const float* row = FloatRow(x + r * width, buffer, width);
      for (size_t c = 0; c < width; ++c) {
        // A number that is none stays, so that it is not hidden.
        const bool better = r == rows.first || row[c] > best[c] || std::isnan(row[c]);
        best[c] = better ? row[c] : best[c];
        best_row[c] = better ? static_cast<int32_t>(r) : best_row[c];
      }
    }
  }
}

template <typename A>
void MaxPoolBackward(const float* grad, const PooledTexts& pooled, const int32_t* where, A* grad_x,
                     int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    const int32_t* best_row = where + b * width;
    ClearPrompt(RowsOf(pooled, b), grad_x, width);
    auto* row = AllocateScratchArray<float>(width);
    for (size_t r = RowsOf(pooled, b).first; r < pooled.end(b); ++r) {
      for (size_t c = 0; c < width; ++c) {
        row[c] = best_row[c] == static_cast<int32_t>(r) ? grad[b * width + c] : 0.0F;
      }
      StoreRow(row, grad_x + r * width, width);
    }
  }
}

// The row that stands for a text: the first or the last one that is pooled. Where none is, the
// first row of all stands in for the first; nothing for the last.
inline constexpr size_t kNoRow = static_cast<size_t>(-1);
struct FirstRow {
  static size_t Of(const PooledRows& rows) { return rows.count() == 0 ? rows.begin : rows.first; }
};
struct LastRow {
  static size_t Of(const PooledRows& rows) { return rows.count() == 0 ? kNoRow : rows.next - 1; }
};

template <typename Kind, typename A>
void RowPoolForward(const A* x, const PooledTexts& pooled, float* out, int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    const size_t from = Kind::Of(RowsOf(pooled, b));
    std::fill_n(out + b * width, width, 0.0F);
    if (from == kNoRow) continue;
    auto* buffer = AllocateScratchArray<float>(width);
    std::copy_n(FloatRow(x + from * width, buffer, width), width, out + b * width);
  }
}

template <typename Kind, typename A>
void RowPoolBackward(const float* grad, const PooledTexts& pooled, A* grad_x, int threads) {
  const size_t width = pooled.width;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t b = 0; b < pooled.texts; ++b) {
    const size_t begin = pooled.begin(b), to = Kind::Of(RowsOf(pooled, b));
    std::fill_n(grad_x + begin * width, (pooled.end(b) - begin) * width, A{});
    if (to != kNoRow) StoreRow(grad + b * width, grad_x + to * width, width);
  }
}

}  // namespace tandem::tensor::cpu

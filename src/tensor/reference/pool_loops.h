// Pooling as the reference computes it: plain loops in float or double, text by text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensor/pooling.h"

namespace tandem::tensor::loops {

template <typename T>
struct PoolArguments {
  const T* x;              // [T, width]
  const int32_t* starts;   // [texts + 1]
  const int32_t* prompts;  // [texts]: leading rows of each text that are left out, or null: none
  int64_t texts, width;
  Pooling pooling;
};

// The rows of a text, and those that are pooled: [first, end), none where the prompt is all there
// is.
struct TextRows {
  int64_t begin, first, end;

  bool empty() const { return first == end; }
};

template <typename T>
TextRows TextRowsOf(const PoolArguments<T>& args, int64_t text) {
  const int64_t begin = args.starts[text], end = args.starts[text + 1];
  const int64_t prompt = args.prompts == nullptr ? 0 : args.prompts[text];
  return {begin, std::min(begin + prompt, end), end};
}

// What row `row` of a text weighs in the sums of the three means: its position from 1, or 1, over
// the sum of these, or over the root of their number.
inline double WeightOf(Pooling pooling, const TextRows& rows, int64_t row) {
  const auto count = static_cast<double>(rows.end - rows.first);
  if (pooling == Pooling::kMean) return 1 / count;
  if (pooling == Pooling::kMeanSqrtLen) return 1 / std::sqrt(count);
  const auto first = static_cast<double>(rows.first - rows.begin + 1);
  const auto last = static_cast<double>(rows.end - rows.begin);
  const double positions = (first + last) * count / 2;
  return static_cast<double>(row - rows.begin + 1) / positions;
}

// The row of the largest number of column c, the first of several. NaN counts as largest.
template <typename T>
int64_t LargestRow(const PoolArguments<T>& args, const TextRows& rows, int64_t c) {
  int64_t best = rows.first;
  for (int64_t r = rows.first; r < rows.end; ++r) {
    const T value = args.x[r * args.width + c], largest = args.x[best * args.width + c];
    if (value > largest || (std::isnan(value) && !std::isnan(largest))) best = r;
  }
  return best;
}

// The one row that column c of the pooled row is taken from; -1 for the means, which read all.
template <typename T>
int64_t PickedRow(const PoolArguments<T>& args, const TextRows& rows, int64_t c) {
  if (args.pooling == Pooling::kCls) return rows.empty() ? rows.begin : rows.first;
  if (args.pooling == Pooling::kLastToken) return rows.end - 1;
  return args.pooling == Pooling::kMax ? LargestRow(args, rows, c) : -1;
}

// Calls body(row, c, weight) for each number of a text that its pooled row sums up:
// out[c] = sum of weight x[row, c]. Where no row is pooled there is none, but the text's first row
// with kCls (tensor::Pool).
template <typename T, typename Body>
void ForEachSummand(const PoolArguments<T>& args, const TextRows& rows, const Body& body) {
  if (rows.begin == rows.end || (rows.empty() && args.pooling != Pooling::kCls)) return;
  for (int64_t c = 0; c < args.width; ++c) {
    const int64_t picked = PickedRow(args, rows, c);
    if (picked >= 0) {
      body(picked, c, 1.0);
      continue;
    }
    for (int64_t r = rows.first; r < rows.end; ++r) body(r, c, WeightOf(args.pooling, rows, r));
  }
}

// One row for each text, out [texts, width], which is double whatever T is.
template <typename T>
void Pool(const PoolArguments<T>& args, double* out) {
  std::fill_n(out, args.texts * args.width, 0.0);
  for (int64_t text = 0; text < args.texts; ++text) {
    ForEachSummand(args, TextRowsOf(args, text), [&](int64_t row, int64_t c, double weight) {
      out[text * args.width + c] += weight * static_cast<double>(args.x[row * args.width + c]);
    });
  }
}

// grad_x [T, width], which is zero at first, from grad_out [texts, width].
template <typename T>
void PoolBackward(const PoolArguments<T>& args, const T* grad_out, T* grad_x) {
  for (int64_t text = 0; text < args.texts; ++text) {
    ForEachSummand(args, TextRowsOf(args, text), [&](int64_t row, int64_t c, double weight) {
      grad_x[row * args.width + c] =
          static_cast<T>(weight * static_cast<double>(grad_out[text * args.width + c]));
    });
  }
}

}  // namespace tandem::tensor::loops

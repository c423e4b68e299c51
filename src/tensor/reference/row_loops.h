// Dropout of rows and sums of rows, as the reference computes them: plain loops in float or double.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/dropout.h"

namespace tandem::tensor::loops {

// What dropout multiplies a channel by: 0, or KeepScale of the rate.
inline double KeepFactor(uint64_t row_key, int64_t channel, const Dropout& dropout) {
  const bool keep =
      ChannelBits(row_key, static_cast<uint32_t>(channel)) >= KeepThreshold(dropout.rate);
  return keep ? static_cast<double>(KeepScale(dropout.rate)) : 0.0;
}

template <typename T>
struct DropArguments {
  const T* x;  // [rows, width]
  int64_t rows, width;
  const int64_t* row_keys;  // [rows], PackedTokens'
  Dropout dropout;
};

// out[r, c] = x[r, c] mask[r, c], [rows, width]. The backward pass is the same map of the gradient.
// Source: Srivastava et al. 2014, with the mask of dropout.h.
template <typename T>
void DropRows(const DropArguments<T>& args, T* out) {
  const uint64_t site_key = SiteKey(args.dropout);
  for (int64_t r = 0; r < args.rows; ++r) {
    const uint64_t row_key = RowKey(site_key, static_cast<uint64_t>(args.row_keys[r]));
    for (int64_t c = 0; c < args.width; ++c) {
      const int64_t place = r * args.width + c;
      out[place] =
          static_cast<T>(static_cast<double>(args.x[place]) * KeepFactor(row_key, c, args.dropout));
    }
  }
}

// Columns [first, first + part_width) of rows of `width` channels.
struct Columns {
  int64_t rows = 0;
  int64_t width = 0;
  int64_t first = 0;
  int64_t part_width = 0;
};

// out = x [rows, width], with scale part [rows, part_width] added in these columns.
template <typename T>
void AddColumns(const T* x, const T* part, const Columns& columns, double scale, T* out) {
  std::copy_n(x, columns.rows * columns.width, out);
  for (int64_t r = 0; r < columns.rows; ++r) {
    for (int64_t c = 0; c < columns.part_width; ++c) {
      T& sum = out[r * columns.width + columns.first + c];
      sum = static_cast<T>(static_cast<double>(sum) +
                           scale * static_cast<double>(part[r * columns.part_width + c]));
    }
  }
}

// The gradient of `part`: scale times these columns of grad_out. That of x is grad_out itself.
template <typename T>
void AddColumnsBackward(const T* grad_out, const Columns& columns, double scale, T* grad_part) {
  for (int64_t r = 0; r < columns.rows; ++r) {
    for (int64_t c = 0; c < columns.part_width; ++c) {
      grad_part[r * columns.part_width + c] = static_cast<T>(
          scale * static_cast<double>(grad_out[r * columns.width + columns.first + c]));
    }
  }
}

}  // namespace tandem::tensor::loops

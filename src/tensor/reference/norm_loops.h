// Normalisations of rows as the reference computes them: plain loops in float or double.
#pragma once

#include <cmath>
#include <cstdint>

namespace tandem::tensor::loops {

// `blocks` blocks of `width` channels in each row, each of which is normalised by itself: one that
// is the whole row, or the heads of a row.
template <typename T>
struct NormArguments {
  const T* x;  // [rows, stride], from the first block on
  int64_t rows, blocks, width, stride;
  const T* gamma;     // [width]
  const T* beta;      // [width], or null: none
  double gamma_plus;  // added to gamma: 1 for Gemma's norm, else 0
  double epsilon;     // added to the variance
  bool centred;       // subtracts the mean (Ba et al. 2016); else RMS (Zhang and Sennrich 2019)

  double Factor(int64_t c) const { return static_cast<double>(gamma[c]) + gamma_plus; }
};

// Of one block: its mean, which counts as 0 where the norm is not centred, and
// 1 / sqrt(mean of (x - mean)^2 + epsilon).
struct Moments {
  double mean, inverse_deviation;

  // n of a number of the block.
  double Normalized(double x) const { return (x - mean) * inverse_deviation; }
};

template <typename T>
Moments MomentsOf(const T* x, const NormArguments<T>& args) {
  const auto width = static_cast<double>(args.width);
  double mean = 0, squares = 0;
  if (args.centred) {
    for (int64_t c = 0; c < args.width; ++c) mean += static_cast<double>(x[c]) / width;
  }
  for (int64_t c = 0; c < args.width; ++c) {
    const double off = static_cast<double>(x[c]) - mean;
    squares += off * off / width;
  }
  return {mean, 1 / std::sqrt(squares + args.epsilon)};
}

// out = n gamma + beta, n = (x - mean) inverse_deviation: in the places of the blocks, with the
// rows' stride.
template <typename T>
void Normalize(const NormArguments<T>& args, T* out) {
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t b = 0; b < args.blocks; ++b) {
      const int64_t first = r * args.stride + b * args.width;
      const T* x = args.x + first;
      const Moments moments = MomentsOf(x, args);
      for (int64_t c = 0; c < args.width; ++c) {
        const double n = moments.Normalized(static_cast<double>(x[c]));
        const double beta = args.beta == nullptr ? 0.0 : static_cast<double>(args.beta[c]);
        out[first + c] = static_cast<T>(n * args.Factor(c) + beta);
      }
    }
  }
}

// grad_x of one block. With g = grad_out gamma:
//
//   grad_x = inverse_deviation (g - mean(g) - n mean(g n)), without mean(g) where it is not centred
template <typename T>
void NormalizeBlockBackward(const NormArguments<T>& args, const Moments& moments, const T* x,
                            const T* grad_out, T* grad_x) {
  const auto width = static_cast<double>(args.width);
  const auto n = [&](int64_t c) { return moments.Normalized(static_cast<double>(x[c])); };
  const auto g = [&](int64_t c) { return static_cast<double>(grad_out[c]) * args.Factor(c); };
  double mean_g = 0, mean_gn = 0;
  for (int64_t c = 0; c < args.width; ++c) {
    if (args.centred) mean_g += g(c) / width;
    mean_gn += g(c) * n(c) / width;
  }
  for (int64_t c = 0; c < args.width; ++c) {
    grad_x[c] = static_cast<T>(moments.inverse_deviation * (g(c) - mean_g - n(c) * mean_gn));
  }
}

// The gradients of Normalize: grad_x in the places of the blocks, and grad_gamma = sum of
// grad_out n, grad_beta = sum of grad_out over all blocks, [width], which are added to; null: not
// wanted. `grad_out` and `grad_x` have the rows' stride.
template <typename T>
void NormalizeBackward(const NormArguments<T>& args, const T* grad_out, T* grad_x,
                       double* grad_gamma, double* grad_beta) {
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t b = 0; b < args.blocks; ++b) {
      const int64_t first = r * args.stride + b * args.width;
      const T* x = args.x + first;
      const Moments moments = MomentsOf(x, args);
      NormalizeBlockBackward(args, moments, x, grad_out + first, grad_x + first);
      for (int64_t c = 0; c < args.width; ++c) {
        const auto grad = static_cast<double>(grad_out[first + c]);
        const double n = moments.Normalized(static_cast<double>(x[c]));
        if (grad_gamma != nullptr) grad_gamma[c] += grad * n;
        if (grad_beta != nullptr) grad_beta[c] += grad;
      }
    }
  }
}

}  // namespace tandem::tensor::loops

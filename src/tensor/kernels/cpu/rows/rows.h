// Element-wise and row-wise passes of the encoder, vectorised for the processor at run time.
//
// Every function works on `rows` consecutive rows of `width` channels, a multiple of 16 and at most
// kMaxWidth. One thread calls it for its own rows. `A` is the type of activations, float or Bf16;
// arithmetic is float. Values are rounded to Bf16 to nearest, ties to even; the instruction of
// AVX512-BF16 makes numbers below 2^-126 zero. Pointers may be unaligned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor::cpu {

// A kernel keeps a row or two of floats on the stack, of which it uses as much as a row is wide.
// The widest arrays of encoders are the inner values of gated layers, 28,672 channels.
inline constexpr size_t kMaxWidth = 32768;

// Dropout of a range of rows. The key of row r is RowKey(site_key, position_keys[r]).
struct RowDropout {
  uint64_t site_key = 0;
  const int64_t* position_keys = nullptr;  // of the first row
  uint32_t threshold = 0;                  // KeepThreshold(rate); 0: off
  float keep_scale = 1;
};

// out = LayerNorm(residual + dropout(branch)) * gamma + beta.
template <typename A>
struct ResidualNormForward {
  const float* branch;  // [rows, width]
  const A* residual;    // [rows, width], or null for none
  const float* gamma;   // [width]
  const float* beta;    // [width]
  float epsilon;
  RowDropout dropout;        // of `branch`
  A* out;                    // [rows, width]
  A* normalized;             // [rows, width] before gamma and beta; null: not wanted
  float* inverse_deviation;  // [rows]; null: not wanted
};
template <typename A>
void RunResidualNormForward(const ResidualNormForward<A>& args, size_t rows, size_t width);

// The backward pass of ResidualNormForward.
template <typename A>
struct ResidualNormBackward {
  const A* grad_out;               // [rows, width]
  const A* normalized;             // [rows, width]
  const float* inverse_deviation;  // [rows]
  const float* gamma;              // [width]
  const float* beta;               // [width]; read with inverse_gamma only
  const float* inverse_gamma;      // [width]: `normalized` holds the layer's output, and the rows
                                   // before gamma and beta are (out - beta) / gamma. Null: it holds
                                   // those rows
  RowDropout dropout;
  A* grad_residual;   // [rows, width]
  A* grad_branch;     // [rows, width]; null: not wanted
  float* grad_gamma;  // [width], added to
  float* grad_beta;   // [width], added to
  float* grad_bias;   // [width], added to: column sums of grad_branch; null: not wanted
};
template <typename A>
void RunResidualNormBackward(const ResidualNormBackward<A>& args, size_t rows, size_t width);

// out = dropout(in); `in` and `out` may be the same array. The backward pass applies the same
// function to the gradient.
template <typename A>
void RunDropout(const A* in, A* out, const RowDropout& dropout, size_t rows, size_t width);

// activated = x Phi(x), the exact GELU. The error of Phi is below 3e-7, for Bf16 below 5e-6 before
// rounding. The GELU of a NaN or of infinity is a NaN.
template <typename A>
void RunGeluForward(const A* in, A* activated, size_t count);

// Reads the pre-activation `in` and overwrites `grad`, the gradient of the activated values, with
// that of the pre-activation. Computes `activated` again. The slope at a NaN is a NaN.
template <typename A>
void RunGeluBackward(const A* in, A* grad, A* activated, size_t count);

// out = sum of the rows at ids and positions and of the one token-type row, float.
struct EmbeddingRows {
  const float* word;         // [V, width]
  const float* position;     // [P, width], or null
  const float* type;         // [width], or null
  const int32_t* ids;        // [rows]
  const int32_t* positions;  // [rows]
  const int32_t* types;      // [rows]: rows of `type`; null: all 0
};
void RunEmbeddingSum(const EmbeddingRows& args, float* out, size_t rows, size_t width);

// The backward pass of RunEmbeddingSum: adds row r of `in` to rows word_rows[r] of `word` and
// positions[r] of `position`, in channels [first, first + count), both multiples of 16.
template <typename A>
struct EmbeddingScatter {
  const A* in;               // [rows, width]
  const int32_t* word_rows;  // [rows]
  float* word;               // [.., width]
  const int32_t* positions;  // [rows]
  float* position;           // [.., width]; null: not wanted
};
template <typename A>
void RunEmbeddingScatter(const EmbeddingScatter<A>& args, size_t rows, size_t width, size_t first,
                         size_t count);

// sums[c] += sum over rows of in[r, c].
template <typename A>
void AddColumnSums(const A* in, float* sums, size_t rows, size_t width);

// out = a + b.
template <typename A>
void AddRows(const float* a, const A* b, A* out, size_t count);

// y += factor * x, float.
void AddScaled(const float* x, float factor, float* y, size_t count);

void ToBf16(const float* in, Bf16* out, size_t count);
void ToFloat(const Bf16* in, float* out, size_t count);

}  // namespace tandem::tensor::cpu

// Fused layers of an encoder on the CPU: a thread takes its share of the rows and carries a tile of
// them through the operations of the layer while the tile is in its cache; gradients of weights are
// products of more rows.
//
// Rows are split over threads in one fixed way, and gradients of weights are summed per thread and
// then over threads in order: the same thread count gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/kernels/cpu/bf16.h"
#include "tensor/kernels/cpu/products.h"

namespace tandem::tensor::cpu {

template <typename A>
inline constexpr Type kTypeOf = Type::kFloat;
template <>
inline constexpr Type kTypeOf<Bf16> = Type::kBf16;

struct Norm {
  const float* gamma;  // [H]
  const float* beta;   // [H]
  float epsilon;
};

// Added to by the backward passes.
struct NormGradient {
  float* gamma;  // [H]
  float* beta;   // [H]
};

// y = x W^T + b with W [out, in]: what a forward pass needs of it.
struct Affine {
  const PackedMatrix* weight;  // depth in, columns out
  const float* bias;           // [out], or null
};

// What a backward pass needs: W as depth out, columns in, and where gradients go.
struct AffineGradient {
  const PackedMatrix* weight_transposed;
  float* weight;  // [out, in], overwritten; null: weights are frozen
  float* bias;    // [out], added to; null: none
};

// Which channels of which rows are dropped.
struct RowNames {
  const int64_t* position_keys = nullptr;  // [T]
  Dropout dropout;
};

// out [rows, affine.columns] = x [rows, depth] W^T + b.
template <typename A>
void AffineForward(const A* x, size_t rows, const Affine& affine, A* out, int threads);
// grad_x [rows, in] = grad_out W, plus `beside` [rows, in] where it is not null; grad_x may be
// null.
template <typename A>
void AffineBackward(const A* x, const A* grad_out, const A* beside, size_t rows,
                    const AffineGradient& gradient, A* grad_x, int threads);

// Kept by a normalising layer for its backward pass; null where no gradient is wanted.
template <typename A>
struct NormKept {
  A* normalized;             // [rows, H]
  float* inverse_deviation;  // [rows]
  // [H], or null. Where it is there, `normalized` is the layer's output, which others keep anyway:
  // the backward pass computes the normalised rows from it again, (out - beta) / gamma.
  const float* inverse_gamma = nullptr;
};

// out = LayerNorm(residual + dropout(x W^T + b)).
template <typename A>
void AffineNormForward(const A* x, const A* residual, size_t rows, const Affine& affine,
                       const Norm& norm, const RowNames& names, A* out, const NormKept<A>& kept,
                       int threads);
template <typename A>
void AffineNormBackward(const A* x, const A* grad_out, size_t rows, const NormKept<A>& kept,
                        const Norm& norm, const RowNames& names, const AffineGradient& gradient,
                        const NormGradient& norm_gradient, A* grad_x, A* grad_residual,
                        int threads);

// out = LayerNorm(x + dropout(gelu(x U^T + u) D^T + d)); `before_gelu` [rows, F] is kept, or null.
template <typename A>
void FeedForwardForward(const A* x, size_t rows, const Affine& up, const Affine& down,
                        const Norm& norm, const RowNames& names, A* out, A* before_gelu,
                        const NormKept<A>& kept, int threads);
template <typename A>
void FeedForwardBackward(const A* x, const A* before_gelu, const A* grad_out, size_t rows,
                         const NormKept<A>& kept, const Norm& norm, const RowNames& names,
                         const AffineGradient& up, const AffineGradient& down,
                         const NormGradient& norm_gradient, A* grad_x, int threads);

struct Embedding {
  const float* word;         // [V, H]
  const float* position;     // [P, H]
  const float* type;         // [H], or null
  const int32_t* ids;        // [rows]
  const int32_t* positions;  // [rows]
  size_t width;
};

struct EmbeddingGradient {
  float* word;               // [n, H], added to
  const int32_t* word_rows;  // [rows]: which of the n a token's gradient goes to
  float* position;           // [P, H], added to
  float* type;               // [H], added to; null: none
};

// out = dropout(LayerNorm(word + position + type)).
template <typename A>
void EmbeddingNormForward(const Embedding& embedding, size_t rows, const Norm& norm,
                          const RowNames& names, A* out, const NormKept<A>& kept, int threads);
// `grad_sum` [rows, H] is for work.
template <typename A>
void EmbeddingNormBackward(const Embedding& embedding, const A* grad_out, size_t rows,
                           const NormKept<A>& kept, const Norm& norm, const RowNames& names,
                           const EmbeddingGradient& gradient, const NormGradient& norm_gradient,
                           A* grad_sum, int threads);

}  // namespace tandem::tensor::cpu

// Steps that the reference operations are made of. Each is a loop over rows with a backward pass of
// its own, and rounds its result to the type of the activations, as a tensor operation does.
#pragma once

#include <cstdint>

#include "tensor/core/tensor.h"
#include "tensor/ops.h"

namespace tandem::tensor::reference {

// x [T, width] with dropout.
Tensor Dropped(const Tensor& x, const PackedTokens& tokens, const Dropout& dropout);

// x [T, width], with scale `part` [T, n] added to its columns [first, first + n).
Tensor Added(const Tensor& x, const Tensor& part, int64_t first = 0, double scale = 1);

// The rows of x normalised, in `out_type`; x where there is no norm.
Tensor Normalized(const Tensor& x, const Norm& norm, DType out_type);
inline Tensor Normalized(const Tensor& x, const Norm& norm) {
  return Normalized(x, norm, x.dtype());
}
// x with `heads` blocks of norm.gamma's width from column `first` on normalised, each by itself.
Tensor NormalizedHeads(const Tensor& x, const Norm& norm, int64_t first, int64_t heads);

// The inner values of a feed-forward layer, from [T, F], or gated from [T, 2F], to [T, F].
Tensor InnerValues(const Tensor& x, Activation activation, bool gated);

// x W^T + b, [T, N], with the map's own weights, without its adapter.
Tensor Product(const Tensor& x, const Linear& linear);

// scale (word[ids] + position[positions] + type[types]), [T, H] of `out_type`.
Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                    DType out_type);
// The type that EmbeddingSum reads the tables in: the widest of theirs.
DType TableType(const EmbeddingTables& tables);

}  // namespace tandem::tensor::reference

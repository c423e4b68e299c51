// Steps that the reference operations are made of. Each is a loop over rows with a backward pass of
// its own, and rounds its result to the type of the activations, as a tensor operation does.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "tensor/ops.h"

namespace tandem::tensor::reference {

// x [T, width] with dropout.
at::Tensor Dropped(const at::Tensor& x, const PackedTokens& tokens, const Dropout& dropout);

// x [T, width], with scale `part` [T, n] added to its columns [first, first + n).
at::Tensor Added(const at::Tensor& x, const at::Tensor& part, int64_t first = 0, double scale = 1);

// The rows of x normalised, in `out_type`; x where there is no norm.
at::Tensor Normalized(const at::Tensor& x, const Norm& norm, at::ScalarType out_type);
inline at::Tensor Normalized(const at::Tensor& x, const Norm& norm) {
  return Normalized(x, norm, x.scalar_type());
}
// x with `heads` blocks of norm.gamma's width from column `first` on normalised, each by itself.
at::Tensor NormalizedHeads(const at::Tensor& x, const Norm& norm, int64_t first, int64_t heads);

// The inner values of a feed-forward layer, from [T, F], or gated from [T, 2F], to [T, F].
at::Tensor InnerValues(const at::Tensor& x, Activation activation, bool gated);

// x W^T + b, [T, N], with the map's own weights, without its adapter.
at::Tensor Product(const at::Tensor& x, const Linear& linear);

// scale (word[ids] + position[positions] + type[types]), [T, H] of `out_type`.
at::Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                        at::ScalarType out_type);
// The type that EmbeddingSum reads the tables in: the widest of theirs.
at::ScalarType TableType(const EmbeddingTables& tables);

}  // namespace tandem::tensor::reference

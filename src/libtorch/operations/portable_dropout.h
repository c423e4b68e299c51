// The masks of dropout.h in tensor operations, on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include "tensor/dropout.h"

namespace tandem::libtorch::portable {

using tensor::Dropout;

// Says where a channel is dropped, bool [..., width], for the keys int64 [...] of places in texts
// (PackedTokens::row_keys).
at::Tensor Dropped(const at::Tensor& row_keys, int64_t width, const Dropout& dropout);
// Drops for heads of attention, whose channels are keys: bool [B, heads, Q, width] for the keys
// int64 [B, Q] of queries.
at::Tensor DroppedOfHeads(const at::Tensor& row_keys, int64_t heads, int64_t width,
                          const Dropout& dropout);

// x [T, width] with dropout, for the keys int64 [T] of its rows.
at::Tensor Drop(const at::Tensor& x, const at::Tensor& row_keys, const Dropout& dropout);

}  // namespace tandem::libtorch::portable

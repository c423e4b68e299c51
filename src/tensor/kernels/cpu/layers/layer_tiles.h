// Says how the layers of layers.h and residual_layers.h cut their rows into tiles, and the products
// of a tile.
#pragma once

#include <cstddef>
#include <type_traits>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {

template <typename A>
bool OnTiles() {
  return std::is_same_v<A, Bf16> && CurrentIsa() >= Isa::kAmx;
}
// Rows of a tile. What a feed-forward layer computes of them should stay in the second-level cache.
// In a forward pass 128 rows were 2 % faster than 64 in fp32 on a processor with AVX-512 and 1 MB
// of that cache (in bf16 they were equal); with half as much cache, 64 fit. In bf16 on AMX, with 2
// MB, 256 were 2 % faster than 128, and 1 % in a backward pass.
template <typename A>
size_t ForwardRows() {
  if (OnTiles<A>()) return 256;
  return CurrentIsa() >= Isa::kAvx512 ? 128 : 64;
}
template <typename A>
size_t BackwardRows() {
  return OnTiles<A>() ? 256 : 128;
}

// Rows of one product for the gradient of a weight: 512 of floats, 1024 of bf16. Each product reads
// and writes the whole gradient, 2.4 MB for a feed-forward weight of width 384. That costs more
// than writing the product's factors to memory and reading them back: a training step took 7 %
// (fp32) and 10 % (bf16) less time than with 128 rows. More rows were hardly faster, and every
// thread needs memory for them. On AMX 512 of bf16 were as fast as 1024: the narrower factor then
// fits the second-level cache.
template <typename A>
size_t SummedRows() {
  return CurrentIsa() >= Isa::kAmx ? 512 : 2048 / sizeof(A);
}

inline RowDropout RowDropoutFrom(const DropoutKeys& keys, size_t first) {
  if (!keys.dropout.active()) return {};
  return {SiteKey(keys.dropout), keys.position_keys + first, KeepThreshold(keys.dropout.rate),
          KeepScale(keys.dropout.rate)};
}

// Row `first` of an array; null stays null.
template <typename A>
A* At(A* rows, size_t first, size_t width) {
  return rows == nullptr ? nullptr : rows + first * width;
}

// out = x W^T + b, or, `add`, out += x W^T, where the map has no bias.
template <typename A>
void Multiply(const A* x, size_t rows, const Affine& affine, void* out, Type out_type,
              bool add = false) {
  const PackedMatrix& weight = *affine.weight;
  MultiplyPacked({{x, weight.depth()},
                  static_cast<int64_t>(rows),
                  weight,
                  affine.bias,
                  {out, weight.columns()},
                  out_type,
                  add});
}

// out = grad W.
template <typename A>
void MultiplyBack(const A* grad, size_t rows, const AffineGradient& gradient, void* out,
                  Type out_type) {
  Multiply(grad, rows, {gradient.weight_transposed, nullptr}, out, out_type);
}

}  // namespace tandem::tensor::cpu

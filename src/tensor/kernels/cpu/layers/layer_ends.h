// Says how a layer that normalises what it reads begins, norm(x), and how it ends, residual +
// dropout(norm(branch)). A thread calls these functions for its own tiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "tensor/kernels/cpu/layers/layer_tiles.h"
#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/kernels/cpu/rows/norm_rows.h"
#include "tensor/kernels/cpu/rows/row_split.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {

template <typename A>
struct LayerEnd {
  const A* residual;  // [rows, H]
  RowNorm norm;       // of the branch; without gamma: none
  DropoutKeys dropout;
  A* branch;  // [rows, H], for the backward pass through the norm; null: not wanted
  A* out;     // [rows, H]
};

template <typename A>
struct LayerEndBackward {
  const A* grad_out;  // [rows, H]
  RowNorm norm;
  DropoutKeys dropout;
  const A* branch;  // [rows, H], as the forward pass wrote it; read with a norm
  NormGradient norm_gradient;

  // Says whether the gradient of the branch is grad_out itself.
  bool plain() const { return norm.gamma == nullptr && !dropout.dropout.active(); }
};

// The end of the rows of a tile, whose branch is x W^T + b. x [count, in] begins at the tile.
template <typename A>
void EndTile(const LayerEnd<A>& end, const A* x, const Affine& affine, RowRange tile) {
  const auto width = static_cast<size_t>(affine.weight->columns());
  const size_t first = tile.begin, count = tile.end - tile.begin;
  const RowDropout dropout = RowDropoutFrom(end.dropout, first);
  const A* residual = end.residual + first * width;
  A* out = end.out + first * width;
  if (end.norm.gamma == nullptr && dropout.threshold == 0 && affine.bias == nullptr) {
    std::copy_n(residual, count * width, out);
    Multiply(x, count, affine, out, kTypeOf<A>, /*add=*/true);
    return;
  }
  if (end.norm.gamma == nullptr) {
    auto* branch = AllocateScratchArray<float, LayerEnd<A>>(count * width);
    Multiply(x, count, affine, branch, Type::kFloat);
    RunBranchSum<A>({branch, 1, dropout, residual, out}, count, width);
    return;
  }
  A* branch =
      end.branch ? end.branch + first * width : AllocateScratchArray<A, LayerEnd<A>>(count * width);
  Multiply(x, count, affine, branch, kTypeOf<A>);
  RunNorm<A>({branch, end.norm, dropout, residual, out, {}}, count, width);
}

// Gives the values as floats, at `to` where they are not floats already.
inline const float* AsFloats(const float* values, float* /*to*/, size_t /*count*/) {
  return values;
}
inline const float* AsFloats(const Bf16* values, float* to, size_t count) {
  ToFloat(values, to, count);
  return to;
}

// RunNormBackward with the statistics of args.x, which it computes.
template <typename A>
void RunNormBackwardOf(NormBackward<A> args, size_t rows, size_t width) {
  args.statistics = AllocateScratch<RowStatistics>([rows](Scratch& scratch) {
    return RowStatistics{.mean = scratch.Allocate<float>(rows),
                         .inverse_deviation = scratch.Allocate<float>(rows)};
  });
  RunNorm<A>({args.x, args.norm, {}, nullptr, nullptr, args.statistics}, rows, width);
  RunNormBackward(args, rows, width);
}

// Writes the gradient of a tile's branch to `grad_branch` [count, width], unless it is plain(), and
// adds to the gradients of the norm and to column sums of grad_branch; null: not wanted.
template <typename A>
void EndTileBackward(const LayerEndBackward<A>& end, RowRange tile, size_t width,
                     const NormGradient& norm_sums, float* bias_sums, A* grad_branch) {
  const size_t first = tile.begin, count = tile.end - tile.begin;
  const A* grad_out = end.grad_out + first * width;
  const RowDropout dropout = RowDropoutFrom(end.dropout, first);
  if (end.norm.gamma) {
    auto* floats = AllocateScratchArray<float, LayerEndBackward<A>>(
        std::is_same_v<A, float> ? 0 : count * width);
    NormBackward<A> args{};
    args.grad_out = AsFloats(grad_out, floats, count * width);
    args.x = end.branch + first * width;
    args.norm = end.norm;
    args.dropout = dropout;
    args.grad_x = grad_branch;
    args.grad_gamma = norm_sums.gamma;
    args.grad_beta = norm_sums.beta;
    args.grad_bias = bias_sums;
    RunNormBackwardOf(args, count, width);
    return;
  }
  if (!end.plain()) RunDropout(grad_out, grad_branch, dropout, count, width);
  if (bias_sums) AddColumnSums(end.plain() ? grad_out : grad_branch, bias_sums, count, width);
}

template <typename A>
struct LayerStartBackward {
  const A* x;  // [rows, width]
  RowNorm norm;
  const A* other_grad_x;  // [rows, width], the gradient that x has from another reader; null: none,
                          // with a norm only
  A* grad_x;              // [rows, width]
};

// Gradients of a tile from that of norm(x), [count, width].
template <typename A>
void StartTileBackward(const LayerStartBackward<A>& start, const float* grad_normalized,
                       RowRange tile, size_t width, const NormGradient& norm_sums) {
  const size_t first = tile.begin, count = tile.end - tile.begin;
  const A* other = At(start.other_grad_x, first, width);
  A* grad_x = start.grad_x + first * width;
  if (start.norm.gamma == nullptr) {
    AddRows(grad_normalized, other, grad_x, count * width);
    return;
  }
  NormBackward<A> args{};
  args.grad_out = grad_normalized;
  args.x = start.x + first * width;
  args.norm = start.norm;
  args.other_grad_x = other;
  args.grad_x = grad_x;
  args.grad_gamma = norm_sums.gamma;
  args.grad_beta = norm_sums.beta;
  RunNormBackwardOf(args, count, width);
}

}  // namespace tandem::tensor::cpu

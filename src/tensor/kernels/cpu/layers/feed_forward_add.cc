#include "tensor/kernels/cpu/layers/feed_forward_add.h"

#include <algorithm>

#include "tensor/kernels/cpu/layers/layer_sums.h"
#include "tensor/kernels/cpu/layers/layer_tiles.h"
#include "tensor/kernels/cpu/rows/activation_rows.h"
#include "tensor/kernels/cpu/rows/row_split.h"
#include "tensor/kernels/cpu/rows/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {

template <typename A>
void RunFeedForwardAddForward(const FeedForwardAddForward<A>& args, int threads) {
  const auto width = static_cast<size_t>(args.up.weight->depth());
  const auto before_width = static_cast<size_t>(args.up.weight->columns());
  const auto inner_width = static_cast<size_t>(args.down.weight->depth());
  struct Arrays {
    A* normalized;  // [ForwardRows, H]
    A* before;      // [ForwardRows, F or 2F]
    A* inner;       // [ForwardRows, F]
  };
  const size_t most = ForwardRows<A>();
  ForTilesOnThreads(args.rows, most, threads, [&](size_t first, size_t count) {
    const Arrays m = AllocateScratch([&](Scratch& scratch) {
      return Arrays{.normalized = scratch.Allocate<A>(args.norm.gamma ? most * width : 0),
                    .before = scratch.Allocate<A>(args.before ? 0 : most * before_width),
                    .inner = scratch.Allocate<A>(most * inner_width)};
    });
    const A* x = args.x + first * width;
    if (args.norm.gamma) {
      RunNorm<A>({x, args.norm, {}, nullptr, m.normalized, {}}, count, width);
      x = m.normalized;
    }
    A* before = args.before ? args.before + first * before_width : m.before;
    Multiply(x, count, args.up, before, kTypeOf<A>);
    RunActivation<A>({args.inner.activation, args.inner.gated, before,
                      RowDropoutFrom(args.inner.dropout, first), m.inner},
                     count, inner_width);
    EndTile(args.end, m.inner, args.down, {first, first + count});
  });
}

namespace {

// The widths of a layer.
struct Widths {
  size_t hidden;  // H
  size_t before;  // F, or 2F where gated
  size_t inner;   // F

  template <typename A>
  static Widths Of(const FeedForwardAddBackward<A>& args) {
    return {static_cast<size_t>(args.up.weight_transposed->columns()),
            static_cast<size_t>(args.up.weight_transposed->depth()),
            static_cast<size_t>(args.down.weight_transposed->columns())};
  }
};

// The working memory of a thread, for the rows of a block, whose products with weights are summed
// at once, and of a tile. Arrays that only the gradients of weights need are empty where these are
// not wanted.
template <typename A>
struct BackwardArrays {
  A* normalized;           // [block, H]
  A* grad_branch;          // [block, H]
  A* grad_before;          // [block, F or 2F]
  A* inner;                // [block, F]
  A* grad_inner;           // [tile, F]
  float* grad_normalized;  // [tile, H]

  static BackwardArrays Allocate(const FeedForwardAddBackward<A>& args, size_t block) {
    const Widths widths = Widths::Of(args);
    const size_t tile = std::min(block, BackwardRows<A>());
    const bool reads_normalized = args.up.weight && args.norm.gamma;
    return AllocateScratch([=, &args](Scratch& scratch) {
      return BackwardArrays{
          .normalized = scratch.Allocate<A>(reads_normalized ? block * widths.hidden : 0),
          .grad_branch = scratch.Allocate<A>(args.end.plain() ? 0 : block * widths.hidden),
          .grad_before = scratch.Allocate<A>(block * widths.before),
          .inner = scratch.Allocate<A>(args.down.weight ? block * widths.inner : 0),
          .grad_inner = scratch.Allocate<A>(tile * widths.inner),
          .grad_normalized = scratch.Allocate<float>(tile * widths.hidden)};
    });
  }
};

// The sums of one thread.
struct BackwardParts {
  AffineSums::Part up;
  AffineSums::Part down;
  NormGradient norm;
  NormGradient end_norm;
};

// Gradients of the rows of a tile; `at` is its place among the rows of the block.
template <typename A>
void BackwardTile(const FeedForwardAddBackward<A>& args, const BackwardArrays<A>& m,
                  const BackwardParts& parts, size_t at, RowRange tile) {
  const Widths widths = Widths::Of(args);
  const size_t first = tile.begin, count = tile.end - tile.begin;
  A* grad_before = m.grad_before + at * widths.before;
  A* branch = args.end.plain() ? nullptr : m.grad_branch + at * widths.hidden;
  EndTileBackward(args.end, tile, widths.hidden, parts.end_norm, parts.down.bias, branch);
  MultiplyBack(branch ? branch : args.end.grad_out + first * widths.hidden, count, args.down,
               m.grad_inner, kTypeOf<A>);
  RunActivationBackward<A>(
      {args.inner.activation, args.inner.gated, args.before + first * widths.before,
       RowDropoutFrom(args.inner.dropout, first), m.grad_inner, grad_before,
       parts.down.weight ? m.inner + at * widths.inner : nullptr},
      count, widths.inner);
  if (parts.up.bias) AddColumnSums(grad_before, parts.up.bias, count, widths.before);
  MultiplyBack(grad_before, count, args.up, m.grad_normalized, Type::kFloat);
  StartTileBackward<A>({args.x, args.norm, args.end.grad_out, args.grad_x}, m.grad_normalized, tile,
                       widths.hidden, parts.norm);
}

// Rows of a block: as many as a weight's gradient is summed of at once, or a tile where none is
// wanted.
template <typename A>
size_t BlockRows(const FeedForwardAddBackward<A>& args) {
  return args.up.weight || args.down.weight ? SummedRows<A>() : BackwardRows<A>();
}

}  // namespace

template <typename A>
void RunFeedForwardAddBackward(const FeedForwardAddBackward<A>& args, int threads) {
  const Widths widths = Widths::Of(args);
  AffineSums up_sums(args.up, threads), down_sums(args.down, threads);
  NormSums norm_sums(args.norm_gradient, widths.hidden, threads);
  NormSums end_norm_sums(args.end.norm_gradient, widths.hidden, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    BackwardParts parts{up_sums.PartOf(thread), down_sums.PartOf(thread), norm_sums.PartOf(thread),
                        end_norm_sums.PartOf(thread)};
    const auto m =
        BackwardArrays<A>::Allocate(args, std::min(BlockRows(args), range.end - range.begin));
    ForTiles(range, BlockRows(args), [&](size_t block, size_t block_rows) {
      ForTiles({block, block + block_rows}, BackwardRows<A>(), [&](size_t first, size_t count) {
        BackwardTile(args, m, parts, first - block, {first, first + count});
      });
      const A* x = args.x + block * widths.hidden;
      const A* grad_branch =
          args.end.plain() ? args.end.grad_out + block * widths.hidden : m.grad_branch;
      down_sums.AddProduct(grad_branch, m.inner, block_rows, parts.down);
      if (parts.up.weight && args.norm.gamma) {
        RunNorm<A>({x, args.norm, {}, nullptr, m.normalized, {}}, block_rows, widths.hidden);
        x = m.normalized;
      }
      up_sums.AddProduct(m.grad_before, x, block_rows, parts.up);
    });
    up_sums.EndPart(parts.up);
    down_sums.EndPart(parts.down);
  });
  up_sums.Finish(threads);
  down_sums.Finish(threads);
  norm_sums.Finish(threads);
  end_norm_sums.Finish(threads);
}

#define TANDEM_INSTANTIATE(A)                                                   \
  template void RunFeedForwardAddForward(const FeedForwardAddForward<A>&, int); \
  template void RunFeedForwardAddBackward(const FeedForwardAddBackward<A>&, int)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

}  // namespace tandem::tensor::cpu

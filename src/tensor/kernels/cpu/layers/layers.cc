#include "tensor/kernels/cpu/layers/layers.h"

#include <algorithm>

#include "tensor/kernels/cpu/layers/layer_sums.h"
#include "tensor/kernels/cpu/layers/layer_tiles.h"
#include "tensor/kernels/cpu/rows/activation_rows.h"
#include "tensor/kernels/cpu/rows/row_split.h"
#include "tensor/kernels/cpu/rows/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {
namespace {

// The normalisation of a tile of rows: of `branch` + `residual` (null: none) from row `first` on.
template <typename Layer, typename A>
ResidualNormForward<A> NormOfTile(const Layer& layer, const float* branch, const A* residual,
                                  const RowDropout& dropout, size_t first, size_t width) {
  return {branch,
          At(residual, first, width),
          layer.norm.gamma,
          layer.norm.beta,
          layer.norm.epsilon,
          dropout,
          At(layer.out, first, width),
          layer.saved.inverse_gamma ? nullptr : At(layer.saved.normalized, first, width),
          At(layer.saved.inverse_deviation, first, 1)};
}

// The backward pass of a tile's normalisation, without its results.
template <typename A>
ResidualNormBackward<A> NormGradientOfTile(const A* grad_out, const SavedNorm<A>& saved,
                                           const Norm& norm, size_t first, size_t width) {
  ResidualNormBackward<A> args{};
  args.grad_out = grad_out;
  args.normalized = saved.normalized + first * width;
  args.inverse_deviation = saved.inverse_deviation + first;
  args.gamma = norm.gamma;
  args.beta = norm.beta;
  args.inverse_gamma = saved.inverse_gamma;
  return args;
}

}  // namespace

template <typename A>
void RunAffineForward(const AffineForward<A>& args, int threads) {
  const auto in = static_cast<size_t>(args.affine.weight->depth());
  const auto width = static_cast<size_t>(args.affine.weight->columns());
  ForTilesOnThreads(args.rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    Multiply(args.x + first * in, count, args.affine, args.out + first * width, kTypeOf<A>);
  });
}

template <typename A>
void RunAffineBackward(const AffineBackward<A>& args, int threads) {
  const auto out = static_cast<size_t>(args.gradient.weight_transposed->depth());
  const auto in = static_cast<size_t>(args.gradient.weight_transposed->columns());
  AffineSums sums(args.gradient, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    AffineSums::Part part = sums.PartOf(thread);
    ForTiles(range, SummedRows<A>(), [&](size_t first, size_t count) {
      sums.AddProduct(args.grad_out + first * out, args.x + first * in, count, part);
    });
    auto* product = AllocateScratchArray<float>(BackwardRows<A>() * in);
    ForTiles(range, BackwardRows<A>(), [&](size_t first, size_t count) {
      const A* grad = args.grad_out + first * out;
      if (part.bias) AddColumnSums(grad, part.bias, count, out);
      if (!args.grad_x) return;
      A* to = args.grad_x + first * in;
      if (!args.other_grad_x) {
        MultiplyBack(grad, count, args.gradient, to, kTypeOf<A>);
      } else {
        MultiplyBack(grad, count, args.gradient, product, Type::kFloat);
        AddRows(product, args.other_grad_x + first * in, to, count * in);
      }
    });
    sums.EndPart(part);
  });
  sums.Finish(threads);
}

template <typename A>
void RunAffineNormForward(const AffineNormForward<A>& args, int threads) {
  const auto in = static_cast<size_t>(args.affine.weight->depth());
  const auto width = static_cast<size_t>(args.affine.weight->columns());
  ForTilesOnThreads(args.rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    auto* branch = AllocateScratchArray<float>(ForwardRows<A>() * width);
    Multiply(args.x + first * in, count, args.affine, branch, Type::kFloat);
    RunResidualNormForward(
        NormOfTile(args, branch, args.residual, RowDropoutFrom(args.dropout, first), first, width),
        count, width);
  });
}

template <typename A>
void RunAffineNormBackward(const AffineNormBackward<A>& args, int threads) {
  const auto width = static_cast<size_t>(args.gradient.weight_transposed->depth());
  const auto in = static_cast<size_t>(args.gradient.weight_transposed->columns());
  AffineSums sums(args.gradient, threads);
  NormSums norm_sums(args.norm_gradient, width, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    AffineSums::Part part = sums.PartOf(thread);
    const NormGradient norm_part = norm_sums.PartOf(thread);
    const size_t most = std::min(SummedRows<A>(), range.end - range.begin);
    A* grad_branches = AllocateScratchArray<A>(most * width);
    ForTiles(range, SummedRows<A>(), [&](size_t block, size_t block_rows) {
      ForTiles({block, block + block_rows}, BackwardRows<A>(), [&](size_t first, size_t count) {
        A* grad_branch = grad_branches + (first - block) * width;
        ResidualNormBackward<A> norm =
            NormGradientOfTile(args.grad_out + first * width, args.saved, args.norm, first, width);
        norm.dropout = RowDropoutFrom(args.dropout, first);
        norm.grad_residual = args.grad_residual + first * width;
        norm.grad_branch = grad_branch;
        norm.grad_gamma = norm_part.gamma;
        norm.grad_beta = norm_part.beta;
        norm.grad_bias = part.bias;
        RunResidualNormBackward(norm, count, width);
        MultiplyBack(grad_branch, count, args.gradient, args.grad_x + first * in, kTypeOf<A>);
      });
      sums.AddProduct(grad_branches, args.x + block * in, block_rows, part);
    });
    sums.EndPart(part);
  });
  sums.Finish(threads);
  norm_sums.Finish(threads);
}

namespace {

// MultiplyToGelu for any activation.
template <typename A>
void MultiplyToInner(Activation activation, const GeluProduct<A>& p) {
  if (activation == Activation::kGelu) return MultiplyToGelu(p);
  A* product = p.before ? p.before : p.activated;
  Multiply(p.x, p.rows, {&p.b, p.bias}, product, kTypeOf<A>);
  RunActivation<A>({activation, false, product, {}, p.activated}, p.rows,
                   static_cast<size_t>(p.b.columns()));
}

// MultiplyToGeluGradient for any activation.
template <typename A>
void MultiplyToInnerGradient(Activation activation, const GeluGradientProduct<A>& p) {
  if (activation == Activation::kGelu) return MultiplyToGeluGradient(p);
  const auto columns = static_cast<size_t>(p.b.columns());
  Multiply(p.x, p.rows, {&p.b, nullptr}, p.grad, kTypeOf<A>);
  RunActivationBackward<A>({activation, false, p.before, {}, p.grad, p.grad, p.activated}, p.rows,
                           columns);
  if (p.column_sums) AddColumnSums(p.grad, p.column_sums, p.rows, columns);
}

}  // namespace

template <typename A>
void RunFeedForwardForward(const FeedForwardForward<A>& args, int threads) {
  const auto width = static_cast<size_t>(args.up.weight->depth());
  const auto inner = static_cast<size_t>(args.up.weight->columns());
  struct Arrays {
    A* activated;   // [ForwardRows, inner]
    float* branch;  // [ForwardRows, width]
  };
  ForTilesOnThreads(args.rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    const Arrays m = AllocateScratch([&](Scratch& scratch) {
      return Arrays{.activated = scratch.Allocate<A>(ForwardRows<A>() * inner),
                    .branch = scratch.Allocate<float>(ForwardRows<A>() * width)};
    });
    MultiplyToInner<A>(args.activation, {.x = args.x + first * width,
                                         .rows = count,
                                         .b = *args.up.weight,
                                         .bias = args.up.bias,
                                         .before = At(args.before, first, inner),
                                         .activated = m.activated});
    Multiply(m.activated, count, args.down, m.branch, Type::kFloat);
    RunResidualNormForward(
        NormOfTile(args, m.branch, args.x, RowDropoutFrom(args.dropout, first), first, width),
        count, width);
  });
}

namespace {

// The working memory of a thread during the backward pass of a feed-forward layer, for `rows` rows
// whose products with weights are summed at once.
template <typename A>
struct FeedForwardArrays {
  A* grad_sum;       // [BackwardRows, width]: of x + dropout(branch)
  float* grad_x;     // [BackwardRows, width]: without the residual's part
  A* grad_branches;  // [rows, width]
  A* grad_inners;    // [rows, inner]: of the values before GELU
  A* activations;    // [rows, inner]

  static FeedForwardArrays Allocate(size_t rows, size_t width, size_t inner) {
    return AllocateScratch([=](Scratch& scratch) {
      return FeedForwardArrays{.grad_sum = scratch.Allocate<A>(BackwardRows<A>() * width),
                               .grad_x = scratch.Allocate<float>(BackwardRows<A>() * width),
                               .grad_branches = scratch.Allocate<A>(rows * width),
                               .grad_inners = scratch.Allocate<A>(rows * inner),
                               .activations = scratch.Allocate<A>(rows * inner)};
    });
  }
};

// The sums of one thread in that pass.
struct FeedForwardParts {
  AffineSums::Part up;
  AffineSums::Part down;
  NormGradient norm;
};

// Gradients of `count` rows from `first` on; `at` is their place among the rows of the arrays.
template <typename A>
void FeedForwardBackwardTile(const FeedForwardBackward<A>& args, const FeedForwardArrays<A>& m,
                             const FeedForwardParts& parts, size_t at, RowRange tile) {
  const auto width = static_cast<size_t>(args.up.weight_transposed->columns());
  const auto inner = static_cast<size_t>(args.up.weight_transposed->depth());
  const size_t first = tile.begin, count = tile.end - tile.begin;
  A* grad_branch = m.grad_branches + at * width;
  A* grad_inner = m.grad_inners + at * inner;
  ResidualNormBackward<A> norm =
      NormGradientOfTile(args.grad_out + first * width, args.saved, args.norm, first, width);
  norm.dropout = RowDropoutFrom(args.dropout, first);
  norm.grad_residual = m.grad_sum;
  norm.grad_branch = grad_branch;
  norm.grad_gamma = parts.norm.gamma;
  norm.grad_beta = parts.norm.beta;
  norm.grad_bias = parts.down.bias;
  RunResidualNormBackward(norm, count, width);
  MultiplyToInnerGradient<A>(args.activation, {.x = grad_branch,
                                               .rows = count,
                                               .b = *args.down.weight_transposed,
                                               .before = args.before + first * inner,
                                               .grad = grad_inner,
                                               .activated = m.activations + at * inner,
                                               .column_sums = parts.up.bias});
  MultiplyBack(grad_inner, count, args.up, m.grad_x, Type::kFloat);
  AddRows(m.grad_x, m.grad_sum, args.grad_x + first * width, count * width);
}

}  // namespace

template <typename A>
void RunFeedForwardBackward(const FeedForwardBackward<A>& args, int threads) {
  const auto width = static_cast<size_t>(args.up.weight_transposed->columns());
  const auto inner = static_cast<size_t>(args.up.weight_transposed->depth());
  AffineSums up_sums(args.up, threads), down_sums(args.down, threads);
  NormSums norm_sums(args.norm_gradient, width, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    FeedForwardParts parts{up_sums.PartOf(thread), down_sums.PartOf(thread),
                           norm_sums.PartOf(thread)};
    const size_t most = std::min(SummedRows<A>(), range.end - range.begin);
    const auto m = FeedForwardArrays<A>::Allocate(most, width, inner);
    ForTiles(range, SummedRows<A>(), [&](size_t block, size_t block_rows) {
      ForTiles({block, block + block_rows}, BackwardRows<A>(), [&](size_t first, size_t count) {
        FeedForwardBackwardTile(args, m, parts, first - block, {first, first + count});
      });
      down_sums.AddProduct(m.grad_branches, m.activations, block_rows, parts.down);
      up_sums.AddProduct(m.grad_inners, args.x + block * width, block_rows, parts.up);
    });
    up_sums.EndPart(parts.up);
    down_sums.EndPart(parts.down);
  });
  up_sums.Finish(threads);
  down_sums.Finish(threads);
  norm_sums.Finish(threads);
}

template <typename A>
void RunEmbeddingNormForward(const EmbeddingNormForward<A>& args, int threads) {
  const Embedding& embedding = args.embedding;
  const size_t width = embedding.width;
  ForRowsOfThreads(args.rows, threads, [&](int, RowRange range) {
    auto* sum = AllocateScratchArray<float>(ForwardRows<A>() * width);
    ForTiles(range, ForwardRows<A>(), [&](size_t first, size_t count) {
      RunEmbeddingSum(
          {embedding.word, embedding.position, embedding.type, embedding.ids + first,
           embedding.positions + first, embedding.types ? embedding.types + first : nullptr},
          sum, count, width);
      RunResidualNormForward(
          NormOfTile(args, sum, static_cast<const A*>(nullptr), RowDropout{}, first, width), count,
          width);
      if (args.dropout.dropout.active()) {
        A* tile = args.out + first * width;
        RunDropout(tile, tile, RowDropoutFrom(args.dropout, first), count, width);
      }
    });
  });
}

template <typename A>
void RunEmbeddingNormBackward(const EmbeddingNormBackward<A>& args, int threads) {
  const size_t width = args.embedding.width;
  NormSums norm_sums(args.norm_gradient, width, threads);
  ThreadSums type(args.gradient.type, width, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    const NormGradient norm_part = norm_sums.PartOf(thread);
    float* type_part = type.Zeroed(thread);
    A* dropped = AllocateScratchArray<A>(BackwardRows<A>() * width);
    ForTiles(range, BackwardRows<A>(), [&](size_t first, size_t count) {
      RunDropout(args.grad_out + first * width, dropped, RowDropoutFrom(args.dropout, first), count,
                 width);
      ResidualNormBackward<A> norm =
          NormGradientOfTile<A>(dropped, args.saved, args.norm, first, width);
      norm.grad_residual = args.grad_sum + first * width;
      norm.grad_gamma = norm_part.gamma;
      norm.grad_beta = norm_part.beta;
      norm.grad_bias = type_part;
      RunResidualNormBackward(norm, count, width);
    });
  });
  norm_sums.Finish(threads);
  type.Finish(threads);
  // Tokens of one word may be among any thread's rows, so threads share channels here, not rows.
  const EmbeddingGradient& gradient = args.gradient;
  ForRowsOfThreads(width, threads, [&](int, RowRange channels) {
    RunEmbeddingScatter<A>({args.grad_sum, gradient.word_rows, gradient.word,
                            args.embedding.positions, gradient.position},
                           args.rows, width, channels.begin, channels.end - channels.begin);
  });
}

#define TANDEM_INSTANTIATE(A)                                                 \
  template void RunAffineForward(const AffineForward<A>&, int);               \
  template void RunAffineBackward(const AffineBackward<A>&, int);             \
  template void RunAffineNormForward(const AffineNormForward<A>&, int);       \
  template void RunAffineNormBackward(const AffineNormBackward<A>&, int);     \
  template void RunFeedForwardForward(const FeedForwardForward<A>&, int);     \
  template void RunFeedForwardBackward(const FeedForwardBackward<A>&, int);   \
  template void RunEmbeddingNormForward(const EmbeddingNormForward<A>&, int); \
  template void RunEmbeddingNormBackward(const EmbeddingNormBackward<A>&, int)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

}  // namespace tandem::tensor::cpu

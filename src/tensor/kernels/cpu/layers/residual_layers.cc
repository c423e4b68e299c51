#include "tensor/kernels/cpu/layers/residual_layers.h"

#include <algorithm>

#include "tensor/kernels/cpu/layers/layer_sums.h"
#include "tensor/kernels/cpu/layers/layer_tiles.h"
#include "tensor/kernels/cpu/rows/row_split.h"
#include "tensor/kernels/cpu/rows/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {

template <typename A>
void RunEmbedForward(const EmbedForward<A>& args, int threads) {
  const Embedding& embedding = args.embedding;
  const size_t width = embedding.width;
  ForTilesOnThreads(args.rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    auto* sum = AllocateScratchArray<float>(ForwardRows<A>() * width);
    RunEmbeddingSum(
        {embedding.word, embedding.position, embedding.type, embedding.ids + first,
         embedding.positions + first, embedding.types ? embedding.types + first : nullptr},
        sum, count, width);
    RunBranchSum<A>(
        {sum, args.scale, RowDropoutFrom(args.dropout, first), nullptr, args.out + first * width},
        count, width);
  });
}

template <typename A>
void RunEmbedBackward(const EmbedBackward<A>& args, int threads) {
  const size_t width = args.embedding.width;
  const bool drops = args.dropout.dropout.active();
  const A* grad = drops ? args.grad_sum : args.grad_out;
  ThreadSums type(args.gradient.type, width, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    float* type_part = type.Zeroed(thread);
    ForTiles(range, BackwardRows<A>(), [&](size_t first, size_t count) {
      if (drops) {
        RunDropout(args.grad_out + first * width, args.grad_sum + first * width,
                   RowDropoutFrom(args.dropout, first), count, width);
      }
      if (type_part) AddColumnSums(grad + first * width, type_part, count, width);
    });
  });
  type.Finish(threads);
  // Threads share channels, not rows: see RunEmbeddingNormBackward.
  ForRowsOfThreads(width, threads, [&](int, RowRange channels) {
    RunEmbeddingScatter<A>({grad, args.gradient.word_rows, args.gradient.word,
                            args.embedding.positions, args.gradient.position},
                           args.rows, width, channels.begin, channels.end - channels.begin);
  });
}

template <typename A>
void RunNormalizeForward(const NormalizeForward<A>& args, int threads) {
  ForTilesOnThreads(args.rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    const A* x = args.x + first * args.width;
    A* out = args.out + first * args.width;
    const RowDropout dropout = RowDropoutFrom(args.dropout, first);
    if (args.norm.gamma == nullptr) {
      RunDropout(x, out, dropout, count, args.width);
    } else {
      RunNorm<A>({x, args.norm, dropout, nullptr, out, {}}, count, args.width);
    }
  });
}

template <typename A>
void RunNormalizeBackward(const NormalizeBackward<A>& args, int threads) {
  const LayerEndBackward<A> end{args.grad_out, args.norm, args.dropout, args.x, {}};
  NormSums norm_sums(args.norm_gradient, args.width, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    const NormGradient norm_part = norm_sums.PartOf(thread);
    ForTiles(range, BackwardRows<A>(), [&](size_t first, size_t count) {
      EndTileBackward(end, {first, first + count}, args.width, norm_part, nullptr,
                      args.grad_x + first * args.width);
    });
  });
  norm_sums.Finish(threads);
}

template <typename A>
void RunNormAffineForward(const NormAffineForward<A>& args, int threads) {
  const auto in = static_cast<size_t>(args.affine.weight->depth());
  const auto width = static_cast<size_t>(args.affine.weight->columns());
  ForTilesOnThreads(args.rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    A* normalized = AllocateScratchArray<A>(ForwardRows<A>() * in);
    RunNorm<A>({args.x + first * in, args.norm, {}, nullptr, normalized, {}}, count, in);
    Multiply(normalized, count, args.affine, args.out + first * width, kTypeOf<A>);
  });
}

template <typename A>
void RunNormAffineBackward(const NormAffineBackward<A>& args, int threads) {
  const auto out = static_cast<size_t>(args.gradient.weight_transposed->depth());
  const auto in = static_cast<size_t>(args.gradient.weight_transposed->columns());
  AffineSums sums(args.gradient, threads);
  NormSums norm_sums(args.norm_gradient, in, threads);
  const LayerStartBackward<A> start{args.x, args.norm, args.other_grad_x, args.grad_x};
  struct Arrays {
    A* normalized;           // [rows of a block, in]
    float* grad_normalized;  // [BackwardRows, in]
  };
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    AffineSums::Part part = sums.PartOf(thread);
    const NormGradient norm_part = norm_sums.PartOf(thread);
    const size_t most = part.weight ? std::min(SummedRows<A>(), range.end - range.begin) : 0;
    const Arrays m = AllocateScratch([&](Scratch& scratch) {
      return Arrays{.normalized = scratch.Allocate<A>(most * in),
                    .grad_normalized = scratch.Allocate<float>(BackwardRows<A>() * in)};
    });
    ForTiles(range, SummedRows<A>(), [&](size_t block, size_t block_rows) {
      if (part.weight) {
        RunNorm<A>({args.x + block * in, args.norm, {}, nullptr, m.normalized, {}}, block_rows, in);
        sums.AddProduct(args.grad_out + block * out, m.normalized, block_rows, part);
      }
    });
    ForTiles(range, BackwardRows<A>(), [&](size_t first, size_t count) {
      const A* grad = args.grad_out + first * out;
      if (part.bias) AddColumnSums(grad, part.bias, count, out);
      MultiplyBack(grad, count, args.gradient, m.grad_normalized, Type::kFloat);
      StartTileBackward(start, m.grad_normalized, {first, first + count}, in, norm_part);
    });
    sums.EndPart(part);
  });
  sums.Finish(threads);
  norm_sums.Finish(threads);
}

template <typename A>
void RunAffineAddForward(const AffineAddForward<A>& args, int threads) {
  const auto in = static_cast<size_t>(args.affine.weight->depth());
  ForTilesOnThreads(args.rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    EndTile(args.end, args.x + first * in, args.affine, {first, first + count});
  });
}

template <typename A>
void RunAffineAddBackward(const AffineAddBackward<A>& args, int threads) {
  const auto width = static_cast<size_t>(args.gradient.weight_transposed->depth());
  const auto in = static_cast<size_t>(args.gradient.weight_transposed->columns());
  AffineSums sums(args.gradient, threads);
  NormSums norm_sums(args.end.norm_gradient, width, threads);
  ForRowsOfThreads(args.rows, threads, [&](int thread, RowRange range) {
    AffineSums::Part part = sums.PartOf(thread);
    const NormGradient norm_part = norm_sums.PartOf(thread);
    const bool plain = args.end.plain();
    const size_t most = plain ? 0 : std::min(SummedRows<A>(), range.end - range.begin);
    A* grad_branches = AllocateScratchArray<A>(most * width);
    ForTiles(range, SummedRows<A>(), [&](size_t block, size_t block_rows) {
      ForTiles({block, block + block_rows}, BackwardRows<A>(), [&](size_t first, size_t count) {
        A* grad_branch = grad_branches + (plain ? 0 : (first - block) * width);
        EndTileBackward(args.end, {first, first + count}, width, norm_part, part.bias, grad_branch);
        MultiplyBack(plain ? args.end.grad_out + first * width : grad_branch, count, args.gradient,
                     args.grad_x + first * in, kTypeOf<A>);
      });
      sums.AddProduct(plain ? args.end.grad_out + block * width : grad_branches,
                      args.x + block * in, block_rows, part);
    });
    sums.EndPart(part);
  });
  sums.Finish(threads);
  norm_sums.Finish(threads);
}

namespace {

// Rows of heads that a thread takes at once: any number keeps the threads busy.
constexpr size_t kHeadRows = 64;

// Arrays of heads from row `first` on.
template <typename Heads>
void Advance(size_t first, Heads* heads) {
  const size_t columns = heads->turn.columns();
  heads->turn.positions += first;
  heads->in = At(heads->in, first, columns);
}

}  // namespace

template <typename A>
void RunRotateHeadsForward(const HeadsForward<A>& args, size_t rows, int threads) {
  ForTilesOnThreads(rows, kHeadRows, threads, [&](size_t first, size_t count) {
    HeadsForward<A> tile = args;
    Advance(first, &tile);
    tile.out = At(args.out, first, args.turn.columns());
    RunHeads(tile, count);
  });
}

template <typename A>
void RunRotateHeadsBackward(const HeadsBackward<A>& args, size_t rows, int threads) {
  const size_t width = args.turn.width, columns = args.turn.columns();
  NormSums query({args.query_gamma, args.query_beta}, width, threads);
  NormSums key({args.key_gamma, args.key_beta}, width, threads);
  ForRowsOfThreads(rows, threads, [&](int thread, RowRange range) {
    HeadsBackward<A> share = args;
    Advance(range.begin, &share);
    share.grad_out = At(args.grad_out, range.begin, columns);
    share.grad_in = At(args.grad_in, range.begin, columns);
    const NormGradient query_part = query.PartOf(thread), key_part = key.PartOf(thread);
    share.query_gamma = query_part.gamma;
    share.query_beta = query_part.beta;
    share.key_gamma = key_part.gamma;
    share.key_beta = key_part.beta;
    RunHeadsBackward(share, range.end - range.begin);
  });
  query.Finish(threads);
  key.Finish(threads);
}

#define TANDEM_INSTANTIATE(A)                                               \
  template void RunEmbedForward(const EmbedForward<A>&, int);               \
  template void RunEmbedBackward(const EmbedBackward<A>&, int);             \
  template void RunNormalizeForward(const NormalizeForward<A>&, int);       \
  template void RunNormalizeBackward(const NormalizeBackward<A>&, int);     \
  template void RunNormAffineForward(const NormAffineForward<A>&, int);     \
  template void RunNormAffineBackward(const NormAffineBackward<A>&, int);   \
  template void RunAffineAddForward(const AffineAddForward<A>&, int);       \
  template void RunAffineAddBackward(const AffineAddBackward<A>&, int);     \
  template void RunRotateHeadsForward(const HeadsForward<A>&, size_t, int); \
  template void RunRotateHeadsBackward(const HeadsBackward<A>&, size_t, int)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

}  // namespace tandem::tensor::cpu

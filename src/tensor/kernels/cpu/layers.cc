#include "tensor/kernels/cpu/layers.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tensor/isa.h"
#include "tensor/kernels/cpu/row_split.h"
#include "tensor/kernels/cpu/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {
namespace {

// Rows carried through a layer together. What a feed-forward layer keeps of them should stay in the
// second-level cache: forward, 128 rows were 2 % faster than 64 in fp32 on a processor with AVX-512
// and 1 MB of it (in bf16 they were equal); with half as much, 64 fit. In bf16 on AMX, with 2 MB,
// 256 were 2 % faster than 128, backward 1 %.
template <typename A>
bool OnTiles() {
  return std::is_same_v<A, Bf16> && CurrentIsa() >= Isa::kAmx;
}
template <typename A>
size_t ForwardRows() {
  if (OnTiles<A>()) return 256;
  return CurrentIsa() >= Isa::kAvx512 ? 128 : 64;
}
// As forward; the sums of weights take more, below.
template <typename A>
size_t BackwardRows() {
  return OnTiles<A>() ? 256 : 128;
}

// Rows of one product for the gradient of a weight: 512 of floats, 1024 of bf16. Each product reads
// and writes the whole sum, 2.4 MB for a feed-forward weight of width 384, which costs more than to
// put its factors in memory and take them back: a training step took 7 % (fp32) and 10 % (bf16)
// less time than with 128. More rows were hardly faster and take memory from every thread. On AMX
// 512 of bf16 were as fast as 1024: the narrower factor then has room in the second-level cache.
template <typename A>
size_t SummedRows() {
  return CurrentIsa() >= Isa::kAmx ? 512 : 2048 / sizeof(A);
}

RowDropout DropoutFrom(const RowNames& names, size_t first) {
  if (!names.dropout.active()) return {};
  return {SiteKey(names.dropout), names.position_keys + first, KeepThreshold(names.dropout.rate),
          KeepScale(names.dropout.rate)};
}

template <typename A>
A* At(A* rows, size_t first, size_t width) {
  return rows == nullptr ? nullptr : rows + first * width;
}

template <typename A>
void Multiply(const A* x, size_t rows, const Affine& affine, void* out, Type out_type) {
  const PackedMatrix& weight = *affine.weight;
  MultiplyPacked({x, weight.depth()}, static_cast<int64_t>(rows), weight, affine.bias,
                 {out, weight.columns()}, out_type);
}

template <typename A>
void MultiplyBack(const A* grad, size_t rows, const AffineGradient& gradient, void* out,
                  Type out_type) {
  Multiply(grad, rows, {gradient.weight_transposed, nullptr}, out, out_type);
}

// The gradients of one affine map while several threads add to them.
class AffineSums {
 public:
  AffineSums(const AffineGradient& gradient, int threads)
      : out_(static_cast<size_t>(gradient.weight_transposed->depth())),
        in_(static_cast<size_t>(gradient.weight_transposed->columns())),
        weight_(gradient.weight, out_ * in_, threads),
        bias_(gradient.bias, out_, threads) {}

  // A thread's part.
  struct Mine {
    float* weight;  // null: not wanted; without a value until AddProduct
    float* bias;
    bool has_weight = false;
  };
  Mine Of(int thread) { return {weight_.UnsetOf(thread), bias_.Of(thread)}; }
  // Behind the last AddProduct: a thread that had no rows has summed up nothing.
  void Settle(Mine& mine) const {
    if (mine.weight && !mine.has_weight) std::fill_n(mine.weight, out_ * in_, 0.0F);
  }
  void Finish(int threads) {
    weight_.Finish(threads);
    bias_.Finish(threads);
  }

  // mine.weight += grad_out^T x over `rows` rows, of which there may be none.
  template <typename A>
  void AddProduct(const A* grad_out, const A* x, size_t rows, Mine& mine) const {
    if (mine.weight == nullptr) return;
    const auto out = static_cast<int64_t>(out_), in = static_cast<int64_t>(in_);
    MultiplyTransposed({grad_out, out}, {x, in}, static_cast<int64_t>(rows), out, in, kTypeOf<A>,
                       mine.weight, std::exchange(mine.has_weight, true));
  }

 private:
  size_t out_;
  size_t in_;
  ThreadSums weight_;
  ThreadSums bias_;
};

template <typename A>
ResidualNormForward<A> NormTile(const float* branch, const A* residual, const Norm& norm,
                                const RowDropout& dropout, A* out, const NormKept<A>& kept,
                                size_t first, size_t width) {
  return {branch,
          At(residual, first, width),
          norm.gamma,
          norm.beta,
          norm.epsilon,
          dropout,
          At(out, first, width),
          kept.inverse_gamma ? nullptr : At(kept.normalized, first, width),
          At(kept.inverse_deviation, first, 1)};
}

}  // namespace

template <typename A>
void AffineForward(const A* x, size_t rows, const Affine& affine, A* out, int threads) {
  const auto in = static_cast<size_t>(affine.weight->depth());
  const auto width = static_cast<size_t>(affine.weight->columns());
  ForTilesOnThreads(rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    Multiply(x + first * in, count, affine, out + first * width, kTypeOf<A>);
  });
}

template <typename A>
void AffineBackward(const A* x, const A* grad_out, const A* beside, size_t rows,
                    const AffineGradient& gradient, A* grad_x, int threads) {
  const auto out = static_cast<size_t>(gradient.weight_transposed->depth());
  const auto in = static_cast<size_t>(gradient.weight_transposed->columns());
  AffineSums sums(gradient, threads);
  ForRowsOfThreads(rows, threads, [&](int thread, RowRange range) {
    AffineSums::Mine mine = sums.Of(thread);
    ForTiles(range, SummedRows<A>(), [&](size_t first, size_t count) {
      sums.AddProduct(grad_out + first * out, x + first * in, count, mine);
    });
    Scratch scratch = Scratch::Reserve(Scratch::Bytes<float>(BackwardRows<A>() * in));
    float* product = scratch.Take<float>(BackwardRows<A>() * in);
    ForTiles(range, BackwardRows<A>(), [&](size_t first, size_t count) {
      const A* grad = grad_out + first * out;
      if (mine.bias) AddColumnSums(grad, mine.bias, count, out);
      if (!grad_x) return;
      A* to = grad_x + first * in;
      if (!beside) {
        MultiplyBack(grad, count, gradient, to, kTypeOf<A>);
      } else {
        MultiplyBack(grad, count, gradient, product, Type::kFloat);
        AddRows(product, beside + first * in, to, count * in);
      }
    });
    sums.Settle(mine);
  });
  sums.Finish(threads);
}

template <typename A>
void AffineNormForward(const A* x, const A* residual, size_t rows, const Affine& affine,
                       const Norm& norm, const RowNames& names, A* out, const NormKept<A>& kept,
                       int threads) {
  const auto in = static_cast<size_t>(affine.weight->depth());
  const auto width = static_cast<size_t>(affine.weight->columns());
  ForTilesOnThreads(rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    Scratch scratch = Scratch::Reserve(Scratch::Bytes<float>(ForwardRows<A>() * width));
    float* branch = scratch.Take<float>(ForwardRows<A>() * width);
    Multiply(x + first * in, count, affine, branch, Type::kFloat);
    RunResidualNormForward(
        NormTile(branch, residual, norm, DropoutFrom(names, first), out, kept, first, width), count,
        width);
  });
}

template <typename A>
void AffineNormBackward(const A* x, const A* grad_out, size_t rows, const NormKept<A>& kept,
                        const Norm& norm, const RowNames& names, const AffineGradient& gradient,
                        const NormGradient& norm_gradient, A* grad_x, A* grad_residual,
                        int threads) {
  const auto width = static_cast<size_t>(gradient.weight_transposed->depth());
  const auto in = static_cast<size_t>(gradient.weight_transposed->columns());
  AffineSums sums(gradient, threads);
  ThreadSums gamma(norm_gradient.gamma, width, threads);
  ThreadSums beta(norm_gradient.beta, width, threads);
  ForRowsOfThreads(rows, threads, [&](int thread, RowRange range) {
    AffineSums::Mine mine = sums.Of(thread);
    float* my_gamma = gamma.Of(thread);
    float* my_beta = beta.Of(thread);
    const size_t most = std::min(SummedRows<A>(), range.end - range.begin);
    Scratch scratch = Scratch::Reserve(Scratch::Bytes<A>(most * width));
    A* grad_branches = scratch.Take<A>(most * width);
    ForTiles(range, SummedRows<A>(), [&](size_t block, size_t block_rows) {
      ForTiles({block, block + block_rows}, BackwardRows<A>(), [&](size_t first, size_t count) {
        A* grad_branch = grad_branches + (first - block) * width;
        RunResidualNormBackward<A>(
            {grad_out + first * width, kept.normalized + first * width,
             kept.inverse_deviation + first, norm.gamma, norm.beta, kept.inverse_gamma,
             DropoutFrom(names, first), grad_residual + first * width, grad_branch, my_gamma,
             my_beta, mine.bias},
            count, width);
        MultiplyBack(grad_branch, count, gradient, grad_x + first * in, kTypeOf<A>);
      });
      sums.AddProduct(grad_branches, x + block * in, block_rows, mine);
    });
    sums.Settle(mine);
  });
  sums.Finish(threads);
  gamma.Finish(threads);
  beta.Finish(threads);
}

template <typename A>
void FeedForwardForward(const A* x, size_t rows, const Affine& up, const Affine& down,
                        const Norm& norm, const RowNames& names, A* out, A* before_gelu,
                        const NormKept<A>& kept, int threads) {
  const auto width = static_cast<size_t>(up.weight->depth());
  const auto inner = static_cast<size_t>(up.weight->columns());
  ForTilesOnThreads(rows, ForwardRows<A>(), threads, [&](size_t first, size_t count) {
    Scratch scratch = Scratch::Reserve(Scratch::Bytes<A>(ForwardRows<A>() * inner) +
                                       Scratch::Bytes<float>(ForwardRows<A>() * width));
    A* activated = scratch.Take<A>(ForwardRows<A>() * inner);
    float* branch = scratch.Take<float>(ForwardRows<A>() * width);
    MultiplyToGelu(x + first * width, count, *up.weight, up.bias, At(before_gelu, first, inner),
                   activated);
    Multiply(activated, count, down, branch, Type::kFloat);
    RunResidualNormForward(
        NormTile(branch, x, norm, DropoutFrom(names, first), out, kept, first, width), count,
        width);
  });
}

template <typename A>
void FeedForwardBackward(const A* x, const A* before_gelu, const A* grad_out, size_t rows,
                         const NormKept<A>& kept, const Norm& norm, const RowNames& names,
                         const AffineGradient& up, const AffineGradient& down,
                         const NormGradient& norm_gradient, A* grad_x, int threads) {
  const auto width = static_cast<size_t>(up.weight_transposed->columns());
  const auto inner = static_cast<size_t>(up.weight_transposed->depth());
  AffineSums up_sums(up, threads), down_sums(down, threads);
  ThreadSums gamma(norm_gradient.gamma, width, threads);
  ThreadSums beta(norm_gradient.beta, width, threads);
  ForRowsOfThreads(rows, threads, [&](int thread, RowRange range) {
    AffineSums::Mine my_up = up_sums.Of(thread), my_down = down_sums.Of(thread);
    float* my_gamma = gamma.Of(thread);
    float* my_beta = beta.Of(thread);
    const size_t most = std::min(SummedRows<A>(), range.end - range.begin);
    Scratch scratch = Scratch::Reserve(
        Scratch::Bytes<A>(BackwardRows<A>() * width) + Scratch::Bytes<A>(most * width) +
        2 * Scratch::Bytes<A>(most * inner) + Scratch::Bytes<float>(BackwardRows<A>() * width));
    A* grad_sum = scratch.Take<A>(BackwardRows<A>() * width);
    A* grad_branches = scratch.Take<A>(most * width);
    A* grad_inners = scratch.Take<A>(most * inner);
    A* activations = scratch.Take<A>(most * inner);
    float* grad_input = scratch.Take<float>(BackwardRows<A>() * width);
    ForTiles(range, SummedRows<A>(), [&](size_t block, size_t block_rows) {
      ForTiles({block, block + block_rows}, BackwardRows<A>(), [&](size_t first, size_t count) {
        A* grad_branch = grad_branches + (first - block) * width;
        A* grad_inner = grad_inners + (first - block) * inner;
        A* activated = activations + (first - block) * inner;
        RunResidualNormBackward<A>(
            {grad_out + first * width, kept.normalized + first * width,
             kept.inverse_deviation + first, norm.gamma, norm.beta, kept.inverse_gamma,
             DropoutFrom(names, first), grad_sum, grad_branch, my_gamma, my_beta, my_down.bias},
            count, width);
        MultiplyToGeluGradient(grad_branch, count, *down.weight_transposed,
                               before_gelu + first * inner, grad_inner, activated, my_up.bias);
        MultiplyBack(grad_inner, count, up, grad_input, Type::kFloat);
        AddRows(grad_input, grad_sum, grad_x + first * width, count * width);
      });
      down_sums.AddProduct(grad_branches, activations, block_rows, my_down);
      up_sums.AddProduct(grad_inners, x + block * width, block_rows, my_up);
    });
    up_sums.Settle(my_up);
    down_sums.Settle(my_down);
  });
  up_sums.Finish(threads);
  down_sums.Finish(threads);
  gamma.Finish(threads);
  beta.Finish(threads);
}

template <typename A>
void EmbeddingNormForward(const Embedding& embedding, size_t rows, const Norm& norm,
                          const RowNames& names, A* out, const NormKept<A>& kept, int threads) {
  const size_t width = embedding.width;
  ForRowsOfThreads(rows, threads, [&](int, RowRange range) {
    Scratch scratch = Scratch::Reserve(Scratch::Bytes<float>(ForwardRows<A>() * width));
    float* sum = scratch.Take<float>(ForwardRows<A>() * width);
    ForTiles(range, ForwardRows<A>(), [&](size_t first, size_t count) {
      RunEmbeddingSum({embedding.word, embedding.position, embedding.type, embedding.ids + first,
                       embedding.positions + first},
                      sum, count, width);
      RunResidualNormForward(NormTile<A>(sum, nullptr, norm, {}, out, kept, first, width), count,
                             width);
      if (names.dropout.active()) {
        A* tile = out + first * width;
        RunDropout(tile, tile, DropoutFrom(names, first), count, width);
      }
    });
  });
}

template <typename A>
void EmbeddingNormBackward(const Embedding& embedding, const A* grad_out, size_t rows,
                           const NormKept<A>& kept, const Norm& norm, const RowNames& names,
                           const EmbeddingGradient& gradient, const NormGradient& norm_gradient,
                           A* grad_sum, int threads) {
  const size_t width = embedding.width;
  ThreadSums gamma(norm_gradient.gamma, width, threads);
  ThreadSums beta(norm_gradient.beta, width, threads);
  ThreadSums type(gradient.type, width, threads);
  ForRowsOfThreads(rows, threads, [&](int thread, RowRange range) {
    float* my_gamma = gamma.Of(thread);
    float* my_beta = beta.Of(thread);
    float* my_type = type.Of(thread);
    Scratch scratch = Scratch::Reserve(Scratch::Bytes<A>(BackwardRows<A>() * width));
    A* dropped = scratch.Take<A>(BackwardRows<A>() * width);
    ForTiles(range, BackwardRows<A>(), [&](size_t first, size_t count) {
      RunDropout(grad_out + first * width, dropped, DropoutFrom(names, first), count, width);
      RunResidualNormBackward<A>(
          {dropped, kept.normalized + first * width, kept.inverse_deviation + first, norm.gamma,
           norm.beta, kept.inverse_gamma, RowDropout{}, grad_sum + first * width, nullptr, my_gamma,
           my_beta, my_type},
          count, width);
    });
  });
  gamma.Finish(threads);
  beta.Finish(threads);
  type.Finish(threads);
  // Rows of one word may come from any thread's rows, so threads share channels here, not rows.
  ForRowsOfThreads(width, threads, [&](int, RowRange channels) {
    RunEmbeddingScatter<A>(
        {grad_sum, gradient.word_rows, gradient.word, embedding.positions, gradient.position}, rows,
        width, channels.begin, channels.end - channels.begin);
  });
}

#define TANDEM_INSTANTIATE(A)                                                                    \
  template void AffineForward(const A*, size_t, const Affine&, A*, int);                         \
  template void AffineBackward(const A*, const A*, const A*, size_t, const AffineGradient&, A*,  \
                               int);                                                             \
  template void AffineNormForward(const A*, const A*, size_t, const Affine&, const Norm&,        \
                                  const RowNames&, A*, const NormKept<A>&, int);                 \
  template void AffineNormBackward(const A*, const A*, size_t, const NormKept<A>&, const Norm&,  \
                                   const RowNames&, const AffineGradient&, const NormGradient&,  \
                                   A*, A*, int);                                                 \
  template void FeedForwardForward(const A*, size_t, const Affine&, const Affine&, const Norm&,  \
                                   const RowNames&, A*, A*, const NormKept<A>&, int);            \
  template void FeedForwardBackward(const A*, const A*, const A*, size_t, const NormKept<A>&,    \
                                    const Norm&, const RowNames&, const AffineGradient&,         \
                                    const AffineGradient&, const NormGradient&, A*, int);        \
  template void EmbeddingNormForward(const Embedding&, size_t, const Norm&, const RowNames&, A*, \
                                     const NormKept<A>&, int);                                   \
  template void EmbeddingNormBackward(const Embedding&, const A*, size_t, const NormKept<A>&,    \
                                      const Norm&, const RowNames&, const EmbeddingGradient&,    \
                                      const NormGradient&, A*, int);
TANDEM_INSTANTIATE(float)
TANDEM_INSTANTIATE(Bf16)
#undef TANDEM_INSTANTIATE

}  // namespace tandem::tensor::cpu

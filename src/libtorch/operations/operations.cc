#include "libtorch/operations/operations.h"

#include <ATen/core/grad_mode.h>

#include <functional>
#include <vector>

#include "libtorch/bridge.h"
#include "libtorch/kernels/attention.h"
#include "libtorch/kernels/pool.h"
#include "libtorch/memory_errors.h"
#include "libtorch/operations/arguments.h"
#include "libtorch/operations/portable_ops.h"
#include "libtorch/traced.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/profile/operation_work.h"
#include "tensor/row_gradient.h"

namespace tandem::libtorch {
namespace {

using tensor::Tensor;

// Traced, with a function that reads the arguments.
Tensor TracedWith(const char* name, const Arguments& arguments,
                  const std::function<at::Tensor(ArgumentReader& read)>& function) {
  return Traced(name, arguments.tensors(), [&](const std::vector<at::Tensor>& tensors) {
    ArgumentReader read(tensors);
    return function(read);
  });
}

// The word table's rows [T, H]. Their gradient is added to the table's as rows.
Tensor WordRows(const tensor::PackedTokens& tokens, const Tensor& word) {
  const Tensor rows = WithMemoryErrors([&] {
    const at::NoGradGuard no_gradient;
    return FromTorch(AsTorch(word).index_select(0, AsTorch(tokens.ids)));
  });
  if (!tensor::NeedsGradient({word})) return rows;
  tensor::ExpectLeaf(word, "Embed");
  return tensor::WithBackward("WordRows", rows, {word},
                              [word, ids = tokens.ids](const Tensor& grad) {
                                tensor::AddRowGradient(word, tensor::SumByRow(ids, grad));
                                return std::vector<Tensor>(1);
                              });
}

Arguments EmbeddingArguments(const tensor::PackedTokens& tokens,
                             const tensor::EmbeddingTables& tables) {
  return Arguments().Add(WordRows(tokens, tables.word)).Add(tables.position).Add(tables.type);
}

portable::Tables TablesOf(const tensor::EmbeddingTables& tables, ArgumentReader& read) {
  const at::Tensor position = read.Next(), type = read.Next();
  return {position, type, tables.position_offset};
}

}  // namespace

Tensor Operations::EmbeddingNorm(const tensor::PackedTokens& tokens,
                                 const tensor::EmbeddingTables& tables,
                                 const tensor::LayerNorm& layer_norm,
                                 const tensor::Dropout& dropout, tensor::DType activation) const {
  const tensor::Norm norm = NormOf(layer_norm);
  return TracedWith("EmbeddingNorm", EmbeddingArguments(tokens, tables).Add(norm),
                    [&](ArgumentReader& read) {
                      const at::Tensor words = read.Next();
                      const portable::Tables own = TablesOf(tables, read);
                      return portable::EmbeddingNorm(words, TokensOf(tokens), own, read.Next(norm),
                                                     dropout, TorchType(activation));
                    });
}

Tensor Operations::Embed(const tensor::PackedTokens& tokens, const tensor::EmbeddingTables& tables,
                         double scale, const tensor::Dropout& dropout,
                         tensor::DType activation) const {
  return TracedWith("Embed", EmbeddingArguments(tokens, tables), [&](ArgumentReader& read) {
    const at::Tensor words = read.Next();
    const portable::Tables own = TablesOf(tables, read);
    return portable::Embed(words, TokensOf(tokens), own, scale, dropout, TorchType(activation));
  });
}

Tensor Operations::Affine(const Tensor& x, const tensor::Linear& linear) const {
  return TracedWith("Affine", Arguments().Add(x).Add(linear), [&](ArgumentReader& read) {
    const at::Tensor rows = read.Next();
    return portable::Affine(rows, read.Next(linear, x.dtype()));
  });
}

Tensor Operations::AffineNorm(const Tensor& x, const Tensor& residual, const tensor::Linear& linear,
                              const tensor::LayerNorm& layer_norm,
                              const tensor::PackedTokens& tokens,
                              const tensor::Dropout& dropout) const {
  const tensor::Norm norm = NormOf(layer_norm);
  return TracedWith("AffineNorm", Arguments().Add(x).Add(residual).Add(linear).Add(norm),
                    [&](ArgumentReader& read) {
                      const at::Tensor rows = read.Next(), added = read.Next();
                      const portable::Linear map = read.Next(linear, x.dtype());
                      return portable::AffineNorm(rows, added, map, read.Next(norm),
                                                  TokensOf(tokens), dropout);
                    });
}

Tensor Operations::FeedForwardNorm(const Tensor& x, const tensor::Linear& up,
                                   const tensor::Linear& down, tensor::Activation activation,
                                   const tensor::LayerNorm& layer_norm,
                                   const tensor::PackedTokens& tokens,
                                   const tensor::Dropout& dropout) const {
  const tensor::Norm norm = NormOf(layer_norm);
  return TracedWith("FeedForwardNorm", Arguments().Add(x).Add(up).Add(down).Add(norm),
                    [&](ArgumentReader& read) {
                      const at::Tensor rows = read.Next();
                      const portable::Linear first = read.Next(up, x.dtype());
                      const portable::Linear second = read.Next(down, x.dtype());
                      return portable::FeedForwardNorm(rows, first, second, activation,
                                                       read.Next(norm), TokensOf(tokens), dropout);
                    });
}

Tensor Operations::Normalize(const Tensor& x, const tensor::Norm& norm,
                             const tensor::PackedTokens& tokens,
                             const tensor::Dropout& dropout) const {
  return TracedWith("Normalize", Arguments().Add(x).Add(norm), [&](ArgumentReader& read) {
    const at::Tensor rows = read.Next();
    return portable::Normalize(rows, read.Next(norm), TokensOf(tokens), dropout);
  });
}

Tensor Operations::NormAffine(const Tensor& x, const tensor::Norm& norm,
                              const tensor::Linear& linear) const {
  return TracedWith("NormAffine", Arguments().Add(x).Add(norm).Add(linear),
                    [&](ArgumentReader& read) {
                      const at::Tensor rows = read.Next();
                      const portable::Norm own = read.Next(norm);
                      return portable::NormAffine(rows, own, read.Next(linear, x.dtype()));
                    });
}

Tensor Operations::AffineAdd(const Tensor& x, const Tensor& residual, const tensor::Linear& linear,
                             const tensor::Norm& out_norm, const tensor::PackedTokens& tokens,
                             const tensor::Dropout& dropout) const {
  return TracedWith("AffineAdd", Arguments().Add(x).Add(residual).Add(linear).Add(out_norm),
                    [&](ArgumentReader& read) {
                      const at::Tensor rows = read.Next(), added = read.Next();
                      const portable::Linear map = read.Next(linear, x.dtype());
                      return portable::AffineAdd(rows, added, map, read.Next(out_norm),
                                                 TokensOf(tokens), dropout);
                    });
}

Tensor Operations::FeedForwardAdd(const Tensor& x, const tensor::FeedForward& layer,
                                  const tensor::PackedTokens& tokens,
                                  const tensor::Dropout& inner_dropout,
                                  const tensor::Dropout& dropout) const {
  const Arguments arguments =
      Arguments().Add(x).Add(layer.norm).Add(layer.up).Add(layer.down).Add(layer.out_norm);
  return TracedWith("FeedForwardAdd", arguments, [&](ArgumentReader& read) {
    const at::Tensor rows = read.Next();
    portable::FeedForward own{.activation = layer.activation, .gated = layer.gated};
    own.norm = read.Next(layer.norm);
    own.up = read.Next(layer.up, x.dtype());
    own.down = read.Next(layer.down, x.dtype());
    own.out_norm = read.Next(layer.out_norm);
    return portable::FeedForwardAdd(rows, own, TokensOf(tokens), inner_dropout, dropout);
  });
}

Tensor Operations::RotateHeads(const Tensor& qkv, const tensor::PackedTokens& tokens,
                               const tensor::HeadShape& shape, const tensor::Norm& query_norm,
                               const tensor::Norm& key_norm, const tensor::Rotary& rotary) const {
  return TracedWith(
      "RotateHeads", Arguments().Add(qkv).Add(query_norm).Add(key_norm), [&](ArgumentReader& read) {
        const at::Tensor rows = read.Next();
        const portable::Norm queries = read.Next(query_norm), keys = read.Next(key_norm);
        return portable::RotateHeads(rows, TokensOf(tokens), shape, queries, keys,
                                     {AsTorch(rotary.cosines), AsTorch(rotary.sines)});
      });
}

Tensor Operations::Attention(const Tensor& qkv, const tensor::PackedTokens& tokens,
                             const tensor::HeadShape& shape, const tensor::AttentionRule& rule,
                             const tensor::RelativeBias& bias,
                             const tensor::Dropout& dropout) const {
  const auto backward_work = [tokens, shape, rule](const at::Tensor& grad) {
    if (tensor::Profile::Active() == nullptr) return tensor::Work();
    return AttentionWork(FromTorch(grad), tokens, shape, rule, tensor::Pass::kBackward);
  };
  return TracedWith("Attention", Arguments().Add(qkv).Add(bias.table), [&](ArgumentReader& read) {
    const at::Tensor rows = read.Next(), table = read.Next();
    if (kernels::ServesAttention(rows, shape, rule, {table, bias.max_distance})) {
      return kernels::Attention(rows, TokensOf(tokens), shape, rule, dropout, backward_work);
    }
    return portable::Attention(rows, TokensWithClasses(tokens), shape, rule,
                               {table, bias.max_distance}, dropout, backward_work);
  });
}

Tensor Operations::Pool(const Tensor& x, const tensor::PackedTokens& tokens,
                        tensor::Pooling pooling) const {
  return TracedWith("Pool", Arguments().Add(x), [&](ArgumentReader& read) {
    const at::Tensor rows = read.Next();
    if (kernels::ServesPool(rows, pooling)) return kernels::Pool(rows, TokensOf(tokens), pooling);
    const bool one_row = pooling == tensor::Pooling::kCls || pooling == tensor::Pooling::kLastToken;
    return portable::Pool(rows, one_row ? TokensOf(tokens) : TokensWithClasses(tokens), pooling);
  });
}

Tensor Operations::NormalizeRows(const Tensor& x) const {
  return TracedWith("NormalizeRows", Arguments().Add(x),
                    [](ArgumentReader& read) { return portable::NormalizeRows(read.Next()); });
}

}  // namespace tandem::libtorch

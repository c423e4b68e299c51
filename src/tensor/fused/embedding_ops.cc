// The embedding operations of ops.h.

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tensor/backward_state.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/device_operations.h"
#include "tensor/forms.h"
#include "tensor/fused/layer_arguments.h"
#include "tensor/kernels/cpu/layers/residual_layers.h"
#include "tensor/ops.h"
#include "tensor/profile/operation_work.h"
#include "tensor/reference/reference_ops.h"
#include "tensor/row_gradient.h"

namespace tandem::tensor {
namespace {

// The row of a position table that position 0 reads; null where there is no table.
float* FirstPosition(const Tensor& position, const EmbeddingTables& tables) {
  if (!position.defined()) return nullptr;
  return position.data_ptr<float>() + tables.position_offset * position.size(1);
}

cpu::Embedding KernelEmbedding(const PackedTokens& tokens, const EmbeddingTables& tables) {
  return {tables.word.data_ptr<float>(),
          FirstPosition(tables.position, tables),
          Data<float>(tables.type),
          tokens.ids.data_ptr<int32_t>(),
          tokens.positions.data_ptr<int32_t>(),
          static_cast<size_t>(tables.word.size(1)),
          tokens.types.defined() ? tokens.types.data_ptr<int32_t>() : nullptr};
}

// Gradients of the tables, zero at first. That of the word table has only the rows that the batch
// reads.
struct EmbeddingSums {
  RowIndex words;
  Tensor word;      // [n, H]
  Tensor position;  // [P, H], or undefined
  Tensor type;      // [types, H], or undefined

  EmbeddingSums(const PackedTokens& tokens, const EmbeddingTables& tables)
      : words(IndexRows(tokens.ids.data_ptr<int32_t>(), tokens.tokens(), tables.word.size(0))),
        word(Zeros({words.rows.size(0), tables.word.size(1)}, kFloat)) {
    if (tables.position.defined()) position = Zeros(tables.position.sizes(), kFloat);
    if (tables.type.defined()) type = Zeros(tables.type.sizes(), kFloat);
  }
  // Where the tokens have types, the kernels leave the type table to AddTypes.
  cpu::EmbeddingGradient Gradient(const PackedTokens& tokens, const EmbeddingTables& tables) const {
    return {word.data_ptr<float>(), words.indices.data(), FirstPosition(position, tables),
            tokens.types.defined() ? nullptr : Data<float>(type)};
  }
  // `grad` [T, H] is that of the sum of the tables' rows.
  void AddTypes(const PackedTokens& tokens, const Tensor& grad) const {
    if (!tokens.types.defined() || !type.defined()) return;
    const Tensor rows = grad.to(kFloat);
    const auto* kinds = tokens.types.data_ptr<int32_t>();
    const int64_t width = rows.size(1);
    const float* from = rows.data_ptr<float>();
    for (int64_t row = 0; row < rows.size(0); ++row, from += width) {
      float* sums = type.data_ptr<float>() + kinds[row] * width;
      std::transform(from, from + width, sums, sums, std::plus());
    }
  }
  void AddToWords(const EmbeddingTables& tables) const {
    if (tables.word.requires_grad()) AddRowGradient(tables.word, {words.rows, word});
  }
};

// Makes the tensor to which EmbeddingNorm or Embed writes.
Tensor OutputOf(const PackedTokens& tokens, const EmbeddingTables& tables, DType activation) {
  return Empty({tokens.tokens(), tables.word.size(1)}, activation, tables.word.device());
}

// The form in which an operation computes `out` from these tables.
Form EmbeddingForm(const Tensor& out, const EmbeddingTables& tables, const char* operation) {
  const Form form = FormOf(out, operation, {out.size(1)});
  if (form != Form::kFused || tables.word.dtype() == kFloat) return form;
  SayReferenceForm(operation, "its word table is not float");
  return Form::kReference;
}

std::vector<Tensor> EmbeddingBackward(const PackedTokens& tokens, const EmbeddingTables& tables,
                                      const LayerNorm& norm, const Dropout& dropout,
                                      const SavedNorm& saved, const Tensor& grad) {
  const ProfileScope backward_scope("EmbeddingNorm backward",
                                    RowsWork(grad.size(0), grad.size(1), 2, grad.dtype()));
  const EmbeddingSums sums(tokens, tables);
  const NormSums norm_sums(norm);
  const Tensor grad_sum = EmptyLike(grad);
  ForType(grad, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunEmbeddingNormBackward<A>({.embedding = KernelEmbedding(tokens, tables),
                                      .grad_out = Data<A>(grad),
                                      .rows = Rows(grad),
                                      .saved = saved.As<A>(),
                                      .norm = KernelNorm(norm),
                                      .dropout = Keys(tokens, dropout),
                                      .gradient = sums.Gradient(tokens, tables),
                                      .norm_gradient = norm_sums.Gradient(),
                                      .grad_sum = Data<A>(grad_sum)},
                                     Threads());
  });
  sums.AddTypes(tokens, grad_sum);
  sums.AddToWords(tables);
  return {Tensor(), sums.position, sums.type, norm_sums.gamma, norm_sums.beta};
}

std::vector<Tensor> EmbedBackward(const PackedTokens& tokens, const EmbeddingTables& tables,
                                  double scale, const Dropout& dropout, const Tensor& grad) {
  const ProfileScope backward_scope("Embed backward",
                                    RowsWork(grad.size(0), grad.size(1), 1, grad.dtype()));
  const EmbeddingSums sums(tokens, tables);
  const Tensor grad_sum = dropout.active() ? EmptyLike(grad) : Tensor();
  ForType(grad, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunEmbedBackward<A>({.embedding = KernelEmbedding(tokens, tables),
                              .grad_out = Data<A>(grad),
                              .rows = Rows(grad),
                              .dropout = Keys(tokens, dropout),
                              .gradient = sums.Gradient(tokens, tables),
                              .grad_sum = Data<A>(grad_sum)},
                             Threads());
  });
  sums.AddTypes(tokens, dropout.active() ? grad_sum : grad);
  for (const Tensor& table : {sums.word, sums.position, sums.type}) {
    if (scale != 1 && table.defined()) table.mul_(scale);
  }
  sums.AddToWords(tables);
  return {Tensor(), sums.position, sums.type};
}

}  // namespace

Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                     const LayerNorm& layer_norm, const Dropout& dropout, DType activation) {
  const ProfileScope scope("EmbeddingNorm",
                           RowsWork(tokens.tokens(), tables.word.size(1), 2, activation));
  const Tensor out = OutputOf(tokens, tables, activation);
  const Form form = EmbeddingForm(out, tables, "EmbeddingNorm");
  if (form == Form::kReference) {
    return reference::EmbeddingNorm(tokens, tables, layer_norm, dropout, activation);
  }
  if (form == Form::kPortable) {
    return BackEndOperations().EmbeddingNorm(tokens, tables, layer_norm, dropout, activation);
  }
  const LayerNorm norm = WithBeta(layer_norm);
  const Tensor inputs[] = {tables.word, tables.position, tables.type, layer_norm.gamma,
                           layer_norm.beta};
  const bool needs_gradient = NeedsGradient(inputs);
  if (needs_gradient) ExpectLeaf(tables.word, "EmbeddingNorm");
  const SavedNorm saved = SavedNorm::Make(out, needs_gradient);
  ForType(out, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunEmbeddingNormForward<A>({.embedding = KernelEmbedding(tokens, tables),
                                     .rows = Rows(out),
                                     .norm = KernelNorm(norm),
                                     .dropout = Keys(tokens, dropout),
                                     .out = Data<A>(out),
                                     .saved = saved.As<A>()},
                                    Threads());
  });
  if (!needs_gradient) return out;
  return WithBackward("EmbeddingNorm", out, inputs,
                      [tokens, tables, norm, dropout, saved](const Tensor& grad) {
                        return EmbeddingBackward(tokens, tables, norm, dropout, saved, grad);
                      });
}

Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
             const Dropout& dropout, DType activation) {
  const ProfileScope scope("Embed", RowsWork(tokens.tokens(), tables.word.size(1), 2, activation));
  const Tensor out = OutputOf(tokens, tables, activation);
  const Form form = EmbeddingForm(out, tables, "Embed");
  if (form == Form::kReference) return reference::Embed(tokens, tables, scale, dropout, activation);
  if (form == Form::kPortable)
    return BackEndOperations().Embed(tokens, tables, scale, dropout, activation);
  const Tensor inputs[] = {tables.word, tables.position, tables.type};
  const bool needs_gradient = NeedsGradient(inputs);
  if (needs_gradient) ExpectLeaf(tables.word, "Embed");
  ForType(out, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunEmbedForward<A>({.embedding = KernelEmbedding(tokens, tables),
                             .rows = Rows(out),
                             .scale = static_cast<float>(scale),
                             .dropout = Keys(tokens, dropout),
                             .out = Data<A>(out)},
                            Threads());
  });
  if (!needs_gradient) return out;
  return WithBackward("Embed", out, inputs, [tokens, tables, scale, dropout](const Tensor& grad) {
    return EmbedBackward(tokens, tables, scale, dropout, grad);
  });
}

}  // namespace tandem::tensor

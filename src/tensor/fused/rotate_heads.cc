// RotateHeads of ops.h.
#include <vector>

#include "tensor/backward_state.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/device_operations.h"
#include "tensor/forms.h"
#include "tensor/fused/row_norm.h"
#include "tensor/kernels/cpu/layers/residual_layers.h"
#include "tensor/ops.h"
#include "tensor/profile/operation_work.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {
namespace {

// Everything that is done to heads.
struct Turn {
  PackedTokens tokens;
  HeadShape shape;
  Norm query_norm;
  Norm key_norm;
  Rotary rotary;

  bool normalizes() const { return query_norm.defined() || key_norm.defined(); }
  bool turns() const { return rotary.cosines.defined(); }
};

// The arguments of the kernels, and what they point to.
struct KernelTurn {
  RowNorm query_norm;
  RowNorm key_norm;
  Tensor cosines, sines;  // contiguous
  cpu::HeadTurn turn;

  explicit KernelTurn(const Turn& from) : query_norm(from.query_norm), key_norm(from.key_norm) {
    if (from.turns()) {
      cosines = from.rotary.cosines;
      sines = from.rotary.sines;
    }
    turn = {static_cast<size_t>(from.shape.heads),
            static_cast<size_t>(from.shape.key_value_heads),
            static_cast<size_t>(from.shape.head_width),
            query_norm.Kernel(),
            key_norm.Kernel(),
            Data<const float>(cosines),
            Data<const float>(sines),
            from.tokens.positions.data_ptr<int32_t>()};
  }
};

std::vector<Tensor> RotateHeadsBackward(const Turn& turn, const Tensor& qkv, const Tensor& grad) {
  const ProfileScope scope("RotateHeads backward",
                           RowsWork(grad.size(0), grad.size(1), 2, grad.dtype()));
  const Tensor grad_qkv = EmptyLike(grad);
  const RowNormSums query(turn.query_norm), key(turn.key_norm);
  const KernelTurn kernel(turn);
  ForType(grad, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunRotateHeadsBackward<A>({.turn = kernel.turn,
                                    .in = Data<A>(qkv),
                                    .grad_out = Data<A>(grad),
                                    .grad_in = Data<A>(grad_qkv),
                                    .query_gamma = Data<float>(query.gamma),
                                    .query_beta = Data<float>(query.beta),
                                    .key_gamma = Data<float>(key.gamma),
                                    .key_beta = Data<float>(key.beta)},
                                   Rows(grad), Threads());
  });
  return {grad_qkv, query.gamma, query.beta, key.gamma, key.beta};
}

}  // namespace

Tensor RotateHeads(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const Norm& query_norm, const Norm& key_norm, const Rotary& rotary) {
  const Turn turn{tokens, shape, query_norm, key_norm, rotary};
  if (!turn.normalizes() && !turn.turns()) return qkv;
  const ProfileScope scope("RotateHeads", RowsWork(qkv.size(0), qkv.size(1), 2, qkv.dtype()));
  const Form form = FormOf(qkv, "RotateHeads", {shape.head_width});
  if (form == Form::kReference) {
    return reference::RotateHeads(qkv, tokens, shape, query_norm, key_norm, rotary);
  }
  if (form == Form::kPortable) {
    return BackEndOperations().RotateHeads(qkv, tokens, shape, query_norm, key_norm, rotary);
  }
  const Tensor inputs[] = {qkv, query_norm.gamma, query_norm.beta, key_norm.gamma, key_norm.beta};
  const bool needs_gradient = NeedsGradient(inputs);
  // The gradient of a turn needs nothing but its angles; that of a norm reads the heads as they
  // were.
  const bool keeps = needs_gradient && turn.normalizes();
  const Tensor out = keeps ? EmptyLike(Detached(qkv)) : Detached(qkv);
  const KernelTurn kernel(turn);
  ForType(qkv, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunRotateHeadsForward<A>({kernel.turn, Data<A>(qkv), Data<A>(out)}, Rows(qkv), Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [turn, qkv = keeps ? Detached(qkv) : Tensor()](const Tensor& grad) {
    return RotateHeadsBackward(turn, qkv, grad);
  };
  return WithBackward("RotateHeads", out, inputs, backward);
}

}  // namespace tandem::tensor

// The tensors that fused operations save for their backward passes, and the gradients that these
// sum up.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensor/fused/kernel_arguments.h"
#include "tensor/linear.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// A saved activation must not keep the graph alive that made it.
inline at::Tensor Detached(const at::Tensor& x) { return x.detach(); }

at::Tensor EmptyLike(const at::Tensor& x);

// Appends the second list to the first.
std::vector<at::Tensor> Join(std::vector<at::Tensor> first, const std::vector<at::Tensor>& second);

// The tensors that a normalising operation saves for its backward pass; undefined if no gradient is
// wanted.
struct SavedNorm {
  at::Tensor normalized;         // [T, H]: the rows before gamma and beta, or, where inverse_gamma
                                 // is defined, the operation's output
  at::Tensor inverse_deviation;  // [T]
  at::Tensor inverse_gamma;      // [H], or undefined

  static SavedNorm Make(const at::Tensor& like, bool wanted);
  // The state of an operation whose output `out` is the result of the normalisation. The operation
  // that reads `out` saves it anyway. So this state shares `out` where it is float and the rows
  // before gamma and beta can be computed from it exactly enough. (From a bf16 output they would be
  // rounded twice.)
  static SavedNorm ShareOutput(const at::Tensor& out, const LayerNorm& norm, bool wanted);

  template <typename A>
  cpu::SavedNorm<A> As() const {
    return {Data<A>(normalized), Data<float>(inverse_deviation), Data<float>(inverse_gamma)};
  }
};

// Gradients of a Linear's stacked parameters, for a backward pass to fill; undefined where none of
// the weights, or none of the biases, wants one.
struct LinearSums {
  at::Tensor weight;  // [N, K], uninitialised
  at::Tensor bias;    // [N], zero

  explicit LinearSums(const Linear& linear);

  cpu::AffineGradient Gradient(const Linear& linear, const at::Tensor& x) const {
    return {&linear.Backward(KernelType(x)), Data<float>(weight), Data<float>(bias)};
  }

  // Appends the gradients of Linear::parameters, in their order; undefined ones where none are
  // wanted.
  void AppendTo(const Linear& linear, std::vector<at::Tensor>* gradients) const;
};

// The norm, with zeros for beta where it has none.
LayerNorm WithBeta(const LayerNorm& norm);

// Gradients of a LayerNorm's parameters, zero at first.
struct NormSums {
  at::Tensor gamma;  // [H]
  at::Tensor beta;   // [H]
  explicit NormSums(const LayerNorm& norm);
  cpu::NormGradient Gradient() const { return {Data<float>(gamma), Data<float>(beta)}; }
};

}  // namespace tandem::tensor

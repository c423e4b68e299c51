// The tensors that fused operations save for their backward passes, and the gradients that these
// sum up.
#pragma once

#include <vector>

#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/fused/kernel_arguments.h"
#include "tensor/linear.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// A saved activation must not keep the graph alive that made it.
inline Tensor Detached(const Tensor& x) { return x.detach(); }

// Appends the second list to the first.
std::vector<Tensor> Join(std::vector<Tensor> first, const std::vector<Tensor>& second);

// The tensors that a normalising operation saves for its backward pass; undefined if no gradient is
// wanted.
struct SavedNorm {
  Tensor normalized;         // [T, H]: the rows before gamma and beta, or, where inverse_gamma
                             // is defined, the operation's output
  Tensor inverse_deviation;  // [T]
  Tensor inverse_gamma;      // [H], or undefined

  static SavedNorm Make(const Tensor& like, bool wanted);
  // The state of an operation whose output `out` is the result of the normalisation. The operation
  // that reads `out` saves it anyway. So this state shares `out` where it is float and the rows
  // before gamma and beta can be computed from it exactly enough. (From a bf16 output they would be
  // rounded twice.)
  static SavedNorm ShareOutput(const Tensor& out, const LayerNorm& norm, bool wanted);

  template <typename A>
  cpu::SavedNorm<A> As() const {
    return {Data<A>(normalized), Data<float>(inverse_deviation), Data<float>(inverse_gamma)};
  }
};

// Gradients of a Linear's stacked parameters, for a backward pass to fill; undefined where none of
// the weights, or none of the biases, wants one.
struct LinearSums {
  Tensor weight;  // [N, K], uninitialised
  Tensor bias;    // [N], zero

  explicit LinearSums(const Linear& linear);

  cpu::AffineGradient Gradient(const Linear& linear, const Tensor& x) const {
    return {&linear.Backward(KernelType(x)), Data<float>(weight), Data<float>(bias)};
  }

  // Appends the gradients of Linear::parameters, in their order; undefined ones where none are
  // wanted.
  void AppendTo(const Linear& linear, std::vector<Tensor>* gradients) const;
};

// The norm, with zeros for beta where it has none.
LayerNorm WithBeta(const LayerNorm& norm);

// Gradients of a LayerNorm's parameters, zero at first.
struct NormSums {
  Tensor gamma;  // [H]
  Tensor beta;   // [H]
  explicit NormSums(const LayerNorm& norm);
  cpu::NormGradient Gradient() const { return {Data<float>(gamma), Data<float>(beta)}; }
};

}  // namespace tandem::tensor

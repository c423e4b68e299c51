// What fused operations keep for their backward passes, and the sums that these fill.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensor/kernel_arguments.h"
#include "tensor/linear.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// What a normalising operation keeps for its backward pass.
struct Kept {
  at::Tensor normalized;         // [T, H]; with inverse_gamma the storage of the output
  at::Tensor inverse_deviation;  // [T]
  at::Tensor inverse_gamma;      // [H], or undefined

  static Kept Make(const at::Tensor& like, bool wanted);
  // Of an operation that ends with the normalisation: a float output is kept by what reads it, and
  // is all that is needed. (From a bf16 one the normalised rows would be rounded twice.)
  static Kept MakeFor(const at::Tensor& out, const LayerNorm& norm, bool wanted);

  template <typename A>
  cpu::NormKept<A> As() const {
    return {Data<A>(normalized), Data<float>(inverse_deviation), Data<float>(inverse_gamma)};
  }
};

// Gradients of a Linear's parameters: one stacked sum each, handed out in pieces.
struct LinearSums {
  at::Tensor weight;  // [N, K], without values yet
  at::Tensor bias;    // [N], zero

  explicit LinearSums(const Linear& linear);

  cpu::AffineGradient Gradient(const Linear& linear, const at::Tensor& x) const {
    return {&linear.Backward(KernelType(x)), weight.data_ptr<float>(), bias.data_ptr<float>()};
  }

  void AppendTo(const Linear& linear, std::vector<at::Tensor>* gradients) const;
};

struct NormSums {
  at::Tensor gamma;
  at::Tensor beta;
  explicit NormSums(const LayerNorm& norm);
  cpu::NormGradient Gradient() const { return {gamma.data_ptr<float>(), beta.data_ptr<float>()}; }
};

}  // namespace tandem::tensor

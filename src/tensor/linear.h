// The weights of an affine map y = x W^T + b, with the copies of them that the CPU kernels read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/kernels/cpu/products.h"
#include "tensor/passes.h"

namespace tandem::tensor {

// One or several matrices [N_i, K] stacked along their outputs: the queries, keys and values of
// attention are one product. Copies of a Linear share everything, as copies of a tensor do, so a
// backward pass holds a copy of its own and may outlive the layer.
//
// The fused kernels multiply by packed copies of the weights, which only Prepare makes. A pass that
// needs a copy which is missing, or older than the weights, throws std::logic_error.
class Linear {
 public:
  // `weights` [N_i, K] and `biases` [N_i] are leaves that the caller shares; as many of one as of
  // the other, or no biases at all. Their values move: afterwards each list lies in one block of
  // memory.
  Linear(std::vector<at::Tensor> weights, std::vector<at::Tensor> biases);

  int64_t in() const;   // K
  int64_t out() const;  // the sum of N_i
  const std::vector<at::Tensor>& weights() const;
  const std::vector<at::Tensor>& biases() const;  // empty where the map has none

  // All weights, then all biases: the inputs of an operation's gradient.
  std::vector<at::Tensor> parameters() const;

  // Packs the weights for activations of `type` and these passes, unless copies exist that are as
  // new as the weights. Frees the copies, of any type, for a pass that `passes` leaves out: of all
  // layers together they take as much memory as the weights. Weights count as changed when libtorch
  // or bump_version() says so. Does nothing for weights that the fused kernels cannot take: other
  // types than float, other devices, widths that are no multiples of 16.
  //
  // Once this has returned, several threads may run forward passes and call Prepare for the same
  // type and passes at the same time. No other Prepare may run beside them.
  void Prepare(cpu::Type type, Passes passes);

  // W^T [K, N] for the forward pass, W [N, K] for the backward pass, b [N]. As Prepare left them.
  const cpu::PackedMatrix& Forward(cpu::Type type) const;
  const cpu::PackedMatrix& Backward(cpu::Type type) const;
  const float* StackedBias() const;  // null where the map has none

  // The stacked [N, K] and [N] (undefined where the map has no bias), differentiable: what the
  // reference operations use.
  at::Tensor StackedWeightTensor() const;
  at::Tensor StackedBiasTensor() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tandem::tensor

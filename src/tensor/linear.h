// The weights of an affine map y = x W^T + b, with the forms that the CPU kernels want of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/kernels/cpu/products.h"

namespace tandem::tensor {

// One or several matrices [N_i, K] stacked along their outputs (queries, keys and values of
// attention are one product). Keeps packed copies, float or bf16, of the pass that ran last, made
// again when an optimizer has changed the weights: whoever writes to a parameter's memory itself
// must bump its version.
class Linear {
 public:
  // `weights` [N_i, K], `biases` [N_i], same count; leaves that the caller shares. Their numbers
  // move: they then lie in memory one tensor behind the other.
  Linear(std::vector<at::Tensor> weights, std::vector<at::Tensor> biases);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  const std::vector<at::Tensor>& weights() const { return weights_; }
  const std::vector<at::Tensor>& biases() const { return biases_; }

  // All weights, then all biases: the inputs of an operation's gradient.
  std::vector<at::Tensor> parameters() const;

  // W^T for the forward pass and W for the backward pass, packed; each valid until the other is
  // asked for. Not thread-safe when it packs, nor is StackedBias then: ask once before threads
  // start.
  const cpu::PackedMatrix& Forward(cpu::Type type);
  const cpu::PackedMatrix& Backward(cpu::Type type);
  const float* StackedBias();  // [N]

  // Stacked [N, K] and [N], differentiable: what the reference forms use.
  at::Tensor StackedWeightTensor() const;
  at::Tensor StackedBiasTensor() const;

 private:
  struct Packed {
    std::optional<cpu::PackedMatrix> matrix;
    uint64_t version = 0;
  };
  uint64_t Version(const std::vector<at::Tensor>& tensors) const;
  static void Drop(Packed (&forms)[2]);
  const cpu::PackedMatrix& Pack(Packed* packed, cpu::Type type, bool transposed);

  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> biases_;
  int64_t in_ = 0;
  int64_t out_ = 0;
  Packed forward_[2];  // by cpu::Type
  Packed backward_[2];
  at::Tensor stacked_bias_;
  uint64_t stacked_bias_version_ = 0;
};

}  // namespace tandem::tensor

// The arguments of operations (tensor/ops.h) on their way to libtorch: first all tensors as the
// inputs of Traced, then the portable operations' structs from what it gives for these.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "libtorch/operations/portable_types.h"
#include "tensor/core/tensor.h"
#include "tensor/ops.h"

namespace tandem::libtorch {

// The tensors that an operation is differentiable in. ArgumentReader reads them in the order in
// which they were added.
class Arguments {
 public:
  Arguments& Add(const tensor::Tensor& x);
  Arguments& Add(const tensor::Norm& norm);
  Arguments& Add(const tensor::Linear& linear);

  const std::vector<tensor::Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<tensor::Tensor> tensors_;
};

// Each member reads what Add has added for the same argument.
class ArgumentReader {
 public:
  // `tensors` must outlive it.
  explicit ArgumentReader(const std::vector<at::Tensor>& tensors) : tensors_(tensors) {}

  at::Tensor Next() { return tensors_.at(next_++); }
  portable::Norm Next(const tensor::Norm& norm);
  // For activations of `type`; the dropout of an adapter is that of this thread (AdapterDropout).
  portable::Linear Next(const tensor::Linear& linear, tensor::DType type);

 private:
  std::vector<at::Tensor> Next(const std::vector<tensor::Tensor>& list);

  const std::vector<at::Tensor>& tensors_;
  size_t next_ = 0;
};

tensor::Norm NormOf(const tensor::LayerNorm& norm);

// Without classes.
portable::Tokens TokensOf(const tensor::PackedTokens& tokens);
// With the pack's classes, which are made where they are first asked for, once for all copies of
// the pack. Several threads may ask.
portable::Tokens TokensWithClasses(const tensor::PackedTokens& tokens);

}  // namespace tandem::libtorch

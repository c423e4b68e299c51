// The functions of Tandem's tensors on devices, computed by libtorch.
#pragma once

#include "tensor/core/back_end/device_functions.h"

namespace tandem::libtorch {

// Takes tensors of any device that libtorch has, the processor among them. Work on GPUs is put into
// the current stream and may be under way when a member returns; a copy to the processor waits.
class Functions : public tensor::DeviceFunctions {
 public:
  using Tensor = tensor::Tensor;

  Tensor Empty(const tensor::Shape& shape, tensor::DType type,
               tensor::Device device) const override;
  void Copy(const Tensor& from, const Tensor& to) const override;
  void Fill(const Tensor& x, double value) const override;
  void AddTo(const Tensor& x, const Tensor& other) const override;
  void Scale(const Tensor& x, double factor) const override;

  Tensor Cat(std::span<const Tensor> tensors, int64_t dimension) const override;
  Tensor Columns(const Tensor& x, int64_t start, int64_t length) const override;
  Tensor TakeRows(const Tensor& x, const Tensor& rows) const override;
  Tensor ClearRows(const Tensor& x, const Tensor& cleared) const override;
  Tensor Add(const Tensor& a, const Tensor& b) const override;
  Tensor Mul(const Tensor& a, const Tensor& b) const override;
  Tensor Mul(const Tensor& a, double factor) const override;
  Tensor AddToRows(const Tensor& x, const Tensor& row) const override;
  Tensor Sum(const Tensor& x) const override;
  Tensor Product(const Tensor& a, const Tensor& b) const override;
  Tensor ProductTransposed(const Tensor& a, const Tensor& b) const override;
  Tensor TransposedProduct(const Tensor& a, const Tensor& b) const override;
  Tensor UnitRows(const Tensor& x, double least) const override;
  Tensor LayerNormRows(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                       double epsilon) const override;
  Tensor Apply(tensor::ElementFunction function, const Tensor& x) const override;

  tensor::SparseRows SumByRow(const Tensor& rows, const Tensor& values) const override;
  Tensor Dense(const tensor::SparseRows& gradient, const tensor::Shape& sizes) const override;
};

}  // namespace tandem::libtorch

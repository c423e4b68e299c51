// What a back end does with the memory of its devices: the functions of this library for tensors
// that are not in the processor's memory. A back end is loaded when one is first asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tensor/core/device.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {

// The functions of one element, tensor/core/functions/activations.h.
enum class ElementFunction { kTanh, kSigmoid, kRelu, kSilu, kGelu, kGeluTanh };

// The members mean what the functions of core/*.h with their names mean, and are called with
// tensors of one device, except where they say otherwise. Those that give a Tensor record it in the
// graph as these do. Work may be under way still when they return; what reads memory waits.
class DeviceFunctions {
 public:
  virtual ~DeviceFunctions() = default;

  virtual Tensor Empty(const Shape& shape, DType type, Device device) const = 0;
  // Elements from a tensor to another of the same shape, on any devices and of any types.
  virtual void Copy(const Tensor& from, const Tensor& to) const = 0;
  virtual void Fill(const Tensor& x, double value) const = 0;
  virtual void AddTo(const Tensor& x, const Tensor& other) const = 0;  // Tensor::add_
  virtual void Scale(const Tensor& x, double factor) const = 0;        // Tensor::mul_

  virtual Tensor Cat(std::span<const Tensor> tensors, int64_t dimension) const = 0;
  virtual Tensor Columns(const Tensor& x, int64_t start, int64_t length) const = 0;
  virtual Tensor TakeRows(const Tensor& x, const Tensor& rows) const = 0;
  virtual Tensor ClearRows(const Tensor& x, const Tensor& cleared) const = 0;
  virtual Tensor Add(const Tensor& a, const Tensor& b) const = 0;
  virtual Tensor Mul(const Tensor& a, const Tensor& b) const = 0;
  virtual Tensor Mul(const Tensor& a, double factor) const = 0;
  virtual Tensor AddToRows(const Tensor& x, const Tensor& row) const = 0;
  virtual Tensor Sum(const Tensor& x) const = 0;
  virtual Tensor Product(const Tensor& a, const Tensor& b) const = 0;
  virtual Tensor ProductTransposed(const Tensor& a, const Tensor& b) const = 0;
  virtual Tensor TransposedProduct(const Tensor& a, const Tensor& b) const = 0;
  virtual Tensor UnitRows(const Tensor& x, double least) const = 0;
  virtual Tensor LayerNormRows(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                               double epsilon) const = 0;
  virtual Tensor Apply(ElementFunction function, const Tensor& x) const = 0;

  virtual SparseRows SumByRow(const Tensor& rows, const Tensor& values) const = 0;
  virtual Tensor Dense(const SparseRows& gradient, const Shape& sizes) const = 0;
};

// Those of the back end, which is loaded where it is not yet (SetBackEndLoader). Throws UsageError
// where it cannot be loaded.
const DeviceFunctions& BackEndFunctions();
// Must outlive all tensors of its devices.
void SetBackEndFunctions(const DeviceFunctions& functions);
// The one that is set; null: none is. Loads nothing.
const DeviceFunctions* LoadedBackEndFunctions();

// What loads the back end: it calls SetBackEndFunctions and its kin of other rooms, or throws
// UsageError: MissingBackEnd where there is none. Programs that have one set it at their start.
void SetBackEndLoader(std::function<void()> loader);
// Calls the loader, where it has not loaded yet. Throws MissingBackEnd (missing_back_end.h), which
// is a UsageError, where there is no loader.
void LoadBackEnd();

}  // namespace tandem::tensor

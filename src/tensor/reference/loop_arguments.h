// Turns tensors into what the reference loops read, and their results into tensors.
//
// An operation rounds what it reads to the type of its activations, computes in double, or in float
// for narrower types, and rounds its result and gradients to the type of the activations.
#pragma once

#include <cstdint>

#include "tensor/core/device_memory.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor::reference {

// The type of the loops for activations of `type`: double for double, else float.
inline DType LoopType(DType type) { return type == kDouble ? kDouble : kFloat; }

// Calls body with a zero of LoopType(type).
template <typename Body>
void ForLoopType(DType type, const Body& body) {
  if (type == kDouble) {
    body(double{});
  } else {
    body(float{});
  }
}

// The tensor on the CPU, without history; undefined for an undefined one.
inline Tensor OnHost(const Tensor& x) { return x.defined() ? OnCpu(x.detach()) : x; }

// The values of x rounded to `type`, as loops for that type read them; undefined for an undefined
// tensor.
inline Tensor LoopValues(const Tensor& x, DType type) {
  return x.defined() ? OnHost(x).to(type).to(LoopType(type)) : x;
}

// What loops for activations of `type` write to.
inline Tensor EmptyForLoops(const Shape& sizes, DType type) { return Empty(sizes, LoopType(type)); }

// Zeros of the shape of a parameter, to which loops add its gradient; undefined where it is not
// wanted.
inline Tensor GradientSums(const Tensor& parameter) {
  const bool wanted = parameter.defined() && parameter.requires_grad();
  return wanted ? Zeros(parameter.sizes(), kDouble) : Tensor();
}

// What loops wrote, rounded to `type`, on this device; undefined for an undefined tensor.
inline Tensor FromLoops(const Tensor& values, DType type, Device device) {
  return values.defined() ? MovedTo(values.to(type), device) : values;
}

// The data of a tensor; null for an undefined one.
template <typename T>
T* DataOf(const Tensor& x) {
  return x.defined() ? x.data_ptr<T>() : nullptr;
}

}  // namespace tandem::tensor::reference

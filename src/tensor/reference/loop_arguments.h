// Turns tensors into what the reference loops read, and their results into tensors.
//
// An operation rounds what it reads to the type of its activations, computes in double, or in float
// for narrower types, and rounds its result and gradients to the type of the activations.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <cstdint>

namespace tandem::tensor::reference {

// The type of the loops for activations of `type`: double for double, else float.
inline at::ScalarType LoopType(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}

// Calls body with a zero of LoopType(type).
template <typename Body>
void ForLoopType(at::ScalarType type, const Body& body) {
  if (type == at::kDouble) {
    body(double{});
  } else {
    body(float{});
  }
}

// The tensor on the CPU and contiguous, without history; undefined for an undefined one.
inline at::Tensor OnHost(const at::Tensor& x) {
  return x.defined() ? x.detach().cpu().contiguous() : x;
}

// The values of x rounded to `type`, as loops for that type read them; undefined for an undefined
// tensor.
inline at::Tensor LoopValues(const at::Tensor& x, at::ScalarType type) {
  return x.defined() ? OnHost(x).to(type).to(LoopType(type)) : x;
}

// What loops for activations of `type` write to.
inline at::Tensor EmptyForLoops(at::IntArrayRef sizes, at::ScalarType type) {
  return at::empty(sizes, LoopType(type));
}

// Zeros of the shape of a parameter, to which loops add its gradient; undefined where it is not
// wanted.
inline at::Tensor GradientSums(const at::Tensor& parameter) {
  const bool wanted = parameter.defined() && parameter.requires_grad();
  return wanted ? at::zeros(parameter.sizes(), at::kDouble) : at::Tensor();
}

// What loops wrote, rounded to `type`, on this device; undefined for an undefined tensor.
inline at::Tensor FromLoops(const at::Tensor& values, at::ScalarType type, at::Device device) {
  return values.defined() ? values.to(type).to(device) : values;
}

// The data of a tensor; null for an undefined one.
template <typename T>
T* DataOf(const at::Tensor& x) {
  return x.defined() ? x.data_ptr<T>() : nullptr;
}

}  // namespace tandem::tensor::reference

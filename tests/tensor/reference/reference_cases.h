// Every operation as a function of its inputs, for whoever computes operations.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tensor/compare_forms.h"
#include "tensor/core/tensor.h"
#include "tensor/device_operations.h"

namespace tandem::tensor {

struct ReferenceCase {
  std::string name;
  std::function<Tensor(const DeviceOperations& by, const std::vector<Tensor>& inputs)> operation;
  std::vector<Tensor> inputs;  // double
  size_t activations = 0;      // how many of the inputs are activations; the first ones

  // As `by` computes it.
  Operation By(const DeviceOperations& by) const {
    return [this, &by](const std::vector<Tensor>& in) { return operation(by, in); };
  }
  friend void PrintTo(const ReferenceCase& c, std::ostream* out) { *out << c.name; }
};

// Widths that are and are not multiples of 16, texts of one and of many tokens and a text without
// any; every kind of norm, activation, mask, bias, adapter and pooling, with and without dropout.
// Operations get tokens and angles on `device`, where their inputs must be.
std::vector<ReferenceCase> ReferenceCases(Device device = kCpuDevice);

// The reference loops (tensor/reference/reference_ops.h).
const DeviceOperations& ReferenceLoops();

}  // namespace tandem::tensor

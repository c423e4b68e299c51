// Every operation in its reference form and in libtorch's operations, with inputs in float64.
#pragma once

#include <ATen/core/Tensor.h>

#include <ostream>
#include <string>
#include <vector>

#include "tensor/compare_forms.h"

namespace tandem::tensor {

struct ReferenceCase {
  std::string name;
  Operation loops;
  Operation libtorch;
  std::vector<at::Tensor> inputs;  // double
  size_t activations = 0;          // how many of the inputs are activations; the first ones

  friend void PrintTo(const ReferenceCase& c, std::ostream* out) { *out << c.name; }
};

// Widths that are and are not multiples of 16, texts of one and of many tokens and a text without
// any; every kind of norm, activation, mask, bias, adapter and pooling, with and without dropout.
std::vector<ReferenceCase> ReferenceCases();

}  // namespace tandem::tensor

// Compares fused or portable operations (TestedForm) with their reference forms in float64: outputs
// and all gradients.
//
// Error = max|got - want| / max(1, max|want|) for each array.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tensor/arithmetic.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/tensor.h"
#include "tensor/inputs.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// An operation as a function of its differentiable inputs.
using Operation = std::function<Tensor(const std::vector<Tensor>& inputs)>;

struct Result {
  Tensor out;
  std::vector<Tensor> gradients;
};

// The gradients are those of the sum of outputs times weights. They are zeros for an input that
// nothing reads. The operation gets its inputs on `device`; results are on the processor.
inline Result RunOnce(const Operation& operation, const std::vector<Tensor>& inputs,
                      const std::vector<DType>& types, Form form, Device device = kCpuDevice) {
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    leaves.push_back(LeafOf(MovedTo(inputs[i], device), types[i]));
  }
  const UseForm use_form(form);
  const Tensor out = operation(leaves);
  // The same numbers for every type.
  out.backward(MovedTo(WeightsLike(out).to(kBFloat16).to(out.dtype()), device));
  Result result{OnCpu(out.detach()).to(kDouble), {}};
  for (const Tensor& leaf : leaves) result.gradients.push_back(OnCpu(GradientOf(leaf)));
  return result;
}

// The errors of the output and of each gradient.
inline std::vector<double> Errors(const Result& got, const Result& want) {
  std::vector<double> errors = {Error(got.out, want.out)};
  for (size_t i = 0; i < got.gradients.size(); ++i) {
    errors.push_back(Error(got.gradients[i], want.gradients[i]));
  }
  return errors;
}

// `activations` inputs come first and take the case's type; the others are float parameters. Where
// rounding of bf16 is amplified, by a norm of rows with few channels or by the step of a slope, the
// bound is 1.5 times the error of the reference form in the same type.
inline void ExpectFormsEqualReference(const Operation& operation, const std::vector<Tensor>& inputs,
                                      size_t activations) {
  const std::vector<DType> wide(inputs.size(), kDouble);
  const Result want = RunOnce(operation, inputs, wide, Form::kReference);
  for (const FormCase& c : FormCases()) {
    const bool is_double = c.activation == kDouble;
    std::vector<DType> types(inputs.size(), is_double ? kDouble : kFloat);
    std::fill_n(types.begin(), activations, c.activation);
    const std::vector<double> errors = Errors(RunOnce(operation, inputs, types, c.form), want);
    std::vector<double> bounds(errors.size(), c.bound);
    if (c.activation == kBFloat16 && *std::max_element(errors.begin(), errors.end()) > c.bound) {
      const std::vector<double> usual =
          Errors(RunOnce(operation, inputs, types, Form::kReference), want);
      for (size_t i = 0; i < bounds.size(); ++i) bounds[i] = std::max(c.bound, 1.5 * usual[i]);
    }
    for (size_t i = 0; i < errors.size(); ++i) {
      EXPECT_LE(errors[i], bounds[i]) << (i == 0 ? "output" : "gradient of input ")
                                      << (i == 0 ? "" : std::to_string(i - 1)) << ", " << c.Name();
    }
  }
}

// Texts, and the widths of an encoder that reads them.
struct TextShape {
  std::vector<int64_t> lengths;
  int64_t heads;
  int64_t hidden;
  int64_t inner;
};

inline std::vector<TextShape> Shapes() {
  std::vector<TextShape> shapes = {{{1}, 1, 16, 32},
                                   {{1, 1, 1}, 2, 32, 64},
                                   {{5, 1, 37, 12, 64, 3}, 4, 64, 96},
                                   {{300, 2, 129}, 3, 96, 192}};
  RandomStream stream({.seed = 11, .purpose = "shapes"});
  for (int i = 0; i < 6; ++i) {
    TextShape shape{{},
                    1 + static_cast<int64_t>(stream.Below(4)),
                    0,
                    16 * (1 + static_cast<int64_t>(stream.Below(10)))};
    shape.hidden = shape.heads * 16 * (1 + static_cast<int64_t>(stream.Below(3)));
    for (uint64_t b = 0; b <= stream.Below(9); ++b) {
      shape.lengths.push_back(1 + static_cast<int64_t>(stream.Below(90)));
    }
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace tandem::tensor

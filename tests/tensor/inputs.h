// Random inputs of tests of fused operations, and the types they run in.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/sin.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tensor/fused/kernel_arguments.h"
#include "tensor/isa/isa.h"
#include "tensor/linear.h"
#include "tensor/ops.h"
#include "tensor/packed_tokens.h"

namespace tandem::tensor {

class Inputs {
 public:
  explicit Inputs(uint64_t seed) : stream_({.seed = seed, .purpose = "ops_test"}) {}

  // Uniform in [-scale, scale], rounded to bf16 so that every type starts from the same numbers.
  at::Tensor Make(at::IntArrayRef sizes, double scale) {
    at::Tensor values = at::empty(sizes, at::kDouble);
    auto* data = values.data_ptr<double>();
    for (int64_t i = 0; i < values.numel(); ++i) data[i] = (2 * stream_.Uniform() - 1) * scale;
    return values.to(at::kBFloat16).to(at::kDouble);
  }

  // Uniform over both ends and all between.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(stream_.Below(static_cast<uint64_t>(high - low + 1)));
  }

  PackedTokens Tokens(const std::vector<int64_t>& lengths, int64_t vocabulary) {
    std::vector<std::vector<int32_t>> texts;
    for (const int64_t length : lengths) {
      auto& text = texts.emplace_back();
      for (int64_t i = 0; i < length; ++i) {
        text.push_back(static_cast<int32_t>(Between(0, vocabulary - 1)));
      }
    }
    const std::vector<std::span<const int32_t>> spans(texts.begin(), texts.end());
    return Pack(spans);
  }

 private:
  RandomStream stream_;
};

// Angles as transformers computes them, for `width` channels of a head and 512 positions.
inline Rotary RotaryOf(int64_t width, at::ScalarType type) {
  const at::Tensor exponents =
      at::arange(width / 2, at::kDouble) * (2.0 / static_cast<double>(width));
  const at::Tensor angles =
      at::outer(at::arange(512, at::kDouble), (exponents * -std::log(10000.0)).exp());
  return {at::cos(angles).to(type), at::sin(angles).to(type)};
}

// A Linear that is prepared for activations of the type that `x` has, in both passes.
inline Linear PreparedFor(const at::Tensor& x, std::vector<at::Tensor> weights,
                          std::vector<at::Tensor> biases) {
  Linear linear(std::move(weights), std::move(biases));
  linear.Prepare(KernelType(x), Passes::kBoth);
  return linear;
}

struct Case {
  at::ScalarType activation;
  double bound;  // of the error; the tests say how they measure it
};

// Float: sums over up to 10,000 terms. bf16: 8 bits of mantissa, 2^-8 relative per rounding, a
// handful of roundings in a row; its products exist from AVX-512 on (slow below AVX512-BF16, absent
// on AVX2).
inline std::vector<Case> Cases() {
  std::vector<Case> cases = {{at::kFloat, 2e-5}};
  if (CurrentIsa() >= Isa::kAvx512) cases.push_back({at::kBFloat16, 3e-2});
  return cases;
}

// A case in a form that is not the reference.
struct FormCase {
  Form form;
  at::ScalarType activation;
  double bound;

  std::string Name() const {
    return std::string(form == Form::kFused ? "fused, " : "portable, ") + at::toString(activation);
  }
};

// The portable form also in double, where only the order of sums differs from the reference.
inline std::vector<FormCase> FormCases() {
  std::vector<FormCase> cases = {{Form::kPortable, at::kDouble, 1e-11}};
  for (const Form form : {Form::kFused, Form::kPortable}) {
    for (const Case& c : Cases()) cases.push_back({form, c.activation, c.bound});
  }
  return cases;
}

}  // namespace tandem::tensor

// Random inputs of tests of fused operations, and the types they run in.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
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
  Tensor Make(const Shape& sizes, double scale) {
    const Tensor values = Empty(sizes, kDouble);
    auto* data = values.data_ptr<double>();
    for (int64_t i = 0; i < values.numel(); ++i) data[i] = (2 * stream_.Uniform() - 1) * scale;
    return values.to(kBFloat16).to(kDouble);
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
inline Rotary RotaryOf(int64_t width, DType type) {
  constexpr int64_t kPositions = 512;
  const int64_t turns = width / 2;
  const Tensor cosines = Empty({kPositions, turns}, kDouble), sines = EmptyLike(cosines);
  for (int64_t i = 0; i < cosines.numel(); ++i) {
    const double exponent = static_cast<double>(i % turns) * (2.0 / static_cast<double>(width));
    const double angle = static_cast<double>(i / turns) * std::exp(exponent * -std::log(10000.0));
    cosines.data_ptr<double>()[i] = std::cos(angle);
    sines.data_ptr<double>()[i] = std::sin(angle);
  }
  return {cosines.to(type), sines.to(type)};
}

// Token types that alternate in each text, int32 [T].
inline Tensor AlternatingTypes(const PackedTokens& tokens) {
  const Tensor types = OnCpu(tokens.positions).clone();
  auto* values = types.data_ptr<int32_t>();
  for (int64_t i = 0; i < types.numel(); ++i) values[i] %= 2;
  return MovedTo(types, tokens.positions.device());
}

// A Linear that is prepared for activations of the type that `x` has, in both passes.
inline Linear PreparedFor(const Tensor& x, std::vector<Tensor> weights,
                          std::vector<Tensor> biases) {
  Linear linear(std::move(weights), std::move(biases));
  linear.Prepare(KernelType(x), Passes::kBoth);
  return linear;
}

struct Case {
  DType activation;
  double bound;  // of the error; the tests say how they measure it
};

// Float: sums over up to 10,000 terms. bf16: 8 bits of mantissa, 2^-8 relative per rounding, a
// handful of roundings in a row; its products exist from AVX-512 on (slow below AVX512-BF16, absent
// on AVX2).
inline std::vector<Case> Cases() {
  std::vector<Case> cases = {{kFloat, 2e-5}};
  if (CurrentIsa() >= Isa::kAvx512) cases.push_back({kBFloat16, 3e-2});
  return cases;
}

// A case in a form that is not the reference.
struct FormCase {
  Form form;
  DType activation;
  double bound;

  std::string Name() const {
    return (form == Form::kFused ? "fused, " : "portable, ") +
           std::string(tensor::Name(activation));
  }
};

// The form that a test program compares with the reference: the portable one where it has a back
// end, else the fused one.
inline Form TestedForm() {
  return LoadedBackEndFunctions() == nullptr ? Form::kFused : Form::kPortable;
}

// The portable form also in double, where only the order of sums differs from the reference.
inline std::vector<FormCase> FormCases() {
  const Form form = TestedForm();
  std::vector<FormCase> cases;
  if (form == Form::kPortable) cases.push_back({form, kDouble, 1e-11});
  for (const Case& c : Cases()) cases.push_back({form, c.activation, c.bound});
  return cases;
}

}  // namespace tandem::tensor

// The reference loops against the same formulas in libtorch's operations with libtorch's gradients,
// and their gradients against central differences.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/sin.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/compare_forms.h"
#include "tensor/reference/reference_cases.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {
namespace {

using Tensors = std::vector<at::Tensor>;
using InputTypes = std::vector<at::ScalarType>;

// max|got - want| / max|want|; 0 where both are zero.
double RelativeError(const at::Tensor& got, const at::Tensor& want) {
  EXPECT_EQ(got.sizes(), want.sizes());
  const double difference = (got - want).abs().max().item<double>();
  return difference == 0 ? 0 : difference / want.abs().max().item<double>();
}

TEST(Reference, LoopsEqualLibtorchInFloat64) {
  for (const ReferenceCase& c : ReferenceCases()) {
    const InputTypes types(c.inputs.size(), at::kDouble);
    const Result got = RunOnce(c.loops, c.inputs, types, Form::kReference);
    const Result want = RunOnce(c.libtorch, c.inputs, types, Form::kReference);
    EXPECT_LE(RelativeError(got.out, want.out), 1e-12) << c.name;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      EXPECT_LE(RelativeError(got.gradients[i], want.gradients[i]), 1e-12)
          << c.name << ", gradient of input " << i;
    }
  }
}

// In a narrow type each step of a formula rounds its result, by `rounding` of it at most; sums are
// in double. So the output and each gradient differ from those in float64 by a few dozen roundings
// of its largest number, whatever the lengths of sums.
void ExpectRoundings(at::ScalarType type, double rounding) {
  const double bound = 32 * rounding;
  double largest = 0;
  for (const ReferenceCase& c : ReferenceCases()) {
    if (c.activations == 0) continue;
    const auto run = [&](const InputTypes& types) {
      return RunOnce(c.loops, c.inputs, types, Form::kReference);
    };
    InputTypes types(c.inputs.size(), at::kFloat);
    std::fill_n(types.begin(), c.activations, type);
    const Result want = run(InputTypes(c.inputs.size(), at::kDouble));
    const std::vector<double> errors = Errors(run(types), want);
    for (size_t i = 0; i < errors.size(); ++i) {
      EXPECT_LE(errors[i], bound) << c.name << ", array " << i;
      largest = std::max(largest, errors[i]);
    }
  }
  EXPECT_GT(largest, bound / 64) << type;
}

TEST(Reference, LoopsInFloatRoundEachStep) { ExpectRoundings(at::kFloat, 0x1p-24); }
TEST(Reference, LoopsInBf16RoundEachStep) { ExpectRoundings(at::kBFloat16, 0x1p-8); }

at::Tensor WeightsLike(const at::Tensor& out) {
  return at::sin(at::arange(out.numel(), at::kDouble)).view(out.sizes());
}

// The sum over outputs times fixed weights, as a function of the inputs.
double WeightedSum(const Operation& operation, const Tensors& inputs) {
  const at::Tensor out = operation(inputs);
  return (out * WeightsLike(out)).sum().item<double>();
}

// Of seven numbers of each input.
TEST(Reference, GradientsAreCentralDifferences) {
  constexpr double kStep = 1e-5;
  for (const ReferenceCase& c : ReferenceCases()) {
    Tensors leaves;
    for (const at::Tensor& input : c.inputs) leaves.push_back(input.clone().requires_grad_(true));
    const at::Tensor out = c.loops(leaves);
    (out * WeightsLike(out)).sum().backward();
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const int64_t stride = std::max<int64_t>(1, c.inputs[i].numel() / 7);
      for (int64_t place = 0; place < c.inputs[i].numel(); place += stride) {
        const auto moved_by = [&](double by) {
          Tensors moved = c.inputs;
          moved[i] = c.inputs[i].clone();
          moved[i].data_ptr<double>()[place] += by;
          return WeightedSum(c.loops, moved);
        };
        const double difference = (moved_by(kStep) - moved_by(-kStep)) / (2 * kStep);
        EXPECT_NEAR(leaves[i].grad().flatten()[place].item<double>(), difference,
                    1e-6 * (1 + std::fabs(difference)))
            << c.name << ", input " << i << ", place " << place;
      }
    }
  }
}

TEST(Reference, NoTextsGiveNoRows) {
  const PackedTokens tokens = Pack({});
  const at::Tensor none = at::empty({0, 12}, at::kDouble).requires_grad_(true);
  const at::Tensor attention = reference::Attention(none, tokens, {2, 1, 3}, {}, {}, {});
  EXPECT_EQ(attention.sizes(), at::IntArrayRef({0, 6}));
  const at::Tensor pooled = reference::Pool(none, tokens, Pooling::kMean);
  EXPECT_EQ(pooled.sizes(), at::IntArrayRef({0, 12}));
  (attention.sum() + pooled.sum()).backward();
  EXPECT_EQ(none.grad().sizes(), none.sizes());
}

}  // namespace
}  // namespace tandem::tensor

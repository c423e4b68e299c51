// The reference loops in narrow types against themselves in float64, and their gradients against
// central differences. libtorch_test.cc compares them with libtorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/compare_forms.h"
#include "tensor/reference/reference_cases.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {
namespace {

using Tensors = std::vector<Tensor>;
using InputTypes = std::vector<DType>;

// In a narrow type each step of a formula rounds its result, by `rounding` of it at most; sums are
// in double. So the output and each gradient differ from those in float64 by a few dozen roundings
// of its largest number, whatever the lengths of sums.
void ExpectRoundings(DType type, double rounding) {
  const double bound = 32 * rounding;
  double largest = 0;
  for (const ReferenceCase& c : ReferenceCases()) {
    if (c.activations == 0) continue;
    const auto run = [&](const InputTypes& types) {
      return RunOnce(c.By(ReferenceLoops()), c.inputs, types, Form::kReference);
    };
    InputTypes types(c.inputs.size(), kFloat);
    std::fill_n(types.begin(), c.activations, type);
    const Result want = run(InputTypes(c.inputs.size(), kDouble));
    const std::vector<double> errors = Errors(run(types), want);
    for (size_t i = 0; i < errors.size(); ++i) {
      EXPECT_LE(errors[i], bound) << c.name << ", array " << i;
      largest = std::max(largest, errors[i]);
    }
  }
  EXPECT_GT(largest, bound / 64) << Name(type);
}

TEST(Reference, LoopsInFloatRoundEachStep) { ExpectRoundings(kFloat, 0x1p-24); }
TEST(Reference, LoopsInBf16RoundEachStep) { ExpectRoundings(kBFloat16, 0x1p-8); }

// Of seven numbers of each input.
TEST(Reference, GradientsAreCentralDifferences) {
  constexpr double kStep = 1e-5;
  for (const ReferenceCase& c : ReferenceCases()) {
    Tensors leaves;
    for (const Tensor& input : c.inputs) leaves.push_back(LeafOf(input));
    const Operation loops = c.By(ReferenceLoops());
    const Tensor out = loops(leaves);
    out.backward(WeightsLike(out));
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const int64_t stride = std::max<int64_t>(1, c.inputs[i].numel() / 7);
      for (int64_t place = 0; place < c.inputs[i].numel(); place += stride) {
        const auto moved_by = [&](double by) {
          Tensors moved = c.inputs;
          moved[i] = c.inputs[i].clone();
          moved[i].data_ptr<double>()[place] += by;
          return WeightedSum(loops(moved));
        };
        const double difference = (moved_by(kStep) - moved_by(-kStep)) / (2 * kStep);
        EXPECT_NEAR(GradientOf(leaves[i]).data_ptr<double>()[place], difference,
                    1e-6 * (1 + std::fabs(difference)))
            << c.name << ", input " << i << ", place " << place;
      }
    }
  }
}

TEST(Reference, NoTextsGiveNoRows) {
  const PackedTokens tokens = Pack({});
  const Tensor none = LeafOf(Zeros({0, 12}, kDouble));
  const Tensor attention = reference::Attention(none, tokens, {2, 1, 3}, {}, {}, {});
  EXPECT_EQ(attention.sizes(), Shape({0, 6}));
  const Tensor pooled = reference::Pool(none, tokens, Pooling::kMean);
  EXPECT_EQ(pooled.sizes(), Shape({0, 12}));
  Add(Sum(attention), Sum(pooled)).backward();
  EXPECT_EQ(none.grad().sizes(), none.sizes());
}

}  // namespace
}  // namespace tandem::tensor

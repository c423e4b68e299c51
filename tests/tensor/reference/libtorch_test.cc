// The reference loops against the same formulas in libtorch's operations with libtorch's gradients.
#include <gtest/gtest.h>

#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/compare_forms.h"
#include "tensor/reference/libtorch_ops.h"
#include "tensor/reference/reference_cases.h"

namespace tandem::tensor {
namespace {

// max|got - want| / max|want|; 0 where both are zero.
double RelativeError(const Tensor& got, const Tensor& want) {
  const double difference = LargestDifference(got, want);
  return difference == 0 ? 0 : difference / LargestSize(want);
}

TEST(Reference, LoopsEqualLibtorchInFloat64) {
  for (const ReferenceCase& c : ReferenceCases()) {
    const std::vector<DType> types(c.inputs.size(), kDouble);
    const Result got = RunOnce(c.By(ReferenceLoops()), c.inputs, types, Form::kReference);
    const Result want = RunOnce(c.By(LibtorchFormulas()), c.inputs, types, Form::kReference);
    EXPECT_LE(RelativeError(got.out, want.out), 1e-12) << c.name;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      EXPECT_LE(RelativeError(got.gradients[i], want.gradients[i]), 1e-12)
          << c.name << ", gradient of input " << i;
    }
  }
}

// NormalizeRows has no form of its own on the processor.
TEST(NormalizeRows, EqualsLibtorch) {
  Inputs make(3);
  const std::vector<Tensor> inputs = {make.Make({7, 33}, 2)};
  const auto run = [&](const DeviceOperations& by) {
    return RunOnce([&](const std::vector<Tensor>& in) { return by.NormalizeRows(in[0]); }, inputs,
                   {kDouble}, Form::kReference);
  };
  const Result got = run(ReferenceLoops()), want = run(LibtorchFormulas());
  EXPECT_LE(RelativeError(got.out, want.out), 1e-14);
  EXPECT_LE(RelativeError(got.gradients[0], want.gradients[0]), 1e-12);
}

}  // namespace
}  // namespace tandem::tensor

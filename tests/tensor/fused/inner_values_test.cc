// The inner values of feed-forward layers by kernels against the reference form.
#include "tensor/fused/inner_values.h"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/compare_forms.h"
#include "tensor/fused_only.h"
#include "tensor/reference/reference_rows.h"

namespace tandem::tensor {
namespace {

constexpr Activation kEach[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
                                Activation::kSilu};

TEST(InnerValues, EqualTheReference) {
  SKIP_UNLESS_FUSED();
  const Dropout dropout{.rate = 0.2, .seed = 42, .step = 7, .site = 9};
  for (const Activation activation : kEach) {
    for (const bool gated : {false, true}) {
      for (const int64_t width : {16, 240}) {
        Inputs make(2);
        const PackedTokens tokens = make.Tokens({5, 1, 130}, 9);
        ExpectFormsEqualReference(
            [&](const std::vector<Tensor>& in) {
              if (UseReferenceOps::Active()) {
                return reference::Dropped(reference::InnerValues(in[0], activation, gated), tokens,
                                          dropout);
              }
              return InnerValues(in[0], activation, gated, tokens, dropout);
            },
            {make.Make({136, (gated ? 2 : 1) * width}, 3)}, 1);
      }
    }
  }
}

TEST(InnerValues, OfNoRowsAreNoRows) {
  const Tensor x = LeafOf(Zeros({0, 32}, kFloat));
  const Tensor out = InnerValues(x, Activation::kSilu, /*gated=*/true, Pack({}), {});
  EXPECT_EQ(out.sizes(), Shape({0, 16}));
  Sum(out).backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
}

}  // namespace
}  // namespace tandem::tensor

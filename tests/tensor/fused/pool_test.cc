// Pooling: what each mode is, with and without the tokens of prompts, and the fused and portable
// forms against the reference form in float64, outputs and gradients.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tensor/inputs.h"
#include "tensor/machine/process.h"
#include "tensor/ops.h"

namespace tandem::tensor {
namespace {

constexpr Pooling kAll[] = {Pooling::kMean, Pooling::kCls,         Pooling::kLastToken,
                            Pooling::kMax,  Pooling::kMeanSqrtLen, Pooling::kWeightedMean};

at::Tensor Ints(const std::vector<int32_t>& values) { return at::tensor(values, at::kInt); }

struct Pooled {
  at::Tensor out;
  at::Tensor gradient;
};

Pooled PoolOnce(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling, Form form) {
  const at::Tensor leaf = x.clone().requires_grad_(true);
  const UseForm use_form(form);
  const at::Tensor out = Pool(leaf, tokens, pooling);
  const at::Tensor weights = at::sin(at::arange(out.numel(), at::kDouble))
                                 .view(out.sizes())
                                 .to(at::kBFloat16)  // the same numbers for every type
                                 .to(out.scalar_type());
  (out * weights).sum(at::kDouble).backward();
  return {out.detach().to(at::kDouble), leaf.grad().to(at::kDouble)};
}

double ErrorOfPool(const at::Tensor& got, const at::Tensor& want) {
  return (got - want).abs().max().item<double>() / std::max(1.0, want.abs().max().item<double>());
}

// Lengths of texts and tokens of their prompts; none of the latter: the pack knows no prompts.
struct Texts {
  std::vector<int64_t> lengths;
  std::vector<int32_t> prompts;
};

TEST(Pool, FormsEqualTheReference) {
  SetUpProcess(0);
  for (const Texts& texts :
       {Texts{{1}, {}}, Texts{{5, 1, 37, 12, 64, 3}, {}},
        Texts{{5, 1, 37, 12, 64, 3}, {2, 0, 36, 12, 1, 9}}, Texts{{300, 2, 129}, {17, 1, 0}}}) {
    for (const int64_t width : {16, 96}) {
      Inputs make(6);
      PackedTokens tokens = make.Tokens(texts.lengths, 9);
      if (!texts.prompts.empty()) tokens.prompt_tokens = Ints(texts.prompts);
      const at::Tensor x = make.Make({tokens.tokens(), width}, 1);
      for (const Pooling pooling : kAll) {
        const Pooled want = PoolOnce(x, tokens, pooling, Form::kReference);
        for (const FormCase& c : FormCases()) {
          const Pooled got = PoolOnce(x.to(c.activation), tokens, pooling, c.form);
          EXPECT_LE(ErrorOfPool(got.out, want.out), c.bound)
              << static_cast<int>(pooling) << c.Name();
          EXPECT_LE(ErrorOfPool(got.gradient, want.gradient), c.bound)
              << static_cast<int>(pooling) << c.Name();
        }
      }
    }
  }
}

// Three texts of 16 columns: rows 1, 4, 2, of which one is the prompt's; rows 6, -1; and row 5,
// whose prompt is all there is. Column c has (c + 1) times these numbers.
class PoolOfAFewRows : public testing::TestWithParam<Form> {
 protected:
  at::Tensor Of(Pooling pooling, bool with_prompts) const {
    const UseForm form(GetParam());
    Inputs make(1);
    PackedTokens tokens = make.Tokens({3, 2, 1}, 9);
    if (with_prompts) tokens.prompt_tokens = Ints({1, 0, 3});
    const at::Tensor rows = at::tensor({1.0F, 4.0F, 2.0F, 6.0F, -1.0F, 5.0F}, at::kFloat);
    const at::Tensor pooled = Pool(rows.unsqueeze(1) * Columns(), tokens, pooling);
    const at::Tensor first = pooled.select(1, 0);
    EXPECT_TRUE(at::allclose(pooled, first.unsqueeze(1) * Columns(), 1e-5, 1e-6));
    return first;
  }
  void Expect(Pooling pooling, const std::vector<float>& whole,
              const std::vector<float>& without_prompts) const {
    EXPECT_TRUE(at::allclose(Of(pooling, false), at::tensor(whole, at::kFloat), 1e-6, 1e-6))
        << Of(pooling, false);
    EXPECT_TRUE(
        at::allclose(Of(pooling, true), at::tensor(without_prompts, at::kFloat), 1e-6, 1e-6))
        << Of(pooling, true);
  }

 private:
  static at::Tensor Columns() { return at::arange(1, 17, at::kFloat).unsqueeze(0); }
};

TEST_P(PoolOfAFewRows, IsWhatItsNameSays) {
  Expect(Pooling::kMean, {7.0F / 3, 2.5F, 5}, {3, 2.5F, 0});
  Expect(Pooling::kCls, {1, 6, 5}, {4, 6, 5});  // the first row of all where none is left
  Expect(Pooling::kLastToken, {2, -1, 5}, {2, -1, 0});
  Expect(Pooling::kMax, {4, 6, 5}, {4, 6, 0});
  Expect(Pooling::kMeanSqrtLen, {7 / std::sqrt(3.0F), 5 / std::sqrt(2.0F), 5},
         {6 / std::sqrt(2.0F), 5 / std::sqrt(2.0F), 0});
  // Positions count from the text's beginning, prompt or not.
  Expect(Pooling::kWeightedMean, {(1 + 8 + 6) / 6.0F, (6 - 2) / 3.0F, 5},
         {(8 + 6) / 5.0F, (6 - 2) / 3.0F, 0});
}

constexpr Form kForms[] = {Form::kFused, Form::kReference, Form::kPortable};
INSTANTIATE_TEST_SUITE_P(EveryForm, PoolOfAFewRows, testing::ValuesIn(kForms));

TEST(Pool, OfEqualLargestNumbersTheFirstGetsTheGradient) {
  for (const Form form : kForms) {
    Inputs make(1);
    const PackedTokens tokens = make.Tokens({3}, 9);
    const at::Tensor x = at::zeros({3, 16}, at::kFloat);
    x[1].fill_(2);
    x[2].fill_(2);
    const at::Tensor gradient = PoolOnce(x, tokens, Pooling::kMax, form).gradient;
    EXPECT_EQ(gradient[0].abs().sum().item<double>(), 0);
    EXPECT_GT(gradient[1].abs().sum().item<double>(), 0);
    EXPECT_EQ(gradient[2].abs().sum().item<double>(), 0);
  }
}

TEST(Pool, ANumberThatIsNoneIsNotHidden) {
  for (const Pooling pooling : {Pooling::kMax, Pooling::kMean, Pooling::kWeightedMean}) {
    Inputs make(1);
    const PackedTokens tokens = make.Tokens({3}, 9);
    const at::Tensor x = at::zeros({3, 16}, at::kFloat);
    x[1][3] = std::nanf("");
    for (const Form form : kForms) {
      const UseForm use_form(form);
      EXPECT_TRUE(std::isnan(Pool(x, tokens, pooling)[0][3].item<float>()));
      EXPECT_EQ(Pool(x, tokens, pooling)[0][4].item<float>(), 0);
    }
  }
}

}  // namespace
}  // namespace tandem::tensor

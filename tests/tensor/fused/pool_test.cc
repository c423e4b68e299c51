// Pooling: what each mode is, with and without the tokens of prompts, and the fused and portable
// forms against the reference form in float64, outputs and gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/inputs.h"
#include "tensor/ops.h"

namespace tandem::tensor {
namespace {

constexpr Pooling kAll[] = {Pooling::kMean, Pooling::kCls,         Pooling::kLastToken,
                            Pooling::kMax,  Pooling::kMeanSqrtLen, Pooling::kWeightedMean};

Tensor Ints(const std::vector<int32_t>& values) {
  return Of<int32_t>({static_cast<int64_t>(values.size())}, values);
}

struct Pooled {
  Tensor out;
  Tensor gradient;
};

Pooled PoolOnce(const Tensor& x, const PackedTokens& tokens, Pooling pooling, Form form) {
  const Tensor leaf = LeafOf(x);
  const UseForm use_form(form);
  const Tensor out = Pool(leaf, tokens, pooling);
  // The same numbers for every type.
  out.backward(WeightsLike(out).to(kBFloat16).to(out.dtype()));
  return {out.detach().to(kDouble), GradientOf(leaf)};
}

// Lengths of texts and tokens of their prompts; none of the latter: the pack knows no prompts.
struct Texts {
  std::vector<int64_t> lengths;
  std::vector<int32_t> prompts;
};

TEST(Pool, FormsEqualTheReference) {
  for (const Texts& texts :
       {Texts{{1}, {}}, Texts{{5, 1, 37, 12, 64, 3}, {}},
        Texts{{5, 1, 37, 12, 64, 3}, {2, 0, 36, 12, 1, 9}}, Texts{{300, 2, 129}, {17, 1, 0}}}) {
    for (const int64_t width : {16, 96}) {
      Inputs make(6);
      PackedTokens tokens = make.Tokens(texts.lengths, 9);
      if (!texts.prompts.empty()) tokens.prompt_tokens = Ints(texts.prompts);
      const Tensor x = make.Make({tokens.tokens(), width}, 1);
      for (const Pooling pooling : kAll) {
        const Pooled want = PoolOnce(x, tokens, pooling, Form::kReference);
        for (const FormCase& c : FormCases()) {
          const Pooled got = PoolOnce(x.to(c.activation), tokens, pooling, c.form);
          EXPECT_LE(Error(got.out, want.out), c.bound) << static_cast<int>(pooling) << c.Name();
          EXPECT_LE(Error(got.gradient, want.gradient), c.bound)
              << static_cast<int>(pooling) << c.Name();
        }
      }
    }
  }
}

// The reference form, and the one that this program compares with it.
std::vector<Form> Forms() { return {Form::kReference, TestedForm()}; }

constexpr int64_t kColumns = 16;

// Three texts of 16 columns: rows 1, 4, 2, of which one is the prompt's; rows 6, -1; and row 5,
// whose prompt is all there is. Column c has (c + 1) times these numbers.
class PoolOfAFewRows : public testing::Test {
 protected:
  static void Expect(Pooling pooling, const std::vector<double>& whole,
                     const std::vector<double>& without_prompts) {
    for (const Form form : Forms()) {
      EXPECT_TRUE(AllClose(Of(pooling, form, false), Rows(whole), 1e-5, 1e-6))
          << testing::PrintToString(DoublesOf(Of(pooling, form, false)));
      EXPECT_TRUE(AllClose(Of(pooling, form, true), Rows(without_prompts), 1e-5, 1e-6))
          << testing::PrintToString(DoublesOf(Of(pooling, form, true)));
    }
  }

 private:
  static Tensor Rows(const std::vector<double>& numbers) {
    std::vector<double> values;
    for (const double number : numbers) {
      for (int64_t c = 1; c <= kColumns; ++c) values.push_back(number * static_cast<double>(c));
    }
    return Doubles({static_cast<int64_t>(numbers.size()), kColumns}, values).to(kFloat);
  }
  static Tensor Of(Pooling pooling, Form form, bool with_prompts) {
    const UseForm use_form(form);
    Inputs make(1);
    PackedTokens tokens = make.Tokens({3, 2, 1}, 9);
    if (with_prompts) tokens.prompt_tokens = Ints({1, 0, 3});
    return Pool(Rows({1, 4, 2, 6, -1, 5}), tokens, pooling);
  }
};

TEST_F(PoolOfAFewRows, IsWhatItsNameSays) {
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

TEST(Pool, OfEqualLargestNumbersTheFirstGetsTheGradient) {
  for (const Form form : Forms()) {
    Inputs make(1);
    const PackedTokens tokens = make.Tokens({3}, 9);
    const Tensor x = Zeros({3, 16}, kFloat);
    x[1].fill_(2);
    x[2].fill_(2);
    const Tensor gradient = PoolOnce(x, tokens, Pooling::kMax, form).gradient;
    EXPECT_EQ(LargestSize(gradient[0]), 0);
    EXPECT_GT(LargestSize(gradient[1]), 0);
    EXPECT_EQ(LargestSize(gradient[2]), 0);
  }
}

TEST(Pool, ANumberThatIsNoneIsNotHidden) {
  for (const Pooling pooling : {Pooling::kMax, Pooling::kMean, Pooling::kWeightedMean}) {
    Inputs make(1);
    const PackedTokens tokens = make.Tokens({3}, 9);
    const Tensor x = Zeros({3, 16}, kFloat);
    x[1][3].fill_(std::nan(""));
    for (const Form form : Forms()) {
      const UseForm use_form(form);
      EXPECT_TRUE(std::isnan(Pool(x, tokens, pooling)[0][3].item<float>()));
      EXPECT_EQ(Pool(x, tokens, pooling)[0][4].item<float>(), 0);
    }
  }
}

}  // namespace
}  // namespace tandem::tensor

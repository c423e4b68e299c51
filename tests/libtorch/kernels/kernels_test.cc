// Tandem's own kernels on a GPU, against the reference loops and libtorch's operations; on the
// processor, that they are not asked. Further comparisons are those of all operations
// (operations/operations_test.cc), which run by kernels where the device of tests is a GPU.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "libtorch/bridge.h"
#include "libtorch/kernels/attention.h"
#include "libtorch/kernels/launch.h"
#include "libtorch/kernels/pool.h"
#include "libtorch/kernels/rows.h"
#include "libtorch/operations/arguments.h"
#include "libtorch/operations/portable_ops.h"
#include "libtorch/operations/row_step.h"
#include "support/test_device.h"
#include "tensor/inputs.h"
#include "tensor/kernels/cpu/attention_problem.h"

namespace tandem::libtorch {
namespace {

using portable::DropsFrom;
using portable::RowStep;
using tensor::AttentionProblem;
using tensor::AttentionSetting;
using tensor::Dropout;
using tensor::DType;
using tensor::Inputs;
using tensor::PackedTokens;
using Norms = tensor::Norm::Kind;

constexpr Dropout kDropout = {.rate = 0.1, .seed = 42, .step = 7, .site = 3};

// Largest difference over the largest number, which counts as at least 1.
double ErrorOf(const at::Tensor& got, const at::Tensor& want) {
  const at::Tensor a = got.detach().to(at::kCPU, at::kDouble);
  const at::Tensor b = want.detach().to(at::kCPU, at::kDouble);
  return ((a - b).abs().max() / b.abs().max().clamp_min(1)).item<double>();
}

// An output and the gradients of the defined inputs.
using Arrays = std::vector<at::Tensor>;

// `compute` of fresh leaves with these numbers, and the gradients of the output's sum by weights
// that are functions of their place.
Arrays Computed(const Arrays& inputs,
                const std::function<at::Tensor(const Arrays& leaves)>& compute) {
  Arrays leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(input.defined() ? input.detach().clone().requires_grad_() : at::Tensor());
  }
  const at::Tensor out = compute(leaves);
  const at::Tensor places = at::arange(out.numel(), out.options().dtype(at::kFloat)).detach();
  out.backward((places * 0.37).sin().view(out.sizes()).to(out.scalar_type()));
  Arrays all = {out};
  for (const at::Tensor& leaf : leaves) {
    if (leaf.defined()) all.push_back(leaf.grad());
  }
  return all;
}

// Where kernels serve; the tests of what they compute are skipped elsewhere.
class KernelsOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (TestDevice().is_cpu()) GTEST_SKIP() << "the device of tests is the processor";
    ASSERT_TRUE(kernels::Serve(device()));
  }
  static at::Device device() { return TorchDevice(TestDevice()); }
  at::Tensor Numbers(const tensor::Shape& sizes, at::ScalarType type) {
    return AsTorch(inputs_.Make(sizes, 1)).to(device()).to(type);
  }
  // `by_kernel` starts a kernel and `by_libtorch` none.
  static void ExpectKernels(const std::function<void()>& by_kernel,
                            const std::function<void()>& by_libtorch) {
    const int64_t before = kernels::LaunchCount();
    by_kernel();
    const int64_t between = kernels::LaunchCount();
    EXPECT_GT(between, before);
    const kernels::WithoutKernels without;
    by_libtorch();
    EXPECT_EQ(kernels::LaunchCount(), between);
  }

  Inputs inputs_{5};
};

TEST(Kernels, DoNotServeTheProcessor) {
  const at::Tensor rows = at::ones({3, 64});
  const at::Tensor keys = at::arange(3, at::kLong);
  EXPECT_FALSE(kernels::Serve(at::kCPU));
  EXPECT_FALSE(kernels::ServesRows({.x = rows, .row_keys = keys, .dropout = kDropout}));
  EXPECT_FALSE(kernels::ServesPool(rows, tensor::Pooling::kMean));
  EXPECT_FALSE(kernels::ServesAttention(rows.to(at::kBFloat16), {1, 1, 16}, {.scale = 1}, {}));
}

TEST_F(KernelsOnAGpu, ServeWhatTheyCanCompute) {
  const auto attention = [](at::ScalarType type, int64_t width, double cap, bool bias) {
    const at::Tensor qkv = at::ones({2, 3 * width}, at::TensorOptions(type).device(device()));
    return kernels::ServesAttention(qkv, {1, 1, width}, {.scale = 1, .soft_cap = cap},
                                    {bias ? qkv : at::Tensor()});
  };
  for (const int64_t width : {16, 32, 64, 96, 128}) {
    EXPECT_TRUE(attention(at::kBFloat16, width, 0, false));
    EXPECT_TRUE(attention(at::kHalf, width, 0, false));
  }
  EXPECT_FALSE(attention(at::kFloat, 64, 0, false));
  EXPECT_FALSE(attention(at::kBFloat16, 24, 0, false));
  EXPECT_FALSE(attention(at::kBFloat16, 144, 0, false));
  EXPECT_FALSE(attention(at::kBFloat16, 64, 30, false));
  EXPECT_FALSE(attention(at::kBFloat16, 64, 0, true));
  const at::Tensor x = at::ones({2, 1028}, device());
  const at::Tensor keys = at::ones({2}, x.options().dtype(at::kLong));
  EXPECT_TRUE(kernels::ServesRows({.x = x, .row_keys = keys}));
  EXPECT_FALSE(kernels::ServesRows({.x = x.narrow(1, 0, 1026), .row_keys = keys}));
  EXPECT_FALSE(kernels::ServesRows({.x = x.to(at::kDouble), .row_keys = keys}));
  EXPECT_FALSE(kernels::ServesRows({.x = x, .norm = {.gamma = x.select(0, 0)}}));
  EXPECT_TRUE(kernels::ServesPool(x, tensor::Pooling::kMean));
  EXPECT_FALSE(kernels::ServesPool(x, tensor::Pooling::kMax));
}

// Bit for bit: a run drops the same values on a GPU as on the processor.
TEST_F(KernelsOnAGpu, DropWhatTheProcessorDrops) {
  const PackedTokens tokens = Inputs(1).Tokens({3, 40, 1}, 9);
  const auto* keys = tokens.row_keys.data_ptr<int64_t>();
  const at::Tensor row_keys = AsTorch(tokens.row_keys).to(device());
  for (const Dropout& dropout :
       {kDropout,
        Dropout{.rate = 0.5, .seed = ~uint64_t{0}, .step = uint64_t{1} << 63, .site = ~0U}}) {
    for (const int64_t width : {4, 36, 400, 1548}) {
      const at::Tensor ones = at::ones({44, width}, device());
      const at::Tensor out =
          portable::Do({.x = ones, .row_keys = row_keys, .dropout = dropout}).cpu();
      for (int64_t row = 0; row < 44; ++row) {
        const uint64_t key =
            tensor::RowKey(tensor::SiteKey(dropout), static_cast<uint64_t>(keys[row]));
        for (int64_t channel = 0; channel < width; ++channel) {
          const bool dropped = tensor::ChannelBits(key, static_cast<uint32_t>(channel)) <
                               tensor::KeepThreshold(dropout.rate);
          ASSERT_EQ(out.data_ptr<float>()[row * width + channel],
                    dropped ? 0 : tensor::KeepScale(dropout.rate))
              << row << ", " << channel;
        }
      }
    }
  }
}

// A step over rows in each of its variants, in the type of x.
struct StepCase {
  at::ScalarType type, result;
  int64_t width;
  bool residual, norm, beta;
  Norms kind = Norms::kLayerNorm;
  double rate = 0.1;
  DropsFrom drops = DropsFrom::kX;

  std::string Name() const {
    return fmt::format("{} to {}, width {}, residual {}, norm {} {}, beta {}, rate {} {}",
                       at::toString(type), at::toString(result), width, residual, norm,
                       static_cast<int>(kind), beta, rate, static_cast<int>(drops));
  }
};

std::vector<StepCase> StepCases() {
  const auto f = at::kFloat, b = at::kBFloat16, h = at::kHalf;
  return {{f, f, 384, true, true, true},
          {b, b, 384, true, true, true},
          {h, h, 768, true, true, true},
          {b, b, 1024, true, true, true, Norms::kLayerNorm, 0},
          {f, b, 384, false, true, true, Norms::kLayerNorm, 0.1, DropsFrom::kResult},
          {b, f, 96, false, true, false, Norms::kRmsPlusOne, 0.1, DropsFrom::kResult},
          {f, f, 20, false, true, false, Norms::kRms, 0},
          {f, f, 312, true, true, false, Norms::kRms, 0.3},
          {f, f, 1548, true, false, false},
          {b, b, 4096, false, false, false},
          {b, b, 64, true, false, false, Norms::kLayerNorm, 0}};
}

// In float only the order of sums differs. In narrower types each form rounds its result once.
// Where its numbers lie on both sides of the middle between two neighbours, the results are a unit
// in the last place apart: of bf16 at most 2^-7 of the number, of half 2^-10.
double BoundOf(at::ScalarType type) {
  return type == at::kFloat ? 1e-5 : type == at::kHalf ? 0x1p-10 : 0x1p-7;
}

TEST_F(KernelsOnAGpu, StepsOverRowsEqualLibtorchs) {
  const PackedTokens tokens = Inputs(1).Tokens({300, 1, 1203}, 9);
  const at::Tensor row_keys = AsTorch(tokens.row_keys).to(device());
  for (const StepCase& c : StepCases()) {
    const int64_t rows = tokens.tokens();
    const Arrays inputs = {Numbers({rows, c.width}, c.type),
                           c.residual ? Numbers({rows, c.width}, c.type) : at::Tensor(),
                           c.norm ? Numbers({c.width}, at::kFloat) : at::Tensor(),
                           c.beta ? Numbers({c.width}, at::kFloat) : at::Tensor()};
    const auto step = [&](const Arrays& leaves) {
      return RowStep{.x = leaves[0],
                     .residual = leaves[1],
                     .norm = {c.kind, leaves[2], leaves[3], 1e-12},
                     .row_keys = row_keys,
                     .dropout = {.rate = c.rate, .seed = 42, .step = 7, .site = 3},
                     .dropped = c.drops,
                     .result = c.result};
    };
    Arrays got, want;
    ExpectKernels(
        [&] {
          got = Computed(inputs, [&](const Arrays& leaves) { return portable::Do(step(leaves)); });
        },
        [&] {
          want = Computed(inputs, [&](const Arrays& leaves) { return portable::Do(step(leaves)); });
        });
    ASSERT_EQ(got.size(), want.size());
    const double bound = std::max(BoundOf(c.type), BoundOf(c.result));
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].scalar_type(), want[i].scalar_type());
      EXPECT_LE(ErrorOf(got[i], want[i]), bound) << c.Name() << ", array " << i;
    }
  }
}

// Texts of which nothing is left after their prompts among them.
TEST_F(KernelsOnAGpu, PoolingEqualsLibtorchs) {
  PackedTokens packed = Inputs(3).Tokens({300, 1, 17, 64, 5}, 9);
  for (const bool prompts : {false, true}) {
    if (prompts) {
      packed.prompt_tokens = FromTorch(at::arange(0, 20, 4, at::kInt));  // 0 .. 16
    }
    const PackedTokens tokens = packed.To(TestDevice());
    for (const tensor::Pooling pooling :
         {tensor::Pooling::kMean, tensor::Pooling::kMeanSqrtLen, tensor::Pooling::kWeightedMean}) {
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
        const Arrays inputs = {Numbers({tokens.tokens(), 200}, type)};
        ASSERT_TRUE(kernels::ServesPool(inputs[0], pooling));
        const Arrays got = Computed(inputs, [&](const Arrays& leaves) {
          return kernels::Pool(leaves[0], TokensOf(tokens), pooling);
        });
        const Arrays want = Computed(inputs, [&](const Arrays& leaves) {
          return portable::Pool(leaves[0], TokensWithClasses(tokens), pooling);
        });
        EXPECT_LE(ErrorOf(got[0], want[0]), 1e-5);
        EXPECT_LE(ErrorOf(got[1], want[1]), BoundOf(type));
      }
    }
  }
}

std::vector<AttentionSetting> AttentionSettings() {
  return {
      {.lengths = {1}, .shape = {1, 1, 16}, .rule = {.scale = 0.25}},
      {.lengths = {64, 128, 65}, .shape = {2, 2, 32}, .rule = {.scale = 0.18}},
      {.lengths = {1, 5, 64, 200, 130, 33},
       .shape = {3, 3, 32},
       .rule = {.scale = 0.18},
       .dropout = 0.1},
      {.lengths = {200, 20, 140}, .shape = {4, 4, 64}, .rule = {.scale = 0.125}, .dropout = 0.1},
      {.lengths = {300, 40, 41}, .shape = {4, 2, 64}, .rule = {.scale = 0.1, .causal = true}},
      {.lengths = {200, 70},
       .shape = {6, 2, 96},
       .rule = {.scale = 0.1, .causal = true},
       .dropout = 0.3},
      {.lengths = {200, 70},
       .shape = {3, 3, 48},
       .rule = {.scale = 0.2, .window = 30},
       .dropout = 0.1},
      {.lengths = {333, 7},
       .shape = {2, 1, 128},
       .rule = {.scale = 0.09, .causal = true, .window = 100}},
      {.lengths = {700}, .shape = {1, 1, 64}, .rule = {.scale = 0.125}, .dropout = 0.1}};
}

// The output and the gradient of qkv by `attention`, in `type`.
Arrays RunAttentionIn(at::ScalarType type, const AttentionProblem& problem,
                      const std::function<at::Tensor(const at::Tensor& qkv)>& attention) {
  const at::Device device = TorchDevice(TestDevice());
  const at::Tensor qkv = AsTorch(problem.qkv).to(device).to(type).requires_grad_();
  const at::Tensor out = attention(qkv);
  out.backward(AsTorch(problem.grad_out).to(device).to(type));
  return {out, qkv.grad()};
}

// The forms round in different places. The kernels' error may be 1.5 times that of libtorch's
// operations, as between all forms (tensor/compare_forms.h), and a unit in the last place of the
// largest number where libtorch's happens to be small.
TEST_F(KernelsOnAGpu, AttentionIsAsExactAsLibtorchs) {
  for (const AttentionSetting& setting : AttentionSettings()) {
    const AttentionProblem problem(setting);  // of numbers in bf16
    const tensor::AttentionResult want = tensor::RunReference(problem);
    const PackedTokens tokens = problem.tokens.To(TestDevice());
    for (const DType type : {tensor::kBFloat16, tensor::kHalf}) {
      const at::ScalarType torch_type = TorchType(type);
      Arrays got, usual;
      ExpectKernels(
          [&] {
            got = RunAttentionIn(torch_type, problem, [&](const at::Tensor& qkv) {
              return kernels::Attention(qkv, TokensOf(tokens), setting.shape, setting.rule,
                                        problem.Drop());
            });
          },
          [&] {
            usual = RunAttentionIn(torch_type, problem, [&](const at::Tensor& qkv) {
              return portable::Attention(qkv, TokensWithClasses(tokens), setting.shape,
                                         setting.rule, {}, problem.Drop());
            });
          });
      const Arrays wanted = {AsTorch(want.out), AsTorch(want.grad_qkv)};
      for (size_t i = 0; i < wanted.size(); ++i) {
        const double bound = std::max(1.5 * ErrorOf(usual[i], wanted[i]), BoundOf(torch_type));
        EXPECT_LE(ErrorOf(got[i], wanted[i]), bound)
            << setting.Name() << ", " << tensor::Name(type) << ", array " << i;
      }
    }
  }
}

// Sums have one order.
TEST_F(KernelsOnAGpu, AttentionGivesTheSameBytesAgain) {
  const AttentionProblem problem(
      {.lengths = {200, 70, 300}, .shape = {8, 4, 64}, .rule = {.scale = 0.125}, .dropout = 0.1});
  const PackedTokens tokens = problem.tokens.To(TestDevice());
  const auto run = [&] {
    return RunAttentionIn(at::kBFloat16, problem, [&](const at::Tensor& qkv) {
      return kernels::Attention(qkv, TokensOf(tokens), problem.setting.shape, problem.setting.rule,
                                problem.Drop());
    });
  };
  const Arrays first = run(), second = run();
  EXPECT_TRUE(first[0].equal(second[0]));
  EXPECT_TRUE(first[1].equal(second[1]));
}

// What a forward pass has kept of its input goes with its result, also without a backward pass.
TEST_F(KernelsOnAGpu, AGraphThatIsDroppedIsReleased) {
  const AttentionProblem problem(
      {.lengths = {20, 7}, .shape = {2, 2, 64}, .rule = {.scale = 0.125}});
  const PackedTokens tokens = problem.tokens.To(TestDevice());
  const auto expect_released = [](const char* name, const at::Tensor& input,
                                  const std::function<at::Tensor(const at::Tensor&)>& compute) {
    const at::Tensor leaf = input.detach().clone().requires_grad_();
    const int64_t launched = kernels::LaunchCount();
    at::Tensor out = compute(leaf);
    EXPECT_GT(kernels::LaunchCount(), launched) << name;
    EXPECT_GT(leaf.storage().use_count(), 1) << name << " keeps nothing of its input";
    out.reset();
    EXPECT_EQ(leaf.storage().use_count(), 1) << name;
  };
  expect_released("attention", AsTorch(problem.qkv).to(device()).to(at::kBFloat16),
                  [&](const at::Tensor& qkv) {
                    return kernels::Attention(qkv, TokensOf(tokens), problem.setting.shape,
                                              problem.setting.rule, {});
                  });
  const at::Tensor gamma = Numbers({64}, at::kFloat);
  expect_released("a step over rows", Numbers({27, 64}, at::kFloat), [&](const at::Tensor& x) {
    return portable::Do({.x = x,
                         .norm = {Norms::kLayerNorm, gamma, gamma, 1e-12},
                         .row_keys = TokensOf(tokens).row_keys,
                         .result = at::kFloat});
  });
}

}  // namespace
}  // namespace tandem::libtorch

#include "libtorch/traced.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "libtorch/bridge.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::libtorch {
namespace {

using tensor::Tensor;
using Inputs = std::vector<at::Tensor>;

Tensor Leaf(const std::vector<double>& elements, tensor::DType type = tensor::kFloat) {
  return MakeTensor({std::ssize(elements)}, elements, type).set_requires_grad(true);
}

at::Tensor Times(const Inputs& in) { return in[0] * in[1]; }

TEST(Traced, GivesTheValueAndTheGradients) {
  const Tensor a = Leaf({1, 2, 3}), b = Leaf({4, 5, 6});
  const Tensor out = Traced("Times", {a, b}, Times);
  EXPECT_EQ(ElementsOf(out), (std::vector<double>{4, 10, 18}));
  EXPECT_TRUE(out.requires_grad());
  out.backward(MakeTensor({3}, {1, 10, 100}));
  EXPECT_EQ(ElementsOf(a.grad()), (std::vector<double>{4, 50, 600}));
  EXPECT_EQ(ElementsOf(b.grad()), (std::vector<double>{1, 20, 300}));
}

TEST(Traced, IsOneOperationAmongOthers) {
  const Tensor x = Leaf({1, 2}), before = tensor::Mul(x, 3);
  const Tensor out =
      tensor::Mul(Traced("Square", {before}, [](const Inputs& in) { return in[0] * in[0]; }), 0.5);
  out.backward(MakeTensor({2}, {1, 1}));  // of (3 x)^2 / 2
  EXPECT_EQ(ElementsOf(x.grad()), (std::vector<double>{9, 18}));
}

TEST(Traced, RecordsNothingWithoutGradients) {
  const Tensor x = Leaf({1, 2});
  const auto expect_off = [](const Inputs& in) {
    EXPECT_FALSE(in[0].requires_grad());
    return in[0] * 2;
  };
  EXPECT_FALSE(Traced("Double", {x.detach()}, expect_off).requires_grad());
  const tensor::NoGradGuard no_gradient;
  EXPECT_FALSE(Traced("Double", {x}, expect_off).requires_grad());
}

TEST(Traced, InputsThatWantNoneGetNone) {
  const Tensor a = Leaf({1, 2}), b = MakeTensor({2}, {3, 4});
  Traced("Times", {a, b}, [](const Inputs& in) {
    EXPECT_TRUE(in[0].requires_grad());
    EXPECT_FALSE(in[1].requires_grad());
    return Times(in);
  }).backward(MakeTensor({2}, {1, 1}));
  EXPECT_EQ(ElementsOf(a.grad()), (std::vector<double>{3, 4}));
  EXPECT_FALSE(b.grad().defined());
}

TEST(Traced, UnusedAndUndefinedInputsAreFine) {
  const Tensor x = Leaf({1, 2}), unused = Leaf({5});
  const Tensor out = Traced("Double", {Tensor(), unused, x}, [](const Inputs& in) {
    EXPECT_FALSE(in[0].defined());
    return in[2] * 2;
  });
  out.backward(MakeTensor({2}, {1, 3}));
  EXPECT_EQ(ElementsOf(x.grad()), (std::vector<double>{2, 6}));
  EXPECT_FALSE(unused.grad().defined());
}

TEST(Traced, OneTensorMayBeSeveralInputs) {
  const Tensor x = Leaf({2, 3});
  Traced("Times", {x, x}, Times).backward(MakeTensor({2}, {1, 1}));
  EXPECT_EQ(ElementsOf(x.grad()), (std::vector<double>{4, 6}));
}

TEST(Traced, AFunctionOfNoInputThatWantsAGradientHasNoHistory) {
  const Tensor x = Leaf({2, 3});
  EXPECT_FALSE(Traced("Zeros", {x}, [](const Inputs& in) {
                 return at::zeros_like(in[0].detach());
               }).requires_grad());
}

std::vector<at::Tensor> SumAndProduct(const Inputs& in) {
  return {in[0] + in[1], in[0] * in[1], in[0].gt(1)};
}

TEST(Traced, SeveralOutputsAreOneOperation) {
  const Tensor a = Leaf({1, 2}), b = Leaf({3, 4});
  const std::vector<Tensor> outs = TracedSeveral("Both", std::vector{a, b}, SumAndProduct);
  ASSERT_EQ(outs.size(), 3u);
  EXPECT_EQ(outs[2].dtype(), tensor::kBool);
  EXPECT_FALSE(outs[2].requires_grad());
  tensor::Add(outs[0], outs[1]).backward(MakeTensor({2}, {1, 1}));
  EXPECT_EQ(ElementsOf(a.grad()), (std::vector<double>{4, 5}));
  EXPECT_EQ(ElementsOf(b.grad()), (std::vector<double>{2, 3}));
}

TEST(Traced, OutputsThatNothingReadsGetNoGradient) {
  const Tensor a = Leaf({1, 2}), b = Leaf({3, 4});
  const std::vector<Tensor> outs = TracedSeveral("Both", std::vector{a, b}, SumAndProduct);
  outs[1].backward(MakeTensor({2}, {1, 1}));
  EXPECT_EQ(ElementsOf(a.grad()), (std::vector<double>{3, 4}));
}

// The sum's gradient is that of both summands, and one memory. Each leaf must have its own.
TEST(Traced, GradientsOfSeveralLeavesDoNotShareMemory) {
  const Tensor a = Leaf({1, 2}), b = Leaf({3, 4});
  for (int pass = 0; pass < 2; ++pass) {
    Traced("Sum", {a, b}, [](const Inputs& in) {
      return in[0] + in[1];
    }).backward(MakeTensor({2}, {1, 10}));
  }
  EXPECT_EQ(ElementsOf(a.grad()), (std::vector<double>{2, 20}));
  EXPECT_EQ(ElementsOf(b.grad()), (std::vector<double>{2, 20}));
  EXPECT_NE(a.grad().data_ptr(), b.grad().data_ptr());
}

// The same with parts of a larger gradient, which leaves may keep.
TEST(Traced, GradientsThatArePartsOfABlockDoNotShareMemory) {
  const Tensor a = Leaf({1, 2}), b = Leaf({3, 4});
  const auto sum = [](const Inputs& in) { return in[0] + in[1]; };
  for (int pass = 0; pass < 2; ++pass) {
    const Tensor joined = tensor::Cat({Traced("Sum", {a, b}, sum), MakeTensor({1}, {5})});
    joined.backward(MakeTensor({3}, {1, 10, 100}));
  }
  EXPECT_EQ(ElementsOf(a.grad()), (std::vector<double>{2, 20}));
  EXPECT_EQ(ElementsOf(b.grad()), (std::vector<double>{2, 20}));
  EXPECT_NE(a.grad().data_ptr(), b.grad().data_ptr());
}

// Both readers of x pass their gradient on in memory that the other one reads too.
TEST(Traced, ReadersOfOneTensorAddTheirGradientsOnce) {
  const Tensor x = Leaf({1, 2});
  const Tensor y = tensor::Mul(x, 1);
  const auto same = [](const Inputs& in) { return in[0].view({2}); };
  tensor::Add(Traced("View", {y}, same), Traced("View", {y}, same))
      .backward(MakeTensor({2}, {1, 10}));
  EXPECT_EQ(ElementsOf(x.grad()), (std::vector<double>{2, 20}));
}

TEST(Traced, AnOutputMayBeAnInput) {
  const Tensor x = Leaf({1, 2});
  const Tensor out = Traced("Same", {x}, [](const Inputs& in) { return in[0]; });
  EXPECT_EQ(out.data_ptr(), x.data_ptr());
  EXPECT_FALSE(out.is_same(x));
  out.backward(MakeTensor({2}, {3, 4}));
  EXPECT_EQ(ElementsOf(x.grad()), (std::vector<double>{3, 4}));
}

TEST(Traced, ResultsThatAreNotContiguousAre) {
  const Tensor x = MakeTensor({2, 3}, {0, 1, 2, 3, 4, 5}).set_requires_grad(true);
  const Tensor out = Traced("Transpose", {x}, [](const Inputs& in) { return in[0].t(); });
  EXPECT_EQ(ElementsOf(out), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  out.backward(MakeTensor({3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ElementsOf(x.grad()), (std::vector<double>{1, 3, 5, 2, 4, 6}));
}

TEST(Traced, GradientsHaveTheTypesOfTheirInputs) {
  for (const tensor::DType type : {tensor::kDouble, tensor::kBFloat16, tensor::kHalf}) {
    const Tensor x = Leaf({1, 2}, type);
    const Tensor out =
        Traced("Float", {x}, [](const Inputs& in) { return in[0].to(at::kFloat) * 2; });
    EXPECT_EQ(out.dtype(), tensor::kFloat);
    out.backward(MakeTensor({2}, {1, 4}));
    EXPECT_EQ(x.grad().dtype(), type);
    EXPECT_EQ(ElementsOf(x.grad()), (std::vector<double>{2, 8}));
  }
}

// A tensor whose memory says when it is freed.
std::pair<Tensor, std::weak_ptr<void>> Watched() {
  auto memory = std::make_shared<std::vector<float>>(2, 1.0F);
  const std::weak_ptr<void> alive = memory;
  float* const first = memory->data();
  return {tensor::FromBlob(first, {2}, tensor::kFloat, std::move(memory)), alive};
}

// exp needs its result alone, a sum nothing.
TEST(Traced, TheGraphKeepsNoMoreThanItNeeds) {
  const Tensor x = Leaf({1, 2});
  auto [summand, alive] = Watched();
  const Tensor out =
      Traced("Sum", {x, summand}, [](const Inputs& in) { return (in[0] + in[1]).exp(); });
  summand.reset();
  EXPECT_TRUE(alive.expired());
  out.backward(MakeTensor({2}, {1, 1}));
  EXPECT_TRUE(AreEqual(x.grad(), out.detach()));
}

TEST(Traced, TheGraphIsReleasedByItsBackwardPass) {
  const Tensor x = Leaf({1, 2});
  auto [factor, alive] = Watched();
  const Tensor out = Traced("Times", {x, factor}, Times);
  factor.reset();
  EXPECT_FALSE(alive.expired());
  out.backward(MakeTensor({2}, {1, 1}));
  EXPECT_TRUE(alive.expired());
}

TEST(Traced, AGraphThatIsDroppedIsReleased) {
  const Tensor x = Leaf({1, 2});
  auto [factor, alive] = Watched();
  Tensor out = Traced("Times", {x, factor}, Times);
  factor.reset();
  out.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(Traced, SeveralThreadsWalkTheirGraphsAtTheSameTime) {
  const Tensor shared = Leaf({1, 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 50; ++i) {
        Traced("Times", {shared, MakeTensor({2}, {2, 3})}, Times).backward(MakeTensor({2}, {1, 1}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ElementsOf(shared.grad()), (std::vector<double>{400, 600}));
}

}  // namespace
}  // namespace tandem::libtorch

#include "tensor/core/gradients/tape.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

using Numbers = std::vector<double>;

Tensor Leaf(const Shape& shape, const Numbers& values) {
  return Doubles(shape, values).set_requires_grad(true);
}

// The sum of scalars, which are joined in their order.
Tensor SumOf(const std::vector<Tensor>& scalars) {
  std::vector<Tensor> rows;
  for (const Tensor& scalar : scalars) rows.push_back(scalar.view({1}));
  return Sum(Cat(rows));
}

// An operation whose gradient is the output's, which notes its name when it runs.
Tensor Noted(const char* name, const Tensor& x, std::vector<std::string>* ran) {
  return WithBackward(name, x.detach().clone(), {x}, [name, ran](const Tensor& grad) {
    ran->emplace_back(name);
    return std::vector{grad};
  });
}

TEST(Tape, AddsTheGradientsOfATensorThatIsReadSeveralTimes) {
  const Tensor x = Leaf({2}, {3, 4});
  const Tensor y = Mul(x, x);                  // x^2
  const Tensor z = Add(Mul(y, 2), Mul(y, x));  // 2 x^2 + x^3
  Sum(z).backward();
  EXPECT_EQ(DoublesOf(x.grad()), (Numbers{4 * 3 + 3 * 9, 4 * 4 + 3 * 16}));
  EXPECT_FALSE(y.grad().defined());
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(y.is_leaf());
}

TEST(Tape, AddsUpPassesUntilTheGradientIsCleared) {
  const Tensor x = Leaf({1}, {2});
  for (int pass = 0; pass < 3; ++pass) Mul(x, 5).backward();
  EXPECT_EQ(x.grad().item<double>(), 15);
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
  Mul(x, 5).backward(Doubles({1}, {0.5}));
  EXPECT_EQ(x.grad().item<double>(), 2.5);
  x.backward();
  EXPECT_EQ(x.grad().item<double>(), 3.5);
}

TEST(Tape, RunsWhatWasMadeLastFirst) {
  std::vector<std::string> ran;
  const Tensor x = Leaf({}, {1});
  const Tensor a = Noted("a", x, &ran), b = Noted("b", x, &ran);
  const Tensor c = Noted("c", a, &ran), d = Noted("d", b, &ran);
  Add(d, c).backward();
  EXPECT_EQ(ran, (std::vector<std::string>{"d", "c", "b", "a"}));
  EXPECT_EQ(x.grad().item<double>(), 2);
}

TEST(Tape, WaitsForEveryReader) {
  std::vector<std::string> ran;
  const Tensor x = Leaf({}, {1});
  const Tensor a = Noted("a", x, &ran);
  const Tensor later = Noted("later", x, &ran);
  // "late" reads a and was made last, but is only ready after "sum".
  const Tensor late = Noted("late", a, &ran);
  Add(Add(late, a), later).backward();
  EXPECT_EQ(ran, (std::vector<std::string>{"late", "later", "a"}));
  EXPECT_EQ(x.grad().item<double>(), 3);
}

// (1 + e) + e and 1 + (e + e) differ for e of half a unit in the last place.
TEST(Tape, AddsGradientsInTheOrderOfArrivalAndThenToTheLeaf) {
  constexpr double kSmall = 0x1p-53;
  const auto gradient = [](double value) {
    return [value](const Tensor& grad) { return std::vector{Full(grad.sizes(), value, kDouble)}; };
  };
  const auto use = [&](const Tensor& x, double value) {
    return WithBackward("use", x.detach().clone(), {x}, gradient(value));
  };
  const auto sum = [&](const std::vector<double>& gradients, double before) {
    const Tensor x = Leaf({}, {0});
    if (before != 0) x.set_grad(Doubles({}, {before}));
    std::vector<Tensor> uses;
    for (const double value : gradients) uses.push_back(use(x, value));
    SumOf(uses).backward();
    return x.grad().item<double>();
  };
  // The last use arrives first.
  EXPECT_EQ(sum({1, kSmall, kSmall}, 0), 1 + 2 * kSmall);
  EXPECT_EQ(sum({kSmall, kSmall, 1}, 0), 1);
  // What a pass adds is summed before it is added to what was there.
  EXPECT_EQ(sum({kSmall, kSmall}, 1), 1 + 2 * kSmall);
}

TEST(Tape, PassesNothingOnToWhatNeedsNoGradient) {
  const Tensor x = Leaf({2}, {1, 2}), constant = Doubles({2}, {3, 4});
  Sum(Mul(x, constant)).backward();
  EXPECT_EQ(DoublesOf(x.grad()), (Numbers{3, 4}));
  EXPECT_FALSE(constant.grad().defined());
  EXPECT_FALSE(NeedsGradient({constant, Tensor()}));
  EXPECT_TRUE(NeedsGradient({constant, x}));
  x.set_requires_grad(false);
  EXPECT_FALSE(Mul(x, constant).requires_grad());
}

TEST(Tape, OutputsThatNothingReadsHaveNoGradient) {
  const Tensor x = Leaf({}, {1});
  const Tensor outs[] = {x.detach().clone(), x.detach().clone()};
  std::vector<bool> defined;
  WithBackward("Two", outs, std::span(&x, 1), [&defined](const std::vector<Tensor>& grads) {
    for (const Tensor& grad : grads) defined.push_back(grad.defined());
    return std::vector{grads[1]};
  });
  Mul(outs[1], 3).backward();
  EXPECT_EQ(defined, (std::vector<bool>{false, true}));
  EXPECT_EQ(x.grad().item<double>(), 3);
}

TEST(Tape, AnOperationWithoutAnyGradientIsPassedOver) {
  const Tensor x = Leaf({}, {1});
  bool called = false;
  const Tensor inner = WithBackward("Inner", x.detach().clone(), {x}, [&](const Tensor& grad) {
    called = true;
    return std::vector{grad};
  });
  const Tensor outer =
      WithBackward("Outer", x.detach().clone(), {inner, x}, [](const Tensor& grad) {
        return std::vector{Tensor(), grad};
      });
  outer.backward();
  EXPECT_FALSE(called);
  EXPECT_EQ(x.grad().item<double>(), 1);
}

TEST(Tape, ReleasesClosuresAsTheyHaveRun) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = held;
  const Tensor x = Leaf({}, {1});
  bool freed = false;
  const Tensor first = WithBackward("First", x.detach().clone(), {x}, [&](const Tensor& grad) {
    freed = alive.expired();
    return std::vector{grad};
  });
  const Tensor second =
      WithBackward("Second", x.detach().clone(), {first},
                   [held = std::move(held)](const Tensor& grad) { return std::vector{grad}; });
  EXPECT_FALSE(alive.expired());
  second.backward();
  EXPECT_TRUE(freed);  // before the operation below it ran
  EXPECT_TRUE(second.requires_grad());
}

TEST(Tape, AGraphThatIsNotWalkedIsFreedWithItsTensors) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = held;
  Tensor out = Leaf({}, {1});
  out = WithBackward("Held", out.detach().clone(), {out},
                     [held = std::move(held)](const Tensor& grad) { return std::vector{grad}; });
  for (int i = 0; i < 200'000; ++i) out = Mul(out, 1);  // too many for recursion
  EXPECT_FALSE(alive.expired());
  const Tensor detached = out.detach();
  out.reset();
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(detached.item<double>(), 1);
}

TEST(Tape, IsWalkedOnce) {
  const Tensor x = Leaf({}, {3});
  const Tensor y = Mul(x, x), z = Sum(y);
  z.backward();
  EXPECT_EQ(Mistake([&] { z.backward(); }), "Sum: backward pass asked for a second time");
  // A part that another pass has walked: nothing is added before the error.
  EXPECT_EQ(Mistake([&] { Add(y, x).backward(); }), "Mul: backward pass asked for a second time");
  EXPECT_EQ(x.grad().item<double>(), 6);
}

TEST(Tape, NothingIsRecordedUnderNoGrad) {
  const Tensor x = Leaf({2}, {1, 2});
  {
    const NoGradGuard outer;
    {
      const NoGradGuard inner;
      EXPECT_FALSE(GradEnabled());
    }
    EXPECT_FALSE(GradEnabled());
    EXPECT_FALSE(NeedsGradient({x}));
    EXPECT_FALSE(Mul(x, 2).requires_grad());
    EXPECT_FALSE(x[0].requires_grad());
  }
  EXPECT_TRUE(GradEnabled());
  EXPECT_TRUE(x[0].requires_grad());
}

TEST(Tape, ClosuresRunWithoutGradients) {
  const Tensor x = Leaf({}, {1});
  bool enabled = true;
  const Tensor y = WithBackward("Look", x.detach().clone(), {x}, [&](const Tensor& grad) {
    enabled = GradEnabled();
    return std::vector{grad};
  });
  y.backward();
  EXPECT_FALSE(enabled);
  EXPECT_TRUE(GradEnabled());
}

TEST(Tape, KeepsGradientsThatNobodyElseReads) {
  const Tensor x = Leaf({2}, {1, 2}), y = Leaf({2}, {1, 2});
  const Tensor gradient = Doubles({2}, {5, 6});
  Add(x, y).backward(gradient);
  gradient.zero_();
  EXPECT_FALSE(x.grad().SharesStorage(y.grad()));
  x.grad().zero_();
  EXPECT_EQ(DoublesOf(y.grad()), (Numbers{5, 6}));
  // Parts of one block stay there.
  const Tensor a = Leaf({1}, {0}), b = Leaf({1}, {0});
  const Tensor out = WithBackward("Block", Doubles({}, {0}), {a, b}, [](const Tensor&) {
    const Tensor block = Doubles({2}, {7, 8});
    return std::vector{block.narrow(0, 0, 1), block.narrow(0, 1, 1)};
  });
  out.backward();
  EXPECT_TRUE(a.grad().SharesStorage(b.grad()));
  EXPECT_EQ(b.grad().item<double>(), 8);
  // The same memory twice does not.
  const Tensor c = Leaf({1}, {0}), d = Leaf({1}, {0});
  const Tensor twice = WithBackward("Twice", Doubles({}, {0}), {c, d}, [](const Tensor& grad) {
    const Tensor whole = grad.view({1});
    return std::vector{whole, whole.detach()};
  });
  twice.backward();
  c.grad().zero_();
  EXPECT_EQ(d.grad().item<double>(), 1);
}

TEST(Tape, CopiesPartsOfGradientsThatOthersHave) {
  const Tensor x = Leaf({2}, {1, 2}), y = Leaf({1, 2}, {1, 2}), z = Leaf({1, 2}, {1, 2});
  const Tensor gradient = Doubles({2, 2}, {1, 2, 3, 4});
  for (int pass = 1; pass <= 3; ++pass) {
    Cat({Add(x.view({1, 2}), y), z}).backward(gradient);
    EXPECT_EQ(DoublesOf(gradient), (Numbers{1, 2, 3, 4}));
    EXPECT_EQ(DoublesOf(z.grad()), (Numbers{3.0 * pass, 4.0 * pass}));
  }
  x.grad().zero_();
  EXPECT_EQ(DoublesOf(y.grad()), (Numbers{3, 6}));
  // Parts of one block that overlap.
  const Tensor a = Leaf({2}, {0, 0}), b = Leaf({2}, {0, 0});
  const Tensor out = WithBackward("Overlap", Doubles({}, {0}), {a, b}, [](const Tensor&) {
    const Tensor block = Doubles({3}, {7, 8, 9});
    return std::vector{block.narrow(0, 0, 2), block.narrow(0, 1, 2)};
  });
  out.backward();
  a.grad().zero_();
  EXPECT_EQ(DoublesOf(b.grad()), (Numbers{8, 9}));
}

TEST(Tape, ConvertsGradientsToTheTypeOfTheirTensor) {
  const Tensor x = Of<float>({2}, {1, 2}).set_requires_grad(true);
  Sum(Mul(x.to(kDouble), Doubles({2}, {0.5, 0.1}))).backward();
  EXPECT_EQ(x.grad().dtype(), kFloat);
  EXPECT_EQ(x.grad().data_ptr<float>()[1], 0.1F);
}

TEST(Tape, CallsHooksOnceTheGradientIsWhole) {
  const Tensor x = Leaf({}, {1});
  Numbers seen;
  AddGradientHook(x, [&] { seen.push_back(x.grad().item<double>()); });
  Add(Mul(x, 2), Mul(x, 3)).backward();
  Mul(x, 4).backward();
  EXPECT_EQ(seen, (Numbers{5, 9}));
  EXPECT_EQ(Mistake([&] { AddGradientHook(Mul(x, 2), [] {}); }),
            "AddGradientHook: expected a leaf, found an operation's output float64 []");
}

// Processes that add their gradients up in that order must agree on it.
TEST(Tape, LeavesThatAreReadyTogetherRunInTheOrderOfTheInputs) {
  const Tensor a = Leaf({}, {1}), b = Leaf({}, {1}), c = Leaf({}, {1});
  std::string order;
  AddGradientHook(a, [&] { order += 'a'; });
  AddGradientHook(b, [&] { order += 'b'; });
  AddGradientHook(c, [&] { order += 'c'; });
  SumOf({b, c, a}).backward();
  const Tensor out = WithBackward("Three", Doubles({}, {0}), {c, a, b}, [](const Tensor& grad) {
    return std::vector{grad, grad, grad};
  });
  out.backward();
  // SumOf makes a view of each before it joins them; the last view runs first.
  EXPECT_EQ(order, "acbcab");
}

TEST(Tape, SaysWhatIsWrong) {
  const Tensor x = Leaf({2}, {1, 2}), constant = Doubles({2}, {1, 2});
  const auto returning = [&](std::vector<Tensor> gradients) {
    return Mistake([&] {
      WithBackward("Broken", Doubles({}, {0}), {x}, [&](const Tensor&) {
        return gradients;
      }).backward();
    });
  };
  EXPECT_EQ(returning({}), "Broken: expected a gradient for each of 1 inputs, found 0");
  EXPECT_EQ(returning({Doubles({1}, {1})}), "Broken: the gradient of input 0 is [1], expected [2]");
  EXPECT_EQ(Mistake([&] { constant.backward(); }),
            "backward: float64 [2] is a function of no tensor that wants a gradient");
  EXPECT_EQ(Mistake([&] { Mul(x, 2).backward(); }),
            "backward: without a gradient a tensor must have one element, found float64 [2]");
  EXPECT_EQ(Mistake([&] { Mul(x, 2).backward(Doubles({1}, {1})); }),
            "backward: the gradient of float64 [2] is float64 [1]");
  EXPECT_EQ(Mistake([&] { x.set_grad(Doubles({1}, {1})); }),
            "set_grad: the gradient of float64 [2] is float64 [1]");
  EXPECT_EQ(Mistake([&] { Mul(x, 2).set_requires_grad(false); }),
            "set_requires_grad: expected a leaf, found an operation's output float64 [2]");
  EXPECT_EQ(Mistake([&] { Zeros({1}, kLong).set_requires_grad(true); }),
            "set_requires_grad: int64 [1] has no gradient, only floating types have");
  const auto none = [](const Tensor&) { return std::vector<Tensor>(); };
  EXPECT_EQ(Mistake([&] { WithBackward("Late", x, {constant}, none); }),
            "Late: expected a new tensor as output, found float64 [2] that has a history");
  EXPECT_EQ(Mistake([&] { WithBackward("Whole", Zeros({1}, kInt), {x}, none); }),
            "Whole: expected an output with gradients, found int32 [1]");
}

TEST(Tape, GradientsOfTensorsWithoutRowsFlow) {
  const Tensor x = Leaf({0, 3}, {});
  Sum(Mul(x, 2)).backward();
  EXPECT_EQ(x.grad().sizes(), (Shape{0, 3}));
  const Tensor y = Leaf({2, 3}, {1, 2, 3, 4, 5, 6});
  Add(Sum(y.narrow(0, 2, 0)), Sum(Columns(y, 1, 0))).backward();
  EXPECT_EQ(DoublesOf(y.grad()), Numbers(6, 0));
}

// One thread trains while another encodes, and both read the same weights.
TEST(Tape, IsEachThreadsOwn) {
  const Tensor weights = Leaf({64}, Numbers(64, 2));
  bool recorded = false, wrong = false;
  std::atomic<bool> encoding = false, trained = false;
  std::thread encoder([&] {
    const NoGradGuard no_gradient;
    do {
      const Tensor out = Mul(weights, 3);
      recorded = recorded || out.requires_grad();
      wrong = wrong || out[63].item<double>() != 6;
      encoding = true;
    } while (!trained);
  });
  while (!encoding) std::this_thread::yield();
  const bool enabled = GradEnabled();
  for (int i = 0; i < 200 && enabled; ++i) Sum(Mul(weights, weights)).backward();
  trained = true;
  encoder.join();
  ASSERT_TRUE(enabled);
  EXPECT_FALSE(recorded);
  EXPECT_FALSE(wrong);
  EXPECT_EQ(weights.grad()[5].item<double>(), 200 * 4);
}

TEST(Tape, GraphsOfSeveralThreadsMayShareLeaves) {
  const Tensor weights = Leaf({8}, Numbers(8, 2));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&weights] {
      for (int i = 0; i < 100; ++i) Sum(Mul(weights, weights)).backward();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(DoublesOf(weights.grad()), Numbers(8, 400 * 4));
}

}  // namespace
}  // namespace tandem::tensor

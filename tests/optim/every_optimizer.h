// What holds for every optimizer of the catalogue, on tensors. A test program includes this once
// and instantiates EveryOptimizer with the forms of rules that it has.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "optim/optimizer.h"
#include "optim/row_gradients.h"
#include "support/tensors.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"

namespace tandem::optim {

class EveryOptimizer : public testing::TestWithParam<std::tuple<const OptimizerInfo*, RuleForm>> {
 protected:
  static const OptimizerInfo& info() { return *std::get<0>(GetParam()); }
  static RuleForm form() { return std::get<1>(GetParam()); }
  // A device may add up in another order, with other threads or where rows are a list.
  static bool Same(const tensor::Tensor& a, const tensor::Tensor& b) {
    return form() == RuleForm::kHost ? AreEqual(a, b) : AreClose(a, b, 1e-5, 1e-6);
  }

  // Sizes below, at and above the piece that a thread takes.
  EveryOptimizer() {
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{1}, {7}, {16384}, {40001}, {500, 70}, {5, 9000}}) {
      const tensor::Tensor value = Random(shape).set_requires_grad(true);
      parameters_.push_back({.name = fmt::format("p{}", parameters_.size()),
                             .value = value,
                             .decay = shape.size() > 1});
    }
  }
  void NewGradients() {
    for (auto& parameter : parameters_) {
      parameter.value.set_grad(Random(parameter.value.sizes()));
    }
  }

  // New numbers at each call.
  tensor::Tensor Random(const tensor::Shape& shape) { return RandomTensor(shape, ++seed_); }
  // Copies of the parameters, which no gradient is asked for.
  std::vector<model::NamedParameter> CopiesOfParameters() const {
    std::vector<model::NamedParameter> copies;
    for (const auto& parameter : parameters_) {
      copies.push_back({parameter.name, parameter.value.detach().clone(), parameter.decay});
    }
    return copies;
  }

  uint64_t seed_ = 0;
  std::vector<model::NamedParameter> parameters_;
};

TEST_P(EveryOptimizer, MovesWeightsAgainstTheGradient) {
  Optimizer optimizer(info(), parameters_, form());
  NewGradients();
  std::vector<tensor::Tensor> before;
  for (const auto& parameter : parameters_) before.push_back(parameter.value.detach().clone());
  optimizer.Step(1e-3, 1);
  EXPECT_EQ(optimizer.steps(), 1);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const tensor::Tensor moved = Difference(parameters_[p].value, before[p]);
    EXPECT_LT(DotOf(moved, parameters_[p].value.grad()), 0) << p;
  }
}

TEST_P(EveryOptimizer, LeavesAParameterWithoutGradient) {
  Optimizer optimizer(info(), parameters_, form());
  NewGradients();
  parameters_[4].value.set_grad(tensor::Tensor());
  const tensor::Tensor without = parameters_[4].value.detach().clone();
  const tensor::Tensor with = parameters_[3].value.detach().clone();
  optimizer.Step(0.1, 1);
  EXPECT_TRUE(AreEqual(parameters_[4].value, without));
  EXPECT_FALSE(AreEqual(parameters_[3].value, with));
}

TEST_P(EveryOptimizer, CountsItsWritesToParameters) {
  Optimizer optimizer(info(), parameters_, form());
  const auto version = parameters_[0].value.version();
  NewGradients();
  optimizer.Step(0.1, 1);
  EXPECT_GT(parameters_[0].value.version(), version);
}

TEST_P(EveryOptimizer, RestoredContinuesBitForBitOnAnyNumberOfThreads) {
  Optimizer optimizer(info(), parameters_, form());
  for (int t = 0; t < 3; ++t) {
    NewGradients();
    optimizer.Step(0.01, 1);
  }
  const std::vector<model::NamedParameter> copies = CopiesOfParameters();
  Optimizer restored(info(), copies, form());
  restored.set_steps(optimizer.steps());
  const auto from = optimizer.State(), to = restored.State();
  ASSERT_GE(from.size(), parameters_.size());
  ASSERT_EQ(from.size(), to.size());
  for (size_t s = 0; s < from.size(); ++s) {
    ASSERT_EQ(from[s].name, to[s].name);
    to[s].value.copy_(from[s].value);
  }
  const int threads = tensor::ThreadCount();
  for (int t = 0; t < 2; ++t) {
    NewGradients();
    for (size_t p = 0; p < copies.size(); ++p) {
      copies[p].value.set_grad(parameters_[p].value.grad().clone());
    }
    tensor::SetThreadCount(1);
    optimizer.Step(0.01, 0.5);
    tensor::SetThreadCount(3);
    restored.Step(0.01, 0.5);
    tensor::SetThreadCount(threads);
  }
  for (size_t p = 0; p < copies.size(); ++p) {
    EXPECT_TRUE(Same(copies[p].value, parameters_[p].value.detach())) << p;
  }
}

// A batch reads few rows of a table; some rows are read by no batch, some only early or only late.
// In some steps the gradient is dense, and in some the state is saved, as a checkpoint does.
TEST_P(EveryOptimizer, GradientsOfSomeRowsDoWhatWholeOnesDo) {
  const std::vector<model::NamedParameter> whole = CopiesOfParameters();
  Optimizer of_rows(info(), parameters_, form()), of_whole(info(), whole, form());
  for (int64_t step = 1; step <= 8; ++step) {
    NewGradients();
    for (size_t p = 0; p < parameters_.size(); ++p) {
      const tensor::Tensor gradient = parameters_[p].value.grad();
      whole[p].value.set_grad(gradient);
      if (p >= 4 && step != 6) {  // the tables
        for (int64_t row = 0; row < gradient.size(0); ++row) {
          if ((row + step) % 3 != 0 || row % 5 == 4 || (row % 5 == 3) != (step > 4)) {
            gradient[row].zero_();
          }
        }
        GiveRows(parameters_[p].value, RowsThatAreNotZero(gradient));
        ASSERT_NE(parameters_[p].value.row_grad(), nullptr);
      } else {
        parameters_[p].value.set_grad(gradient.clone());
      }
    }
    if (step == 4) of_rows.State()[0].value.detach();
    of_rows.Step(0.01, 0.5);
    of_whole.Step(0.01, 0.5);
    for (size_t p = 0; p < whole.size(); ++p) {
      ASSERT_TRUE(Same(whole[p].value, parameters_[p].value.detach())) << p << " at step " << step;
    }
  }
  const auto a = of_rows.State(), b = of_whole.State();
  for (size_t s = 0; s < a.size(); ++s) EXPECT_TRUE(Same(a[s].value, b[s].value)) << a[s].name;
}

// Loading a state replaces what the optimizer knew about which rows have moments.
TEST_P(EveryOptimizer, GradientsOfSomeRowsFollowARestoredState) {
  Optimizer trained(info(), parameters_, form());
  NewGradients();
  trained.Step(0.01, 1);
  const std::vector<model::NamedParameter> copies = CopiesOfParameters();
  Optimizer restored(info(), copies, form());
  for (const auto& parameter : parameters_) parameter.value.set_grad(tensor::Tensor());
  const tensor::SparseRows gradient{MakeTensor({1}, {0}, tensor::kLong),
                                    Random({1, copies[4].value.size(1)})};
  GiveRows(parameters_[4].value, gradient);
  GiveRows(copies[4].value, gradient);
  const tensor::Tensor before = copies[4].value.detach().clone();
  restored.Step(0.01, 1);  // finds rows without moments
  copies[4].value.copy_(before);
  restored.set_steps(trained.steps());
  const auto from = trained.State(), to = restored.State();
  for (size_t s = 0; s < from.size(); ++s) to[s].value.copy_(from[s].value);
  trained.Step(0.01, 1);
  restored.Step(0.01, 1);
  EXPECT_TRUE(Same(copies[4].value, parameters_[4].value.detach()));
}

TEST_P(EveryOptimizer, RefusesOtherTypes) {
  EXPECT_THROW(
      Optimizer(info(), {{.name = "d", .value = tensor::Empty({2}, tensor::kDouble)}}, form()),
      std::invalid_argument);
}

TEST_P(EveryOptimizer, RefusesParametersOnTwoDevices) {
  float numbers[2] = {};
  const tensor::Tensor elsewhere = tensor::FromDevice(
      numbers, {2}, tensor::kFloat, {tensor::Device::Kind::kCuda, 0}, /*owner=*/nullptr);
  EXPECT_THROW(Optimizer(info(),
                         {{.name = "a", .value = tensor::Empty({2}, tensor::kFloat)},
                          {.name = "b", .value = elsewhere}},
                         form()),
               std::invalid_argument);
}

}  // namespace tandem::optim

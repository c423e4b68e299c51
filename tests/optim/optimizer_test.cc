// What holds for every optimizer of the catalogue, on tensors.
#include "optim/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>
#include <vector>

namespace tandem::optim {
namespace {

class EveryOptimizer : public testing::TestWithParam<std::tuple<const OptimizerInfo*, RuleForm>> {
 protected:
  static const OptimizerInfo& info() { return *std::get<0>(GetParam()); }
  static RuleForm form() { return std::get<1>(GetParam()); }
  // A device may add up in another order, with other threads or where rows are a list.
  static bool Same(const at::Tensor& a, const at::Tensor& b) {
    return form() == RuleForm::kHost ? a.equal(b) : a.allclose(b, 1e-5, 1e-6);
  }

  // Sizes below, at and above the piece that a thread takes.
  EveryOptimizer() {
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{1}, {7}, {16384}, {40001}, {500, 70}, {5, 9000}}) {
      const at::Tensor value = at::randn(shape).set_requires_grad(true);
      parameters_.push_back({.name = fmt::format("p{}", parameters_.size()),
                             .value = value,
                             .decay = shape.size() > 1});
    }
  }
  void NewGradients() {
    for (auto& parameter : parameters_) {
      parameter.value.mutable_grad() = at::randn(parameter.value.sizes());
    }
  }

  std::vector<model::NamedParameter> parameters_;
};

TEST_P(EveryOptimizer, MovesWeightsAgainstTheGradient) {
  Optimizer optimizer(info(), parameters_, form());
  NewGradients();
  std::vector<at::Tensor> before;
  for (const auto& parameter : parameters_) before.push_back(parameter.value.detach().clone());
  optimizer.Step(1e-3, 1);
  EXPECT_EQ(optimizer.steps(), 1);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const at::Tensor moved =
        (parameters_[p].value.detach() - before[p]) * parameters_[p].value.grad();
    EXPECT_LT(moved.sum().item<double>(), 0) << p;
  }
}

TEST_P(EveryOptimizer, LeavesAParameterWithoutGradient) {
  Optimizer optimizer(info(), parameters_, form());
  NewGradients();
  parameters_[4].value.mutable_grad() = at::Tensor();
  const at::Tensor without = parameters_[4].value.detach().clone();
  const at::Tensor with = parameters_[3].value.detach().clone();
  optimizer.Step(0.1, 1);
  EXPECT_TRUE(parameters_[4].value.detach().equal(without));
  EXPECT_FALSE(parameters_[3].value.detach().equal(with));
}

TEST_P(EveryOptimizer, TellsLibtorchThatParametersChanged) {
  Optimizer optimizer(info(), parameters_, form());
  const auto version = parameters_[0].value._version();
  NewGradients();
  optimizer.Step(0.1, 1);
  EXPECT_GT(parameters_[0].value._version(), version);
}

TEST_P(EveryOptimizer, RestoredContinuesBitForBitOnAnyNumberOfThreads) {
  Optimizer optimizer(info(), parameters_, form());
  for (int t = 0; t < 3; ++t) {
    NewGradients();
    optimizer.Step(0.01, 1);
  }
  std::vector<model::NamedParameter> copies;
  for (const auto& parameter : parameters_) {
    copies.push_back({parameter.name, parameter.value.detach().clone(), parameter.decay});
  }
  Optimizer restored(info(), copies, form());
  restored.set_steps(optimizer.steps());
  const auto from = optimizer.State(), to = restored.State();
  ASSERT_GE(from.size(), parameters_.size());
  ASSERT_EQ(from.size(), to.size());
  for (size_t s = 0; s < from.size(); ++s) {
    ASSERT_EQ(from[s].name, to[s].name);
    const_cast<at::Tensor&>(to[s].value).copy_(from[s].value);
  }
  const int threads = at::get_num_threads();
  for (int t = 0; t < 2; ++t) {
    NewGradients();
    for (size_t p = 0; p < copies.size(); ++p) {
      copies[p].value.mutable_grad() = parameters_[p].value.grad().clone();
    }
    at::set_num_threads(1);
    optimizer.Step(0.01, 0.5);
    at::set_num_threads(3);
    restored.Step(0.01, 0.5);
    at::set_num_threads(threads);
  }
  for (size_t p = 0; p < copies.size(); ++p) {
    EXPECT_TRUE(Same(copies[p].value, parameters_[p].value.detach())) << p;
  }
}

// A batch reads few rows of a table; some rows are read by no batch, some only early or only late.
// In some steps the gradient is dense, and in some the state is saved, as a checkpoint does.
TEST_P(EveryOptimizer, GradientsOfSomeRowsDoWhatWholeOnesDo) {
  std::vector<model::NamedParameter> whole;
  for (const auto& parameter : parameters_) {
    whole.push_back({parameter.name, parameter.value.detach().clone(), parameter.decay});
  }
  Optimizer of_rows(info(), parameters_, form()), of_whole(info(), whole, form());
  for (int64_t step = 1; step <= 8; ++step) {
    NewGradients();
    for (size_t p = 0; p < parameters_.size(); ++p) {
      at::Tensor& gradient = parameters_[p].value.mutable_grad();
      if (p >= 4 && step != 6) {  // the tables
        for (int64_t row = 0; row < gradient.size(0); ++row) {
          if ((row + step) % 3 != 0 || row % 5 == 4 || (row % 5 == 3) != (step > 4)) {
            gradient[row].zero_();
          }
        }
        whole[p].value.mutable_grad() = gradient.clone();
        gradient = gradient.to_sparse(1);
        ASSERT_TRUE(gradient.is_sparse());
      } else {
        whole[p].value.mutable_grad() = gradient.clone();
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
  std::vector<model::NamedParameter> copies;
  for (const auto& parameter : parameters_) {
    copies.push_back({parameter.name, parameter.value.detach().clone(), parameter.decay});
  }
  Optimizer restored(info(), copies, form());
  const auto one_row = [](at::Tensor gradient) {
    gradient.slice(0, 1).zero_();
    return gradient.to_sparse(1);
  };
  at::Tensor& gradient = parameters_[4].value.mutable_grad();
  for (size_t p = 0; p < copies.size(); ++p) parameters_[p].value.mutable_grad() = at::Tensor();
  gradient = one_row(at::randn(copies[4].value.sizes()));
  copies[4].value.mutable_grad() = gradient;
  const at::Tensor before = copies[4].value.detach().clone();
  restored.Step(0.01, 1);  // finds rows without moments
  copies[4].value.copy_(before);
  restored.set_steps(trained.steps());
  const auto from = trained.State(), to = restored.State();
  for (size_t s = 0; s < from.size(); ++s)
    const_cast<at::Tensor&>(to[s].value).copy_(from[s].value);
  trained.Step(0.01, 1);
  restored.Step(0.01, 1);
  EXPECT_TRUE(Same(copies[4].value, parameters_[4].value.detach()));
}

TEST_P(EveryOptimizer, RefusesOtherTypes) {
  EXPECT_THROW(Optimizer(info(), {{.name = "d", .value = at::empty({2}, at::kDouble)}}, form()),
               std::invalid_argument);
  EXPECT_THROW(Optimizer(info(), {{.name = "t", .value = at::empty({2, 3}).t()}}, form()),
               std::invalid_argument);
}

TEST_P(EveryOptimizer, RefusesParametersOnTwoDevices) {
  EXPECT_THROW(
      Optimizer(info(),
                {{.name = "a", .value = at::empty({2})},
                 {.name = "b", .value = at::empty({2}, at::TensorOptions().device(at::kMeta))}},
                form()),
      std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryOptimizer,
                         testing::Combine(testing::ValuesIn(Optimizers().begin(),
                                                            Optimizers().end()),
                                          testing::Values(RuleForm::kHost, RuleForm::kDevice)),
                         [](const auto& test) {
                           return fmt::format(
                               "{}{}", std::get<0>(test.param)->name,
                               std::get<1>(test.param) == RuleForm::kHost ? "" : "_on_a_device");
                         });

}  // namespace
}  // namespace tandem::optim

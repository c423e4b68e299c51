// AdamW against the page's formula in double precision, written out for one weight.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/random.h"
#include "config/recipe_fields.h"
#include "optim/catalogue.h"

namespace tandem::optim {
namespace {

constexpr OptimizerOptions kOptions{
    .weight_decay = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6};

struct Weight {  // one weight in double precision
  double value = 0, first = 0, second = 0;
  void Step(double gradient, double rate, double decay, int t) {
    first = kOptions.beta1 * first + (1 - kOptions.beta1) * gradient;
    second = kOptions.beta2 * second + (1 - kOptions.beta2) * gradient * gradient;
    const double m = first / (1 - std::pow(kOptions.beta1, t));
    const double v = second / (1 - std::pow(kOptions.beta2, t));
    value -= rate * decay * value;
    value -= rate * m / (std::sqrt(v) + kOptions.epsilon);
  }
};

// Sizes below, at and above the piece that a thread takes.
class AdamW : public testing::Test {
 protected:
  AdamW() {
    for (const int64_t size : {1, 7, 16384, 40001}) {
      at::Tensor value = at::empty({size}, at::kFloat);
      Fill(value, 1);
      value.set_requires_grad(true);
      parameters_.push_back(
          {.name = fmt::format("p{}", size), .value = value, .decay = size != 7});
    }
  }
  void Fill(const at::Tensor& tensor, double scale) {
    auto* values = static_cast<float*>(tensor.data_ptr());
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      values[i] = static_cast<float>(scale * (stream_.Uniform() - 0.5));
    }
  }
  void NewGradients() {
    for (auto& parameter : parameters_) {
      at::Tensor gradient = at::empty({parameter.value.numel()}, at::kFloat);
      Fill(gradient, 2);
      parameter.value.mutable_grad() = gradient;
    }
  }
  static const float* Values(const at::Tensor& tensor) {
    return static_cast<const float*>(tensor.data_ptr());
  }

  RandomStream stream_{{1, "test"}};
  std::vector<model::NamedParameter> parameters_;
};

TEST_F(AdamW, EqualsTheFormulaInDouble) {
  const auto optimizer = kAdamW.make(parameters_, kOptions);
  std::vector<std::vector<Weight>> weights;
  for (const auto& parameter : parameters_) {
    weights.emplace_back();
    for (int64_t i = 0; i < parameter.value.numel(); ++i) {
      weights.back().push_back({.value = Values(parameter.value)[i]});
    }
  }
  for (int t = 1; t <= 20; ++t) {
    NewGradients();
    const double rate = 1e-2 / t, scale = t % 3 == 0 ? 0.25 : 1;
    for (size_t p = 0; p < weights.size(); ++p) {
      const double decay = parameters_[p].decay ? kOptions.weight_decay : 0;
      for (size_t i = 0; i < weights[p].size(); ++i) {
        weights[p][i].Step(scale * Values(parameters_[p].value.grad())[i], rate, decay, t);
      }
    }
    optimizer->Step(rate, scale);
  }
  double worst = 0;
  for (size_t p = 0; p < weights.size(); ++p) {
    for (size_t i = 0; i < weights[p].size(); ++i) {
      worst = std::max(worst, std::abs(weights[p][i].value - Values(parameters_[p].value)[i]));
    }
  }
  // 20 updates of at most 1e-2 with float's 6e-8, and weights below 1 that round at each of them.
  EXPECT_LT(worst, 1e-6);
  EXPECT_EQ(optimizer->steps(), 20);
}

TEST_F(AdamW, AParameterWithoutGradientStays) {
  const auto optimizer = kAdamW.make(parameters_, kOptions);
  NewGradients();
  parameters_[3].value.mutable_grad() = at::Tensor();
  const float before = Values(parameters_[3].value)[5], moved = Values(parameters_[2].value)[5];
  optimizer->Step(0.1, 1);
  EXPECT_EQ(Values(parameters_[3].value)[5], before);
  EXPECT_NE(Values(parameters_[2].value)[5], moved);
}

TEST_F(AdamW, TellsLibtorchThatParametersChanged) {
  const auto optimizer = kAdamW.make(parameters_, kOptions);
  const auto version = parameters_[0].value._version();
  NewGradients();
  optimizer->Step(0.1, 1);
  EXPECT_GT(parameters_[0].value._version(), version);
}

TEST_F(AdamW, RestoredContinuesBitForBitOnAnyNumberOfThreads) {
  const auto optimizer = kAdamW.make(parameters_, kOptions);
  std::vector<model::NamedParameter> copies;
  for (int t = 0; t < 3; ++t) {
    NewGradients();
    optimizer->Step(0.01, 1);
  }
  for (const auto& parameter : parameters_) {
    copies.push_back({parameter.name, parameter.value.detach().clone(), parameter.decay});
  }
  const auto restored = kAdamW.make(copies, kOptions);
  restored->set_steps(optimizer->steps());
  const auto from = optimizer->State(), to = restored->State();
  ASSERT_EQ(from.size(), 2 * parameters_.size());
  for (size_t s = 0; s < from.size(); ++s) {
    ASSERT_EQ(from[s].name, to[s].name);
    const_cast<at::Tensor&>(to[s].value).copy_(from[s].value);
  }
  NewGradients();
  for (size_t p = 0; p < copies.size(); ++p) {
    copies[p].value.mutable_grad() = parameters_[p].value.grad().clone();
  }
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  optimizer->Step(0.01, 0.5);
  at::set_num_threads(3);
  restored->Step(0.01, 0.5);
  at::set_num_threads(threads);
  for (size_t p = 0; p < copies.size(); ++p) {
    EXPECT_TRUE(copies[p].value.equal(parameters_[p].value.detach())) << p;
  }
}

TEST_F(AdamW, RefusesOtherTypes) {
  EXPECT_THROW(kAdamW.make({{.name = "d", .value = at::empty({2}, at::kDouble)}}, {}),
               std::invalid_argument);
}

TEST(OptimizerCatalogue, IsWhatRecipesOffer) {
  ASSERT_EQ(Optimizers().size(), std::size(config::kOptimizers));
  for (size_t i = 0; i < Optimizers().size(); ++i) {
    EXPECT_EQ(Optimizers()[i]->name, config::kOptimizers[i].name);
  }
}

}  // namespace
}  // namespace tandem::optim

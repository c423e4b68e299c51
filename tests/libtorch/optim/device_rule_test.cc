// The forms of optimizers for a device, on the device of tests, against the host's.
#include "optim/device_rule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/catalogue_half.h"
#include "libtorch/optim/use_optimizer_forms.h"
#include "optim/optimizer.h"
#include "optim/row_gradients.h"
#include "support/tensors.h"
#include "support/test_device.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/tensor.h"

namespace tandem::optim {
namespace {

using Parameters = std::vector<model::NamedParameter>;

// Shapes of which some are there several times, as in a model of equal layers.
Parameters SomeParameters() {
  Parameters parameters;
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {}, {7}, {40001}, {500, 70}, {30, 20}, {7}, {30, 20}, {3, 4, 5}, {0, 4}, {30, 20}}) {
    const auto index = parameters.size();
    parameters.push_back({.name = fmt::format("p{}", index),
                          .value = RandomTensor(shape, index).set_requires_grad(true),
                          .decay = index != 4 && shape.size() > 1});
  }
  return parameters;
}

// On the device of tests.
Parameters CopyOf(const Parameters& parameters) {
  Parameters copies;
  for (const auto& [name, value, decay] : parameters) {
    const tensor::Tensor copy = OnTestDevice(value.detach().clone());
    copies.push_back({name, copy.set_requires_grad(true), decay});
  }
  return copies;
}

tensor::SparseRows OnDeviceOf(const tensor::Tensor& leaf, const tensor::SparseRows& rows) {
  return {tensor::MovedTo(rows.rows, leaf.device()), tensor::MovedTo(rows.values, leaf.device())};
}

// Gives parameters of a and of b, which may be on two devices, the same gradients. Parameter 3 is a
// table of which most steps read some rows; parameter 6 has no gradient in one.
void GiveGradients(int64_t step, Parameters& a, Parameters& b) {
  for (size_t p = 0; p < a.size(); ++p) {
    a[p].value.set_grad(tensor::Tensor());
    b[p].value.set_grad(tensor::Tensor());
    if (p == 6 && step == 3) continue;
    const tensor::Tensor gradient =
        RandomTensor(a[p].value.sizes(), 100 * static_cast<uint64_t>(step) + p);
    if (p == 5) gradient.mul_(1e-3);
    if (p == 3 && step % 4 != 0) {
      for (int64_t row = 0; row < gradient.size(0); ++row) {
        if ((row + step) % 3 != 0) gradient[row].zero_();
      }
      const tensor::SparseRows rows = RowsThatAreNotZero(gradient);
      GiveRows(a[p].value, OnDeviceOf(a[p].value, rows));
      GiveRows(b[p].value, OnDeviceOf(b[p].value, rows));
    } else {
      a[p].value.set_grad(tensor::MovedTo(gradient.clone(), a[p].value.device()));
      b[p].value.set_grad(tensor::MovedTo(gradient.clone(), b[p].value.device()));
    }
  }
}

void ExpectNear(const tensor::Tensor& device, const tensor::Tensor& host, const std::string& what) {
  ASSERT_EQ(device.sizes(), host.sizes()) << what;
  EXPECT_TRUE(AreClose(device, host, 1e-5, 1e-6))
      << what << " differs by " << LargestDifference(device, host);
}

class EveryDeviceForm : public testing::TestWithParam<const OptimizerInfo*> {
 protected:
  static const DeviceForm& form() {
    return *config::FindHalf(libtorch::OptimizerForms(), *GetParam());
  }
  // Parameter `name` of this optimizer as `value`; false where it has none of that name.
  static bool Set(config::Params& params, const char* name, double value) {
    const auto infos = GetParam()->params;
    const bool there = std::any_of(infos.begin(), infos.end(),
                                   [name](const auto& info) { return info.name == name; });
    if (there) params.Set(name, value);
    return there;
  }
};

TEST_P(EveryDeviceForm, MovesWeightsAndStateAsTheHostDoes) {
  config::Params params(GetParam()->params);
  Set(params, "weight_decay", 0.1);
  Parameters on_host = SomeParameters(), on_device = CopyOf(on_host);
  Optimizer host(*GetParam(), on_host, params, RuleForm::kHost);
  Optimizer device(*GetParam(), on_device, params, RuleForm::kDevice);
  for (int64_t step = 1; step <= 9; ++step) {
    GiveGradients(step, on_host, on_device);
    const double scale = step % 2 == 0 ? 1 : 0.37, rate = 0.01 * static_cast<double>(step);
    host.Step(rate, scale);
    device.Step(rate, scale);
    for (size_t p = 0; p < on_host.size(); ++p) {
      ExpectNear(on_device[p].value.detach(), on_host[p].value.detach(),
                 fmt::format("p{} at step {}", p, step));
    }
  }
  const auto of_host = host.State(), of_device = device.State();
  ASSERT_EQ(of_device.size(), of_host.size());
  for (size_t s = 0; s < of_host.size(); ++s) {
    EXPECT_EQ(of_device[s].name, of_host[s].name);
    ExpectNear(of_device[s].value, of_host[s].value, of_host[s].name);
  }
}

// A checkpoint of one goes on with the other.
TEST_P(EveryDeviceForm, GoesOnFromTheStateOfTheHost) {
  Parameters on_host = SomeParameters(), on_device = CopyOf(on_host);
  Optimizer host(*GetParam(), on_host, RuleForm::kHost);
  Optimizer device(*GetParam(), on_device, RuleForm::kDevice);
  for (int64_t step = 1; step <= 3; ++step) {
    GiveGradients(step, on_host, on_device);
    host.Step(0.01, 1);
  }
  const auto from = host.State(), to = device.State();
  for (size_t s = 0; s < from.size(); ++s) {
    to[s].value.copy_(from[s].value);
  }
  for (size_t p = 0; p < on_host.size(); ++p) on_device[p].value.detach().copy_(on_host[p].value);
  device.set_steps(host.steps());
  GiveGradients(4, on_host, on_device);
  host.Step(0.01, 1);
  device.Step(0.01, 1);
  for (size_t p = 0; p < on_host.size(); ++p) {
    ExpectNear(on_device[p].value.detach(), on_host[p].value.detach(), fmt::format("p{}", p));
  }
}

// Lists and stacks are cut where they would need too much memory.
TEST_P(EveryDeviceForm, DoesNotDependOnHowListsAreCut) {
  const config::Params params(GetParam()->params);
  Parameters whole = CopyOf(SomeParameters()), cut = CopyOf(whole);
  const auto of_whole = form().make(whole, params, {});
  const auto of_cut = form().make(cut, params, {.list_elements = 1000});
  for (int64_t step = 1; step <= 4; ++step) {
    GiveGradients(step, whole, cut);
    std::vector<GradientTensors> a, b;
    for (size_t p = 0; p < whole.size(); ++p) {
      a.push_back(optim::GradientOf(whole[p].value));
      b.push_back(optim::GradientOf(cut[p].value));
    }
    of_whole->Step({.step = step, .learning_rate = 0.01, .gradient_scale = 0.5}, a);
    of_cut->Step({.step = step, .learning_rate = 0.01, .gradient_scale = 0.5}, b);
    for (size_t p = 0; p < whole.size(); ++p) {
      ExpectNear(cut[p].value.detach(), whole[p].value.detach(), fmt::format("p{}", p));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryDeviceForm,
                         testing::ValuesIn(Optimizers().begin(), Optimizers().end()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace tandem::optim

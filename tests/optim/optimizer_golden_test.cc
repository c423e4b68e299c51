// Every optimizer against torch's and transformers' in double precision: numbers made by
// tools/golden/make_optimizer_golden.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "config/catalogue.h"
#include "optim/catalogue.h"
#include "optim/random_parameters.h"

namespace tandem::optim {
namespace {

// The formulas of the script.
float Number(size_t parameter, size_t index, size_t step, double scale) {
  const auto mixed =
      static_cast<double>((7919 * (parameter + 1) + 104729 * index + 1299709 * step) % 2003);
  return static_cast<float>(scale * (mixed / 1001.5 - 1.0));
}

float Gradient(const std::string& name, size_t parameter, size_t index, size_t step) {
  if (name == "matrix" && step < 4 && index / 7 == 3) return 0;
  return Number(parameter, index, step, std::pow(2.0, -static_cast<double>(step)));
}

struct Case {
  explicit Case(const nlohmann::ordered_json& golden) {
    size_t p = 0;
    for (const auto& [name, shape] : golden["shapes"].items()) {
      names.push_back(name);
      const auto sizes = shape.get<std::vector<int64_t>>();
      values.emplace_back();
      for (int64_t i = 0; i < ElementsOf(sizes); ++i) values[p].push_back(Number(p, i, 0, 0.5));
      gradients.emplace_back(values[p].size());
      views.push_back({name, sizes, values[p].data(), name != "plain"});
      ++p;
    }
  }
  std::vector<GradientView> Gradients(size_t step) {
    std::vector<GradientView> views_of;
    for (size_t p = 0; p < gradients.size(); ++p) {
      for (size_t i = 0; i < gradients[p].size(); ++i) {
        gradients[p][i] = Gradient(names[p], p, i, step);
      }
      views_of.push_back({gradients[p].data()});
    }
    return views_of;
  }

  std::vector<std::string> names;
  std::deque<std::vector<float>> values;
  std::vector<std::vector<float>> gradients;
  std::vector<ParameterView> views;
};

config::Params ParamsOf(const OptimizerInfo& info, const nlohmann::ordered_json& given) {
  config::Params params(info.params);
  for (const auto& [name, value] : given.items()) {
    const std::string problem = value.is_boolean() ? params.Set(name, value.get<bool>())
                                                   : params.Set(name, value.get<double>());
    EXPECT_EQ(problem, "") << name;
  }
  return params;
}

TEST(OptimizerGolden, EveryOneComputesWhatItsModelDoes) {
  const auto golden = nlohmann::ordered_json::parse(
      ReadFile(std::string(TANDEM_SOURCE_DIR) + "/tests/optim/golden/optimizers.json"));
  std::set<std::string_view> seen;
  for (const auto& one : golden["cases"]) {
    const OptimizerInfo* info = config::FindEntry(Optimizers(), one["name"].get<std::string>());
    ASSERT_NE(info, nullptr) << one["name"];
    seen.insert(info->name);
    Case state(golden);
    const auto rule = info->make(state.views, ParamsOf(*info, one["parameters"]));
    for (int64_t step = 1; step <= golden["steps"].get<int64_t>(); ++step) {
      rule->Step({.step = step, .learning_rate = 0.01 * static_cast<double>(step)},
                 state.Gradients(static_cast<size_t>(step)), InOrder);
    }
    for (size_t p = 0; p < state.names.size(); ++p) {
      const auto want = one["weights"][state.names[p]].get<std::vector<double>>();
      ASSERT_EQ(want.size(), state.values[p].size());
      for (size_t i = 0; i < want.size(); ++i) {
        // Weights below 1, six updates: float32's rounding.
        ASSERT_NEAR(state.values[p][i], want[i], 5e-7)
            << one["name"] << one["parameters"] << state.names[p] << i;
      }
    }
  }
  EXPECT_EQ(seen.size(), Optimizers().size()) << "an optimizer has no golden case";
}

}  // namespace
}  // namespace tandem::optim

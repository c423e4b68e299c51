// Adam's rule against the formula in double precision, written out for one weight.
#include "optim/moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "optim/random_parameters.h"
#include "support/resident_memory.h"

namespace tandem::optim {
namespace {

constexpr MomentOptions kOptions{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1};

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

TEST(Moments, EqualTheFormulaInDouble) {
  // Sizes below, at and above the piece that a thread takes.
  RandomParameters parameters({{1}, {7}, {16384}, {3, 13337}});
  const auto rule = MakeMomentRule(parameters.views, kOptions);
  std::vector<std::vector<Weight>> weights;
  for (const auto& values : parameters.values) {
    weights.emplace_back();
    for (const float value : values) weights.back().push_back({.value = value});
  }
  for (int t = 1; t <= 20; ++t) {
    parameters.NewGradients();
    const double rate = 1e-2 / t, scale = t % 3 == 0 ? 0.25 : 1;
    for (size_t p = 0; p < weights.size(); ++p) {
      const double decay = parameters.views[p].decay ? kOptions.weight_decay : 0;
      for (size_t i = 0; i < weights[p].size(); ++i) {
        weights[p][i].Step(scale * parameters.gradients[p][i], rate, decay, t);
      }
    }
    rule->Step({.step = t, .learning_rate = rate, .gradient_scale = scale},
               parameters.GradientViews(), InOrder);
  }
  double worst = 0;
  for (size_t p = 0; p < weights.size(); ++p) {
    for (size_t i = 0; i < weights[p].size(); ++i) {
      worst = std::max(worst, std::abs(weights[p][i].value - parameters.values[p][i]));
    }
  }
  // 20 updates of at most 1e-2 with float's 6e-8, and weights below 1 that round at each of them.
  EXPECT_LT(worst, 1e-6);
}

// With a large vocabulary, moments take memory only for the rows that some text has used.
TEST(Moments, OfRowsWithoutAGradientTakeNoMemory) {
  constexpr int64_t kRows = int64_t{1} << 18, kWidth = 256;  // 256 MiB for each moment
  std::vector<float> values(kRows * kWidth, 1.0F);
  const ParameterView table{"table", {kRows, kWidth}, values.data(), true};
  const size_t before = ResidentBytes();
  const auto rule = MakeMomentRule({table}, kOptions);
  const std::vector<int64_t> rows = {3, 70000, kRows - 1};
  const std::vector<float> gradients(rows.size() * kWidth, 0.5F);
  for (int t = 1; t <= 3; ++t) {
    rule->Step({.step = t, .learning_rate = 0.01},
               std::vector<GradientView>{{gradients.data(), rows}}, InOrder);
  }
  EXPECT_LT(ResidentBytes(), before + (size_t{64} << 20));
  const auto decayed = static_cast<float>(std::pow(1 - 0.01 * kOptions.weight_decay, 3));
  EXPECT_NEAR(values[0], decayed, 1e-6);
  EXPECT_LT(values[3 * kWidth], 0.99F * decayed);
}

}  // namespace
}  // namespace tandem::optim

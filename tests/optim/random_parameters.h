// Parameters and gradients for tests of rules, as plain arrays.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "optim/rule.h"

namespace tandem::optim {

inline void InOrder(int64_t count, const std::function<void(int64_t)>& body) {
  for (int64_t i = 0; i < count; ++i) body(i);
}

struct RandomParameters {
  explicit RandomParameters(const std::vector<std::vector<int64_t>>& shapes) {
    for (const auto& shape : shapes) {
      values.emplace_back(ElementsOf(shape));
      Fill(values.back(), 1);
      views.push_back({.name = "p" + std::to_string(views.size()),
                       .shape = shape,
                       .values = values.back().data(),
                       .decay = views.size() != 1});
    }
    gradients.resize(shapes.size());
  }
  void Fill(std::vector<float>& array, double scale) {
    for (float& value : array) value = static_cast<float>(scale * (stream.Uniform() - 0.5));
  }
  void NewGradients() {
    for (size_t p = 0; p < values.size(); ++p) {
      gradients[p].resize(values[p].size());
      Fill(gradients[p], 2);
    }
  }
  std::vector<GradientView> GradientViews() const {
    std::vector<GradientView> all;
    for (const auto& gradient : gradients) all.push_back({gradient.data()});
    return all;
  }

  RandomStream stream{{1, "test"}};
  std::deque<std::vector<float>> values;
  std::vector<std::vector<float>> gradients;
  std::vector<ParameterView> views;
};

}  // namespace tandem::optim

// Adafactor on parameters of many pieces against the paper's algorithms in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "optim/catalogue.h"
#include "optim/random_parameters.h"

namespace tandem::optim {
namespace {

constexpr double kDecay = 0.1, kClip = 0.7, kExponent = 0.6, kEpsilon = 1e-30, kScaleEpsilon = 1e-3;

double RootMeanSquare(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// One parameter in double precision; a vector has one row, and keeps all of its second moment.
struct Plain {
  Plain(const ParameterView& view, const std::vector<float>& start)
      : vector(view.shape.size() < 2),
        decay(view.decay ? kDecay : 0),
        columns(view.shape.back()),
        rows(static_cast<int64_t>(start.size()) / columns),
        values(start.begin(), start.end()),
        row_means(rows),
        column_means(columns) {}

  void Step(const std::vector<double>& gradient, double rate, int t) {
    const double beta = 1 - std::pow(t, -kExponent);
    for (double& mean : row_means) mean *= beta;
    for (double& mean : column_means) mean *= beta;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const double square = (1 - beta) * (gradient[i] * gradient[i] + kEpsilon);
      row_means[i / columns] += square / static_cast<double>(columns);
      column_means[i % columns] += square / static_cast<double>(rows);
    }
    double mean = 0;
    for (const double row : row_means) mean += row / static_cast<double>(rows);
    std::vector<double> update = gradient;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const double second =
          vector ? column_means[i] : row_means[i / columns] * column_means[i % columns] / mean;
      update[i] /= std::sqrt(second);
    }
    rate *= std::max(kScaleEpsilon, RootMeanSquare(values));
    const double clip = std::max(1.0, RootMeanSquare(update) / kClip);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] -= rate * decay * values[i];
      values[i] -= rate * update[i] / clip;
    }
  }

  bool vector;
  double decay;
  int64_t columns, rows;
  std::vector<double> values, row_means, column_means;
};

TEST(Adafactor, EqualsTheAlgorithmInDouble) {
  RandomParameters parameters({{700, 50}, {40001}, {3, 20000}, {1, 5}, {90, 1}});
  config::Params params(kAdafactor.params);
  params.Set("weight_decay", kDecay);
  params.Set("clip_threshold", kClip);
  params.Set("decay_exponent", kExponent);
  const auto rule = kAdafactor.make(parameters.views, params);
  std::vector<Plain> plain;
  for (size_t p = 0; p < parameters.views.size(); ++p) {
    plain.emplace_back(parameters.views[p], parameters.values[p]);
  }
  for (int t = 1; t <= 5; ++t) {
    parameters.NewGradients();
    const double rate = 0.1 / t, scale = t % 2 == 0 ? 0.25 : 1;
    for (size_t p = 0; p < plain.size(); ++p) {
      std::vector<double> gradient;
      for (const float g : parameters.gradients[p]) gradient.push_back(scale * g);
      plain[p].Step(gradient, rate, t);
    }
    rule->Step({.step = t, .learning_rate = rate, .gradient_scale = scale},
               parameters.GradientViews(), InOrder);
  }
  for (size_t p = 0; p < plain.size(); ++p) {
    double worst = 0;
    for (size_t i = 0; i < plain[p].values.size(); ++i) {
      worst = std::max(worst, std::abs(plain[p].values[i] - parameters.values[p][i]));
    }
    // Float rounding: weights below 1 round at each of five updates, and the updates, which are
    // below 0.1, have rounding of their own.
    EXPECT_LT(worst, 1e-6) << p;
  }
}

TEST(Adafactor, KeepsRowsAndColumnsOfAMatrixOnly) {
  RandomParameters parameters({{70, 50}, {30}, {2, 3, 4}, {}});
  const auto rule = kAdafactor.make(parameters.views, config::Params(kAdafactor.params));
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;
  for (const StateArray& array : rule->State()) {
    names.push_back(array.name);
    shapes.push_back(array.shape);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"second_moment_rows/p0", "second_moment_columns/p0",
                                             "second_moment/p1", "second_moment_rows/p2",
                                             "second_moment_columns/p2", "second_moment/p3"}));
  EXPECT_EQ(shapes, (std::vector<std::vector<int64_t>>{{70}, {50}, {30}, {2, 3}, {2, 4}, {}}));
}

// Rows that no text has used have a second moment of nearly 0 and a gradient of 0.
TEST(Adafactor, AGradientOfZeroMovesNothing) {
  RandomParameters parameters({{40, 8}, {9}});
  const auto before = parameters.values;
  const auto rule = kAdafactor.make(parameters.views, config::Params(kAdafactor.params));
  parameters.NewGradients();
  for (auto& gradient : parameters.gradients) std::fill(gradient.begin(), gradient.end(), 0.0f);
  for (int t = 1; t <= 3; ++t) {
    rule->Step({.step = t, .learning_rate = 0.1}, parameters.GradientViews(), InOrder);
  }
  EXPECT_EQ(parameters.values, before);
}

}  // namespace
}  // namespace tandem::optim

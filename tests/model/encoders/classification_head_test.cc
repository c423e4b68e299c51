// What the heads of cross-encoders compute with each activation.
#include "model/encoders/classification_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/tensors.h"
#include "tensor/core/tensor.h"

namespace tandem::model {
namespace {

constexpr double kPi = 3.14159265358979323846;

// A head whose maps copy: what is left is the activation.
ClassificationHead CopyingHead(const std::string& activation) {
  weights::ClassificationSpec spec;
  spec.activation = activation;
  spec.dense.names = {"dense"};
  spec.classifier.names = {"classifier"};
  return {spec, [](std::string_view) {
            return MakeTensor({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
                              tensor::kDouble);
          }};
}

TEST(ClassificationHead, Activations) {
  const std::vector<std::pair<std::string, std::function<double(double)>>> activations = {
      {"tanh", [](double x) { return std::tanh(x); }},
      {"relu", [](double x) { return x > 0 ? x : 0; }},
      {"gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"gelu_tanh",
       [](double x) {
         return x / 2 * (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
       }},
      {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
  };
  const std::vector<double> values = {-2.5, -0.75, 0.5, 2};
  const std::vector<int32_t> id = {1};
  const tensor::PackedTokens one = tensor::Pack(std::vector<std::span<const int32_t>>{id});
  for (const auto& [name, activate] : activations) {
    const tensor::Tensor logits =
        CopyingHead(name).Forward(MakeTensor({1, 4}, values, tensor::kDouble), one);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(logits[0][static_cast<int64_t>(i)].item<double>(), activate(values[i]), 1e-6)
          << name << " " << values[i];
    }
  }
  EXPECT_THROW(CopyingHead("swish"), std::logic_error);
}

}  // namespace
}  // namespace tandem::model

#include "model/encoders/classification_head.h"

#include <stdexcept>
#include <utility>

#include "model/encoders/head.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/activations.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"
#include "tensor/ops.h"

namespace tandem::model {
namespace {

using ActivationFunction = tensor::Tensor (*)(const tensor::Tensor&);

constexpr std::pair<std::string_view, ActivationFunction> kActivations[] = {
    {"tanh", [](const tensor::Tensor& x) { return tensor::Tanh(x); }},
    {"relu", [](const tensor::Tensor& x) { return tensor::Relu(x); }},
    {"gelu", [](const tensor::Tensor& x) { return tensor::Gelu(x); }},
    {"gelu_tanh", [](const tensor::Tensor& x) { return tensor::GeluTanh(x); }},
    {"silu", [](const tensor::Tensor& x) { return tensor::Silu(x); }},
};

ActivationFunction ActivationOf(std::string_view name) {
  for (const auto& [known, activate] : kActivations) {
    if (known == name) return activate;
  }
  throw std::logic_error("a classification head with an unknown activation");
}

tensor::Tensor BiasOf(const weights::LinearSpec& linear, const TensorSource& tensors) {
  return linear.bias ? tensors(linear.names.front() + ".bias") : tensor::Tensor();
}

}  // namespace

ClassificationHead::ClassificationHead(const weights::ClassificationSpec& spec,
                                       const TensorSource& tensors)
    : mean_(spec.mean),
      dense_weight_(tensors(spec.dense.names.front() + ".weight")),
      dense_bias_(BiasOf(spec.dense, tensors)),
      activate_(ActivationOf(spec.activation)),
      norm_epsilon_(spec.norm_epsilon),
      classifier_weight_(tensors(spec.classifier.names.front() + ".weight")),
      classifier_bias_(BiasOf(spec.classifier, tensors)) {
  if (spec.norm.name.empty()) return;
  norm_weight_ = tensors(spec.norm.name + ".weight");
  if (spec.norm.bias) norm_bias_ = tensors(spec.norm.name + ".bias");
}

void ClassificationHead::To(tensor::Device device) {
  for (tensor::Tensor* tensor : {&dense_weight_, &dense_bias_, &norm_weight_, &norm_bias_,
                                 &classifier_weight_, &classifier_bias_}) {
    *tensor = tensor::MovedTo(*tensor, device);
  }
}

tensor::Tensor ClassificationHead::Forward(const tensor::Tensor& hidden,
                                           const tensor::PackedTokens& texts) const {
  tensor::Tensor x =
      tensor::Pool(hidden, texts, mean_ ? tensor::Pooling::kMean : tensor::Pooling::kCls);
  x = activate_(Mapped(x, dense_weight_, dense_bias_));
  if (norm_weight_.defined()) {
    x = tensor::LayerNormRows(x, norm_weight_, norm_bias_, norm_epsilon_);
  }
  return Mapped(x, classifier_weight_, classifier_bias_);
}

}  // namespace tandem::model

#include "model/encoders/classification_head.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>

#include <stdexcept>
#include <utility>

#include "tensor/ops.h"

namespace tandem::model {
namespace {

using ActivationFunction = at::Tensor (*)(const at::Tensor&);

constexpr std::pair<std::string_view, ActivationFunction> kActivations[] = {
    {"tanh", [](const at::Tensor& x) { return at::tanh(x); }},
    {"relu", [](const at::Tensor& x) { return at::relu(x); }},
    {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
    {"gelu_tanh", [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
    {"silu", [](const at::Tensor& x) { return at::silu(x); }},
};

ActivationFunction ActivationOf(std::string_view name) {
  for (const auto& [known, activate] : kActivations) {
    if (known == name) return activate;
  }
  throw std::logic_error("a classification head with an unknown activation");
}

at::Tensor BiasOf(const weights::LinearSpec& linear, const TensorSource& tensors) {
  return linear.bias ? tensors(linear.names.front() + ".bias") : at::Tensor();
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

void ClassificationHead::To(at::Device device) {
  for (at::Tensor* tensor : {&dense_weight_, &dense_bias_, &norm_weight_, &norm_bias_,
                             &classifier_weight_, &classifier_bias_}) {
    if (tensor->defined()) *tensor = tensor->to(device);
  }
}

at::Tensor ClassificationHead::Forward(const at::Tensor& hidden,
                                       const tensor::PackedTokens& texts) const {
  at::Tensor x =
      tensor::Pool(hidden, texts, mean_ ? tensor::Pooling::kMean : tensor::Pooling::kCls);
  x = activate_(at::linear(x, dense_weight_, dense_bias_));
  if (norm_weight_.defined()) {
    x = at::layer_norm(x, {x.size(1)}, norm_weight_, norm_bias_, norm_epsilon_);
  }
  return at::linear(x, classifier_weight_, classifier_bias_);
}

}  // namespace tandem::model

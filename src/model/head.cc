#include "model/head.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>

#include <string>

namespace tandem::model {
namespace {

at::Tensor Activate(const at::Tensor& x, weights::Activation activation) {
  switch (activation) {
    case weights::Activation::kIdentity:
      return x;
    case weights::Activation::kTanh:
      return at::tanh(x);
    case weights::Activation::kRelu:
      return at::relu(x);
    case weights::Activation::kGelu:
      return at::gelu(x);
    case weights::Activation::kSigmoid:
      return at::sigmoid(x);
  }
  return x;
}

DenseModule MakeDense(const weights::Dense& dense, std::vector<NamedParameter>* parameters) {
  DenseModule module;
  module.activation = dense.activation;
  module.weight = ParameterFrom(*dense.weights->Find("linear.weight"));
  parameters->push_back({dense.folder + "/linear.weight", module.weight, true});
  if (dense.bias) {
    module.bias = ParameterFrom(*dense.weights->Find("linear.bias"));
    parameters->push_back({dense.folder + "/linear.bias", module.bias, false});
  }
  return module;
}

struct Apply {
  const tensor::PackedTokens& tokens;
  at::Tensor x;

  void operator()(tensor::Pooling pooling) { x = tensor::Pool(x, tokens, pooling); }
  void operator()(const DenseModule& dense) {
    x = Activate(at::linear(x, dense.weight, dense.bias), dense.activation);
  }
  void operator()(NormalizeModule) { x = tensor::NormalizeRows(x); }
};

}  // namespace

at::Tensor ParameterFrom(const weights::TensorView& view) {
  at::Tensor values = at::empty(view.shape, at::kFloat);
  weights::CopyAsFloat32(view, {values.data_ptr<float>(), static_cast<size_t>(values.numel())});
  return values.requires_grad_(true);
}

Head::Head(const std::vector<weights::HeadModule>& modules) {
  for (const weights::HeadModule& module : modules) {
    if (const auto* pooling = std::get_if<weights::Pooling>(&module)) {
      modules_.emplace_back(pooling->mode == weights::PoolingMode::kCls ? tensor::Pooling::kCls
                                                                        : tensor::Pooling::kMean);
    } else if (const auto* dense = std::get_if<weights::Dense>(&module)) {
      modules_.emplace_back(MakeDense(*dense, &parameters_));
    } else {
      modules_.emplace_back(NormalizeModule{});
    }
  }
}

at::Tensor Head::Forward(const at::Tensor& hidden, const tensor::PackedTokens& tokens) const {
  Apply apply{tokens, hidden};
  for (const Module& module : modules_) std::visit(apply, module);
  return apply.x;
}

}  // namespace tandem::model

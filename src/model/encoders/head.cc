#include "model/encoders/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/random.h"
#include "tensor/core/functions/activations.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::model {
namespace {

tensor::Tensor Activate(const tensor::Tensor& x, weights::Activation activation) {
  switch (activation) {
    case weights::Activation::kIdentity:
      return x;
    case weights::Activation::kTanh:
      return tensor::Tanh(x);
    case weights::Activation::kRelu:
      return tensor::Relu(x);
    case weights::Activation::kGelu:
      return tensor::Gelu(x);
    case weights::Activation::kSigmoid:
      return tensor::Sigmoid(x);
    case weights::Activation::kSilu:
      return tensor::Silu(x);
  }
  return x;
}

// Draws uniformly from +-1/sqrt(inputs), as libtorch starts a linear layer, so that embeddings keep
// about their length.
tensor::Tensor NewParameter(RandomStream& stream, const tensor::Shape& shape, int64_t inputs) {
  tensor::Tensor values = tensor::Empty(shape, tensor::kFloat);
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  auto* numbers = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    numbers[i] = static_cast<float>(bound * (2 * stream.Uniform() - 1));
  }
  return values.set_requires_grad(true);
}

DenseModule MakeDense(const weights::Dense& dense, uint64_t seed,
                      std::vector<NamedParameter>* parameters) {
  RandomStream stream({.seed = seed, .purpose = "projection"});
  const auto parameter = [&](const char* name, const tensor::Shape& shape) {
    const weights::TensorView* view = dense.Find(name);
    return view != nullptr ? ParameterFrom(*view) : NewParameter(stream, shape, dense.in_features);
  };
  DenseModule module;
  module.activation = dense.activation;
  module.weight = parameter("linear.weight", {dense.out_features, dense.in_features});
  parameters->push_back({dense.folder + "/linear.weight", module.weight, true});
  if (dense.bias) {
    module.bias = parameter("linear.bias", {dense.out_features});
    parameters->push_back({dense.folder + "/linear.bias", module.bias, false});
  }
  return module;
}

LayerNormModule MakeLayerNorm(const weights::LayerNorm& norm,
                              std::vector<NamedParameter>* parameters) {
  const auto parameter = [&](const char* name, double start) {
    const weights::TensorView* view = norm.Find(name);
    const tensor::Tensor value =
        view != nullptr
            ? ParameterFrom(*view)
            : tensor::Full({norm.dimension}, start, tensor::kFloat).set_requires_grad(true);
    parameters->push_back({fmt::format("{}/{}", norm.folder, name), value, false});
    return value;
  };
  LayerNormModule module;
  module.weight = parameter("norm.weight", 1);
  module.bias = parameter("norm.bias", 0);
  return module;
}

tensor::Pooling OperationOf(weights::PoolingMode mode) {
  using enum weights::PoolingMode;
  switch (mode) {
    case kCls:
      return tensor::Pooling::kCls;
    case kMax:
      return tensor::Pooling::kMax;
    case kMean:
      return tensor::Pooling::kMean;
    case kMeanSqrtLen:
      return tensor::Pooling::kMeanSqrtLen;
    case kWeightedMean:
      return tensor::Pooling::kWeightedMean;
    case kLastToken:
      return tensor::Pooling::kLastToken;
  }
  return tensor::Pooling::kMean;
}

PoolingModule MakePooling(const weights::Pooling& pooling) {
  PoolingModule module{.include_prompt = pooling.include_prompt};
  for (const weights::PoolingMode mode : pooling.modes) module.modes.push_back(OperationOf(mode));
  return module;
}

// Pooled rows [B, H] with zeros for texts without tokens, in place of their stand-in rows.
tensor::Tensor WithoutStandIns(const tensor::Tensor& rows, const tensor::Tensor& stand_ins) {
  if (!stand_ins.defined()) return rows;
  return tensor::ClearRows(rows, stand_ins.to(tensor::kBool));
}

// Float tensors on the CPU, or undefined ones.
bool Equal(const tensor::Tensor& a, const tensor::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  const auto *x = a.data_ptr<float>(), *y = b.data_ptr<float>();
  return a.sizes() == b.sizes() && std::equal(x, x + a.numel(), y);
}

bool Equal(const DenseModule& a, const DenseModule& b) {
  return a.activation == b.activation && Equal(a.weight, b.weight) && Equal(a.bias, b.bias);
}

struct Apply {
  const tensor::PackedTokens& tokens;
  tensor::Tensor x;

  void operator()(const PoolingModule& pooling) {
    tensor::PackedTokens pooled = tokens;
    if (pooling.include_prompt) pooled.prompt_tokens.reset();
    std::vector<tensor::Tensor> rows;
    for (const tensor::Pooling mode : pooling.modes) {
      rows.push_back(WithoutStandIns(tensor::Pool(x, pooled, mode), tokens.stand_ins));
    }
    x = rows.size() == 1 ? rows.front() : tensor::Cat(rows, 1);
  }
  void operator()(const DenseModule& dense) {
    x = Activate(Mapped(x, dense.weight, dense.bias), dense.activation);
  }
  void operator()(const LayerNormModule& norm) {
    x = tensor::LayerNormRows(x, norm.weight, norm.bias, weights::kLayerNormEpsilon);
  }
  void operator()(NormalizeModule) { x = tensor::NormalizeRows(x); }
};

}  // namespace

tensor::Tensor Mapped(const tensor::Tensor& x, const tensor::Tensor& weight,
                      const tensor::Tensor& bias) {
  const tensor::Tensor product = tensor::ProductTransposed(x, weight);
  return bias.defined() ? tensor::AddToRows(product, bias) : product;
}

tensor::Tensor ParameterFrom(const weights::TensorView& view) {
  tensor::Tensor values = tensor::Empty(view.shape, tensor::kFloat);
  weights::CopyAsFloat32(view, {values.data_ptr<float>(), static_cast<size_t>(values.numel())});
  return values.set_requires_grad(true);
}

Head::Head(const std::vector<weights::HeadModule>& modules, uint64_t seed) {
  for (const weights::HeadModule& module : modules) {
    Module made = NormalizeModule{};
    if (const auto* pooling = std::get_if<weights::Pooling>(&module)) {
      made = MakePooling(*pooling);
    } else if (const auto* dense = std::get_if<weights::Dense>(&module)) {
      made = MakeDense(*dense, seed, &parameters_);
    } else if (const auto* norm = std::get_if<weights::LayerNorm>(&module)) {
      made = MakeLayerNorm(*norm, &parameters_);
    }
    modules_.push_back(std::move(made));
  }
}

const DenseModule* Head::projection() const {
  const DenseModule* last = nullptr;
  for (const Module& module : modules_) {
    if (const auto* dense = std::get_if<DenseModule>(&module)) last = dense;
  }
  return last;
}

bool Head::ShareProjection(const Head& other) {
  DenseModule* mine = nullptr;
  for (Module& module : modules_) {
    if (auto* dense = std::get_if<DenseModule>(&module)) mine = dense;
  }
  const DenseModule* theirs = other.projection();
  if (mine == nullptr || theirs == nullptr || !Equal(*mine, *theirs)) return false;
  for (NamedParameter& parameter : parameters_) {
    if (parameter.value.is_same(mine->weight)) parameter.value = theirs->weight;
    if (mine->bias.defined() && parameter.value.is_same(mine->bias)) parameter.value = theirs->bias;
  }
  *mine = *theirs;
  return true;
}

tensor::Tensor Head::Forward(const tensor::Tensor& hidden,
                             const tensor::PackedTokens& tokens) const {
  Apply apply{tokens, hidden};
  for (const Module& module : modules_) std::visit(apply, module);
  return apply.x;
}

}  // namespace tandem::model

#include "libtorch/operations/portable_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "libtorch/graph.h"
#include "libtorch/operations/portable_types.h"
#include "libtorch/operations/row_step.h"
#include "tensor/profile/profile.h"

namespace tandem::libtorch::portable {

at::Tensor Activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kSilu:
      return at::silu(x);
  }
  throw std::logic_error("an activation without a name");
}

namespace {

// The sum of the tables' rows in `type`, [T, H].
at::Tensor EmbeddingSum(const at::Tensor& words, const Tokens& tokens, const Tables& tables,
                        at::ScalarType type) {
  at::Tensor sum = words.to(type);
  if (tables.position.defined()) {
    sum = sum + at::embedding(tables.position, tokens.positions + tables.position_offset).to(type);
  }
  if (tables.type.defined()) {
    const at::Tensor rows = tokens.types.defined() ? at::embedding(tables.type, tokens.types)
                                                   : tables.type.select(0, 0);
    sum = sum + rows.to(type);
  }
  return sum;
}

// Appends the gradients of `parts`, one below the other in `sum`: parts of it, undefined for those
// that want none.
void AppendParts(const at::Tensor& sum, const std::vector<at::Tensor>& parts,
                 std::vector<at::Tensor>* gradients) {
  int64_t first = 0;
  for (const at::Tensor& part : parts) {
    const bool wanted = sum.defined() && part.requires_grad();
    gradients->push_back(wanted ? sum.narrow(0, first, part.size(0)) : at::Tensor());
    first += part.size(0);
  }
}

bool WantGradient(const std::vector<at::Tensor>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const at::Tensor& part) { return part.requires_grad(); });
}

// The gradients of x, the weights and the biases of Product.
std::vector<at::Tensor> ProductBackward(const at::Tensor& x, const Linear& linear,
                                        const at::Tensor& grad) {
  const tensor::ProfileScope scope("Affine backward",
                                   linear.backward_work ? linear.backward_work(x) : tensor::Work());
  std::vector<at::Tensor> gradients = {at::matmul(grad, linear.weight)};
  at::Tensor weight_sum, bias_sum;
  if (WantGradient(linear.weights)) {
    weight_sum = at::matmul(grad.t(), x).to(linear.weights.front().scalar_type());
  }
  if (WantGradient(linear.biases)) {
    bias_sum = grad.sum({0}, false, WideType(grad)).to(linear.biases.front().scalar_type());
  }
  AppendParts(weight_sum, linear.weights, &gradients);
  AppendParts(bias_sum, linear.biases, &gradients);
  return gradients;
}

// The product with the map's own weights, without its adapter.
at::Tensor Product(const at::Tensor& x, const Linear& linear) {
  const at::Tensor out = at::linear(x.detach(), linear.weight, linear.bias);
  std::vector<at::Tensor> inputs = {x};
  inputs.insert(inputs.end(), linear.weights.begin(), linear.weights.end());
  inputs.insert(inputs.end(), linear.biases.begin(), linear.biases.end());
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("Affine", out, inputs, [x = x.detach(), linear](const at::Tensor& grad) {
    return ProductBackward(x, linear, grad);
  });
}

// x with dropout.
at::Tensor DropRows(const at::Tensor& x, const at::Tensor& row_keys, const Dropout& dropout) {
  if (!dropout.active()) return x;
  return Do({.x = x, .row_keys = row_keys, .dropout = dropout, .result = x.scalar_type()});
}

// scale (x A_i^T) B_i^T beside each other for the parts of a map with an adapter, [T, N]; 0 for
// parts without one.
at::Tensor LowRankProduct(const at::Tensor& x, const Linear& linear) {
  const Adapter& adapter = *linear.adapter;
  const at::ScalarType type = x.scalar_type();
  const at::Tensor read = DropRows(x, adapter.row_keys, adapter.dropout);
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < adapter.down.size(); ++i) {
    if (adapter.down[i].defined()) {
      const at::Tensor narrow = at::linear(read, adapter.down[i].to(type));
      parts.push_back(at::linear(narrow, adapter.up[i].to(type)) * adapter.scale);
    } else {
      parts.push_back(at::zeros({x.size(0), linear.weights[i].size(0)}, x.options()));
    }
  }
  return at::cat(parts, 1);
}

// The inner values of a feed-forward layer from the product of `up`.
at::Tensor InnerValues(const at::Tensor& product, Activation activation, bool gated) {
  if (!gated) return Activate(product, activation);
  const int64_t width = product.size(1) / 2;
  return Activate(product.narrow(1, 0, width), activation) * product.narrow(1, width, width);
}

// Wide rows [T, heads, width] turned by their positions' angles.
at::Tensor TurnedHeads(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const int64_t half = x.size(2) / 2;
  const at::Tensor first = x.narrow(2, 0, half), second = x.narrow(2, half, half);
  return at::cat({first * cosines - second * sines, second * cosines + first * sines}, 2);
}

}  // namespace

at::Tensor EmbeddingNorm(const at::Tensor& words, const Tokens& tokens, const Tables& tables,
                         const Norm& norm, const Dropout& dropout, at::ScalarType activation) {
  return Do({.x = EmbeddingSum(words, tokens, tables, WideType(activation)),
             .norm = norm,
             .row_keys = tokens.row_keys,
             .dropout = dropout,
             .dropped = DropsFrom::kResult,
             .result = activation});
}

at::Tensor Embed(const at::Tensor& words, const Tokens& tokens, const Tables& tables, double scale,
                 const Dropout& dropout, at::ScalarType activation) {
  const at::Tensor sum = EmbeddingSum(words, tokens, tables, WideType(activation));
  const at::Tensor scaled = scale == 1 ? sum : sum * scale;
  return DropRows(scaled, tokens.row_keys, dropout).to(activation);
}

at::Tensor Affine(const at::Tensor& x, const Linear& linear) {
  const at::Tensor out = Product(x, linear);
  return linear.adapter ? out + LowRankProduct(x, linear) : out;
}

at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const Norm& norm, const Tokens& tokens, const Dropout& dropout) {
  return Do({.x = Affine(x, linear),
             .residual = residual,
             .norm = norm,
             .row_keys = tokens.row_keys,
             .dropout = dropout,
             .result = x.scalar_type()});
}

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const Norm& norm, const Tokens& tokens,
                           const Dropout& dropout) {
  const at::Tensor inner = InnerValues(Affine(x, up), activation, /*gated=*/false);
  return AffineNorm(inner, x, down, norm, tokens, dropout);
}

at::Tensor Normalize(const at::Tensor& x, const Norm& norm, const Tokens& tokens,
                     const Dropout& dropout) {
  return Do({.x = x,
             .norm = norm,
             .row_keys = tokens.row_keys,
             .dropout = dropout,
             .dropped = DropsFrom::kResult,
             .result = x.scalar_type()});
}

at::Tensor NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear) {
  return Affine(norm.defined() ? Do({.x = x, .norm = norm, .result = x.scalar_type()}) : x, linear);
}

at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const Tokens& tokens, const Dropout& dropout) {
  RowStep step{.x = Affine(x, linear), .row_keys = tokens.row_keys, .dropout = dropout};
  if (!out_norm.defined()) {
    step.residual = residual;
    step.result = x.scalar_type();
    return Do(step);
  }
  step.norm = out_norm;
  step.dropped = DropsFrom::kResult;
  step.result = WideType(x);
  return (Wide(residual) + Do(step)).to(x.scalar_type());
}

at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const Tokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout) {
  const at::Tensor inner =
      InnerValues(NormAffine(x, layer.norm, layer.up), layer.activation, layer.gated);
  return AffineAdd(DropRows(inner, tokens.row_keys, inner_dropout), x, layer.down, layer.out_norm,
                   tokens, dropout);
}

at::Tensor RotateHeads(const at::Tensor& qkv, const Tokens& tokens, const HeadShape& shape,
                       const Norm& query_norm, const Norm& key_norm, const Rotary& rotary) {
  const int64_t width = shape.head_width, keys = shape.key_value_heads;
  const auto heads_of = [&](int64_t first, int64_t count, const Norm& norm) {
    const at::Tensor heads = qkv.narrow(1, first, count * width).reshape({-1, count, width});
    return Normalized(Wide(heads), norm);
  };
  at::Tensor q = heads_of(0, shape.heads, query_norm);
  at::Tensor k = heads_of(shape.out_width(), keys, key_norm);
  if (rotary.cosines.defined()) {
    const auto rows = [&](const at::Tensor& table) {
      return table.index_select(0, tokens.positions).to(q.scalar_type()).unsqueeze(1);
    };
    const at::Tensor cosines = rows(rotary.cosines), sines = rows(rotary.sines);
    q = TurnedHeads(q, cosines, sines);
    k = TurnedHeads(k, cosines, sines);
  }
  const at::Tensor v = qkv.narrow(1, shape.out_width() + keys * width, keys * width);
  const at::ScalarType type = qkv.scalar_type();
  return at::cat({q.flatten(1).to(type), k.flatten(1).to(type), v}, 1);
}

at::Tensor NormalizeRows(const at::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-12); }

}  // namespace tandem::libtorch::portable

#include "tensor/reference/libtorch_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "libtorch/bridge.h"
#include "libtorch/traced.h"
#include "tensor/arithmetic.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/low_rank.h"

namespace tandem::tensor {
namespace formulas {

at::Tensor DropoutMask(const int64_t* row_keys, int64_t rows, int64_t width, const Dropout& dropout,
                       uint32_t part, const at::TensorOptions& options) {
  const at::Tensor mask = at::empty({rows, width}, at::kDouble);
  auto* values = mask.data_ptr<double>();
  const uint64_t site_key = SiteKey(dropout, part);
  const uint32_t threshold = KeepThreshold(dropout.rate);
  for (int64_t r = 0; r < rows; ++r) {
    const uint64_t row_key = RowKey(site_key, static_cast<uint64_t>(row_keys[r]));
    for (int64_t c = 0; c < width; ++c) {
      const bool keep = ChannelBits(row_key, static_cast<uint32_t>(c)) >= threshold;
      values[r * width + c] = keep ? KeepScale(dropout.rate) : 0.0;
    }
  }
  return mask.to(options);
}

}  // namespace formulas

namespace {

using libtorch::AsTorch;
using libtorch::TorchType;

// The inputs of an operation, and where each of its arguments stands among them.
class PlacedInputs {
 public:
  explicit PlacedInputs(std::vector<Tensor> first) : all_(std::move(first)) {}

  const std::vector<Tensor>& all() const { return all_; }
  size_t Add(const Tensor& x) {
    all_.push_back(x);
    return all_.size() - 1;
  }

 private:
  std::vector<Tensor> all_;
};

using TorchTensors = std::vector<at::Tensor>;  // as libtorch takes them

at::Tensor InTypeOf(const at::Tensor& x, const at::Tensor& like) {
  return x.defined() ? x.to(like.scalar_type()) : x;
}

// A Norm by the places of its parameters.
struct NormFormula {
  Norm norm;
  size_t gamma, beta;

  NormFormula(const Norm& from, PlacedInputs* inputs)
      : norm(from), gamma(inputs->Add(from.gamma)), beta(inputs->Add(from.beta)) {}

  // Statistics in float for bf16 rows, as libtorch's own layer norm takes them.
  at::Tensor Rms(const at::Tensor& x, const TorchTensors& in) const {
    const at::Tensor wide = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
    const at::Tensor scale = at::rsqrt((wide * wide).mean(-1, true) + norm.epsilon);
    const at::Tensor factor = InTypeOf(in[gamma], wide);
    const bool plus_one = norm.kind == Norm::Kind::kRmsPlusOne;
    return (wide * scale * (plus_one ? factor + 1 : factor)).to(x.scalar_type());
  }
  // The rows of x normalised; x where there is no norm.
  at::Tensor Of(const at::Tensor& x, const TorchTensors& in) const {
    if (!norm.defined()) return x;
    if (norm.kind != Norm::Kind::kLayerNorm) return Rms(x, in);
    return at::layer_norm(x, {x.size(-1)}, InTypeOf(in[gamma], x), InTypeOf(in[beta], x),
                          norm.epsilon);
  }
};

Norm AsNorm(const LayerNorm& norm) {
  return {Norm::Kind::kLayerNorm, norm.gamma, norm.beta, norm.epsilon};
}

// What an adapter of x [T, K] multiplies it by before it reads it, [T, K].
at::Tensor AdapterMask(const Tensor& x, const Adapter& adapter) {
  const UsePortableOps other_form;  // what is tested must not be its own measure
  return AsTorch(AdapterDropout::Drop(Ones(x.sizes(), x.dtype()), adapter));
}

// A Linear by the places of its parameters.
struct MapFormula {
  std::vector<size_t> weights, biases, down, up;
  std::vector<bool> adapts;  // by part; `down` and `up` have the parts that are adapted
  double scale = 1;
  at::Tensor mask;  // of what the adapter reads

  // `x` is what the map reads, or anything of its shape where it has no adapter.
  MapFormula(const Linear& map, const Tensor& x, PlacedInputs* inputs) {
    for (const Tensor& weight : map.weights()) weights.push_back(inputs->Add(weight));
    for (const Tensor& bias : map.biases()) biases.push_back(inputs->Add(bias));
    if (map.low_rank() == nullptr) return;
    const Adapter& adapter = map.low_rank()->adapter();
    for (size_t i = 0; i < adapter.down.size(); ++i) {
      adapts.push_back(adapter.down[i].defined());
      down.push_back(inputs->Add(adapter.down[i]));
      up.push_back(inputs->Add(adapter.up[i]));
    }
    scale = adapter.scale;
    mask = AdapterMask(x, adapter);
  }

  static at::Tensor Joined(const std::vector<size_t>& places, const TorchTensors& in) {
    std::vector<at::Tensor> parts;
    for (const size_t place : places) parts.push_back(in[place]);
    return parts.empty() ? at::Tensor() : at::cat(parts);
  }
  // scale (x A_i^T) B_i^T beside each other for the parts of a map with an adapter, [T, N]; 0 for
  // parts without one.
  at::Tensor LowRankProduct(const at::Tensor& x, const TorchTensors& in) const {
    const at::Tensor read = x * mask;
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < adapts.size(); ++i) {
      if (adapts[i]) {
        const at::Tensor narrow = at::linear(read, InTypeOf(in[down[i]], x));
        parts.push_back(at::linear(narrow, InTypeOf(in[up[i]], x)) * scale);
      } else {
        parts.push_back(at::zeros({x.size(0), in[weights[i]].size(0)}, x.options()));
      }
    }
    return at::cat(parts, 1);
  }
  at::Tensor Of(const at::Tensor& x, const TorchTensors& in) const {
    const at::Tensor out =
        at::linear(x, InTypeOf(Joined(weights, in), x), InTypeOf(Joined(biases, in), x));
    return adapts.empty() ? out : out + LowRankProduct(x, in);
  }
};

at::Tensor DropRows(const at::Tensor& x, const PackedTokens& tokens, const Dropout& dropout) {
  if (!dropout.active()) return x;
  return x * formulas::DropoutMask(tokens.row_keys.data_ptr<int64_t>(), x.size(0), x.size(1),
                                   dropout, 0, x.options());
}

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

// The sum of the tables' rows, for inputs that begin with the word, the position and the type
// table.
at::Tensor EmbeddingSum(const PackedTokens& tokens, int64_t position_offset,
                        const TorchTensors& in) {
  at::Tensor sum = at::embedding(in[0], AsTorch(tokens.ids));
  if (in[1].defined()) {
    sum = sum + at::embedding(in[1], AsTorch(tokens.positions) + position_offset);
  }
  if (in[2].defined()) {
    sum = sum + (tokens.types.defined() ? at::embedding(in[2], AsTorch(tokens.types))
                                        : in[2].select(0, 0));
  }
  return sum;
}

// Rows [T, heads, width] turned by their positions' angles.
at::Tensor Turned(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const int64_t half = x.size(2) / 2;
  const at::Tensor first = x.narrow(2, 0, half), second = x.narrow(2, half, half);
  return at::cat({first * cosines - second * sines, second * cosines + first * sines}, 2);
}

class Formulas final : public DeviceOperations {
 public:
  Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                       const LayerNorm& norm, const Dropout& dropout,
                       DType activation) const override {
    PlacedInputs inputs({tables.word, tables.position, tables.type});
    const NormFormula places(AsNorm(norm), &inputs);
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      const at::Tensor sum = EmbeddingSum(tokens, tables.position_offset, in);
      return DropRows(places.Of(sum, in).to(TorchType(activation)), tokens, dropout);
    });
  }
  Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
               const Dropout& dropout, DType activation) const override {
    const PlacedInputs inputs({tables.word, tables.position, tables.type});
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      const at::Tensor sum = EmbeddingSum(tokens, tables.position_offset, in) * scale;
      return DropRows(sum.to(TorchType(activation)), tokens, dropout);
    });
  }
  Tensor Affine(const Tensor& x, const Linear& linear) const override {
    PlacedInputs inputs({x});
    const MapFormula map(linear, x, &inputs);
    return libtorch::Traced("formula", inputs.all(),
                            [&](const TorchTensors& in) { return map.Of(in[0], in); });
  }
  Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                    const LayerNorm& norm, const PackedTokens& tokens,
                    const Dropout& dropout) const override {
    PlacedInputs inputs({x, residual});
    const MapFormula map(linear, x, &inputs);
    const NormFormula places(AsNorm(norm), &inputs);
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      return places.Of(in[1] + DropRows(map.Of(in[0], in), tokens, dropout), in);
    });
  }
  Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down,
                         Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                         const Dropout& dropout) const override {
    PlacedInputs inputs({x});
    const MapFormula up_map(up, x, &inputs), down_map(down, x, &inputs);
    const NormFormula places(AsNorm(norm), &inputs);
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      const at::Tensor inner = Activate(up_map.Of(in[0], in), activation);
      return places.Of(in[0] + DropRows(down_map.Of(inner, in), tokens, dropout), in);
    });
  }
  Tensor Normalize(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                   const Dropout& dropout) const override {
    PlacedInputs inputs({x});
    const NormFormula places(norm, &inputs);
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      return DropRows(places.Of(in[0], in), tokens, dropout);
    });
  }
  Tensor NormAffine(const Tensor& x, const Norm& norm, const Linear& linear) const override {
    PlacedInputs inputs({x});
    const NormFormula places(norm, &inputs);
    const MapFormula map(linear, x, &inputs);
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      return map.Of(places.Of(in[0], in), in);
    });
  }
  Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                   const Norm& out_norm, const PackedTokens& tokens,
                   const Dropout& dropout) const override {
    PlacedInputs inputs({x, residual});
    const MapFormula map(linear, x, &inputs);
    const NormFormula places(out_norm, &inputs);
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      return in[1] + DropRows(places.Of(map.Of(in[0], in), in), tokens, dropout);
    });
  }
  Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                        const Dropout& inner_dropout, const Dropout& dropout) const override {
    PlacedInputs inputs({x});
    const NormFormula norm(layer.norm, &inputs), out_norm(layer.out_norm, &inputs);
    const MapFormula up(layer.up, x, &inputs), down(layer.down, x, &inputs);
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      at::Tensor inner = up.Of(norm.Of(in[0], in), in);
      if (layer.gated) {
        const int64_t width = inner.size(1) / 2;
        inner =
            Activate(inner.narrow(1, 0, width), layer.activation) * inner.narrow(1, width, width);
      } else {
        inner = Activate(inner, layer.activation);
      }
      const at::Tensor out = down.Of(DropRows(inner, tokens, inner_dropout), in);
      return in[0] + DropRows(out_norm.Of(out, in), tokens, dropout);
    });
  }
  Tensor RotateHeads(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                     const Norm& query_norm, const Norm& key_norm,
                     const Rotary& rotary) const override {
    PlacedInputs inputs({qkv});
    const NormFormula queries(query_norm, &inputs), keys(key_norm, &inputs);
    const int64_t width = shape.head_width, key_heads = shape.key_value_heads;
    return libtorch::Traced("formula", inputs.all(), [&](const TorchTensors& in) {
      const at::Tensor& all = in[0];
      const auto heads_from = [&](int64_t first, int64_t heads) {
        return all.narrow(1, first, heads * width).reshape({-1, heads, width});
      };
      at::Tensor q = queries.Of(heads_from(0, shape.heads), in);
      at::Tensor k = keys.Of(heads_from(shape.out_width(), key_heads), in);
      const at::Tensor v = all.narrow(1, shape.out_width() + key_heads * width, key_heads * width);
      if (rotary.cosines.defined()) {
        const auto rows = [&](const Tensor& table) {
          return AsTorch(table)
              .index_select(0, AsTorch(tokens.positions))
              .to(all.scalar_type())
              .unsqueeze(1);
        };
        const at::Tensor cosines = rows(rotary.cosines), sines = rows(rotary.sines);
        q = Turned(q, cosines, sines);
        k = Turned(k, cosines, sines);
      }
      return at::cat({q.flatten(1), k.flatten(1), v}, 1);
    });
  }
  Tensor Attention(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const AttentionRule& rule, const RelativeBias& bias,
                   const Dropout& dropout) const override {
    const bool plain = shape.heads == shape.key_value_heads && !rule.causal && rule.window == 0 &&
                       rule.soft_cap == 0 && !bias.table.defined() &&
                       rule.scale == 1 / std::sqrt(static_cast<double>(shape.head_width));
    return libtorch::Traced("formula", {qkv, bias.table}, [&](const TorchTensors& in) {
      if (plain) return formulas::SelfAttention(in[0], tokens, shape.heads, dropout);
      return formulas::Attention(in[0], tokens, shape, rule, in[1], bias.max_distance, dropout);
    });
  }
  Tensor Pool(const Tensor& x, const PackedTokens& tokens, Pooling pooling) const override {
    return libtorch::Traced("formula", {x}, [&](const TorchTensors& in) {
      return formulas::Pool(in[0], tokens, pooling);
    });
  }
  Tensor NormalizeRows(const Tensor& x) const override {
    return libtorch::Traced("formula", {x}, [&](const TorchTensors& in) {
      return in[0] / in[0].norm(2, 1, true).clamp_min(1e-12);
    });
  }
};

}  // namespace

const DeviceOperations& LibtorchFormulas() {
  static const Formulas made;
  return made;
}

}  // namespace tandem::tensor

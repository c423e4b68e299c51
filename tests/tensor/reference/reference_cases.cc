#include "tensor/reference/reference_cases.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "tensor/core/device_memory.h"
#include "tensor/core/tensor.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/inputs.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {
namespace {

using Tensors = std::vector<Tensor>;

// What a norm is made of; no gamma: there is no norm.
struct NormKind {
  Norm::Kind kind;
  bool has_gamma, has_beta;

  std::string Name() const {
    if (!has_gamma) return "no norm";
    return fmt::format("norm {}{}", static_cast<int>(kind), has_beta ? " with beta" : "");
  }
};
constexpr NormKind kNormKinds[] = {{Norm::Kind::kLayerNorm, true, true},
                                   {Norm::Kind::kLayerNorm, true, false},
                                   {Norm::Kind::kRms, true, false},
                                   {Norm::Kind::kRmsPlusOne, true, false},
                                   {Norm::Kind::kLayerNorm, false, false}};
constexpr Activation kEveryActivation[] = {Activation::kGelu, Activation::kGeluTanh,
                                           Activation::kRelu, Activation::kSilu};

// Makes the inputs of one case, in the order in which the operation reads them.
class CaseMaker {
 public:
  // `width` channels of texts of 5, 1, 0 and 9 tokens.
  CaseMaker(std::vector<ReferenceCase>* cases, int64_t width, double rate, Device device)
      : cases_(cases), make_(1), tokens_(TokensOf(&make_).To(device)), width_(width), rate_(rate) {}

  const PackedTokens& tokens() const { return tokens_; }
  int64_t rows() const { return tokens_.tokens(); }
  int64_t width() const { return width_; }
  Dropout Drop(uint32_t site) const { return {.rate = rate_, .seed = 4, .step = 2, .site = site}; }

  size_t Add(const Shape& sizes, double scale) {
    inputs_.push_back(make_.Make(sizes, scale));
    return inputs_.size() - 1;
  }
  size_t AddActivations(int64_t width) { return ++activations_, Add({rows(), width}, 1); }

  // A function that makes the norm, or the map, from the inputs.
  auto AddNorm(const NormKind& kind, int64_t width) {
    std::optional<size_t> gamma, beta;
    if (kind.has_gamma) gamma = Add({width}, 1);
    if (kind.has_beta) beta = Add({width}, 1);
    return [=](const Tensors& in) {
      Norm norm{.kind = kind.kind, .epsilon = 1e-5};
      if (gamma) norm.gamma = in[*gamma];
      if (beta) norm.beta = in[*beta];
      return norm;
    };
  }
  auto AddLinear(int64_t in_width, int64_t out_width, bool has_bias) {
    const size_t weight = Add({out_width, in_width}, 0.5);
    std::optional<size_t> bias;
    if (has_bias) bias = Add({out_width}, 0.5);
    return [=](const Tensors& in) {
      return Linear({in[weight]}, bias ? Tensors{in[*bias]} : Tensors{});
    };
  }

  // Ends the case.
  void End(const std::string& name,
           std::function<Tensor(const DeviceOperations& by, const Tensors& in)> operation) {
    cases_->push_back({fmt::format("{}, {} channels, dropout {}", name, width_, rate_),
                       std::move(operation), std::exchange(inputs_, {}),
                       std::exchange(activations_, 0)});
  }

 private:
  static PackedTokens TokensOf(Inputs* make) {
    std::vector<std::vector<int32_t>> texts;
    for (const int64_t length : {5, 1, 0, 9}) {
      auto& text = texts.emplace_back();
      for (int64_t i = 0; i < length; ++i) {
        text.push_back(static_cast<int32_t>(make->Between(0, 6)));
      }
    }
    const std::vector<std::span<const int32_t>> spans(texts.begin(), texts.end());
    return Pack(spans);
  }

  std::vector<ReferenceCase>* cases_;
  Inputs make_;
  PackedTokens tokens_;
  int64_t width_;
  double rate_;
  Tensors inputs_;
  size_t activations_ = 0;
};

// With each of the tables and norms that an encoder may lack.
void AddEmbeddings(CaseMaker* make) {
  for (int tables = 0; tables < 8; ++tables) {
    const bool has_position = tables % 2 == 1, has_type = tables / 2 % 2 == 1;
    PackedTokens tokens = make->tokens();
    if (tables / 4 == 1) tokens.types = AlternatingTypes(tokens);
    const auto of = [=](const Tensors& in) {
      EmbeddingTables made{.word = in[0], .position_offset = 2};
      if (has_position) made.position = in[1];
      if (has_type) made.type = in[has_position ? 2 : 1];
      return made;
    };
    const auto add = [&] {
      make->Add({7, make->width()}, 1);
      if (has_position) make->Add({12, make->width()}, 1);
      if (has_type) make->Add({2, make->width()}, 1);
    };
    const Dropout dropout = make->Drop(1);
    add();
    make->End(fmt::format("Embed {}", tables), [=](const DeviceOperations& by, const Tensors& in) {
      return by.Embed(tokens, of(in), 5.5, dropout, in[0].dtype());
    });
    add();
    const auto norm = make->AddNorm(kNormKinds[tables % 2], make->width());
    make->End(fmt::format("EmbeddingNorm {}", tables),
              [=](const DeviceOperations& by, const Tensors& in) {
                const Norm made = norm(in);
                return by.EmbeddingNorm(tokens, of(in), {made.gamma, made.beta, 1e-6}, dropout,
                                        in[0].dtype());
              });
  }
}

void AddMaps(CaseMaker* make) {
  const int64_t width = make->width();
  const PackedTokens tokens = make->tokens();
  const Dropout drop = make->Drop(2);
  for (const NormKind& kind : kNormKinds) {
    make->AddActivations(width);
    const auto norm = make->AddNorm(kind, width);
    make->End("Normalize, " + kind.Name(), [=](const DeviceOperations& by, const Tensors& in) {
      return by.Normalize(in[0], norm(in), tokens, drop);
    });
    make->AddActivations(width);
    const auto read_norm = make->AddNorm(kind, width);
    const auto map = make->AddLinear(width, width + 3, kind.has_beta);
    make->End("NormAffine, " + kind.Name(), [=](const DeviceOperations& by, const Tensors& in) {
      return by.NormAffine(in[0], read_norm(in), map(in));
    });
    make->AddActivations(width + 3);
    make->AddActivations(width);
    const auto back = make->AddLinear(width + 3, width, !kind.has_beta);
    const auto out_norm = make->AddNorm(kind, width);
    make->End("AffineAdd, " + kind.Name(), [=](const DeviceOperations& by, const Tensors& in) {
      return by.AffineAdd(in[0], in[1], back(in), out_norm(in), tokens, drop);
    });
  }
}

// Every activation, plain and gated.
void AddFeedForward(CaseMaker* make) {
  const int64_t width = make->width();
  const PackedTokens tokens = make->tokens();
  const Dropout drop = make->Drop(2), inner_drop = make->Drop(3);
  for (const NormKind& kind : kNormKinds) {
    for (size_t turn = 0; turn < 8; ++turn) {
      const bool gated = turn / 4 == 1;
      make->AddActivations(width);
      const auto up = make->AddLinear(width, (gated ? 2 : 1) * (width + 3), turn % 2 == 0);
      const auto down = make->AddLinear(width + 3, width, turn % 2 == 1);
      const auto before = make->AddNorm(kind, width);
      const auto after = make->AddNorm(kNormKinds[turn % std::size(kNormKinds)], width);
      make->End(fmt::format("FeedForwardAdd {}, {}", turn, kind.Name()),
                [=](const DeviceOperations& by, const Tensors& in) {
                  const FeedForward layer{.norm = before(in),
                                          .up = up(in),
                                          .down = down(in),
                                          .activation = kEveryActivation[turn % 4],
                                          .gated = gated,
                                          .out_norm = after(in)};
                  return by.FeedForwardAdd(in[0], layer, tokens, inner_drop, drop);
                });
    }
  }
}

void AddNormalizedMaps(CaseMaker* make) {
  const int64_t width = make->width();
  const PackedTokens tokens = make->tokens();
  const Dropout drop = make->Drop(4);
  for (const NormKind& kind : {kNormKinds[0], kNormKinds[1]}) {
    make->AddActivations(width + 3);
    make->AddActivations(width);
    const auto map = make->AddLinear(width + 3, width, kind.has_beta);
    const auto norm = make->AddNorm(kind, width);
    make->End("AffineNorm, " + kind.Name(), [=](const DeviceOperations& by, const Tensors& in) {
      const Norm made = norm(in);
      return by.AffineNorm(in[0], in[1], map(in), {made.gamma, made.beta, 1e-6}, tokens, drop);
    });
    for (const Activation activation : kEveryActivation) {
      make->AddActivations(width);
      const auto up = make->AddLinear(width, width + 3, kind.has_beta);
      const auto down = make->AddLinear(width + 3, width, !kind.has_beta);
      const auto out_norm = make->AddNorm(kind, width);
      make->End(fmt::format("FeedForwardNorm {}, {}", static_cast<int>(activation), kind.Name()),
                [=](const DeviceOperations& by, const Tensors& in) {
                  const Norm made = out_norm(in);
                  return by.FeedForwardNorm(in[0], up(in), down(in), activation,
                                            {made.gamma, made.beta, 1e-6}, tokens, drop);
                });
    }
  }
}

// Several maps beside each other, of which the second may have an adapter.
void AddAdapters(CaseMaker* make, double rate) {
  const int64_t width = make->width();
  const PackedTokens tokens = make->tokens();
  for (const bool adapts : {false, true}) {
    make->AddActivations(width);
    make->Add({width + 3, width}, 0.5);
    make->Add({2, width}, 0.5);
    make->Add({width + 3}, 0.5);
    make->Add({2}, 0.5);
    make->Add({4, width}, 0.5);
    make->Add({2, 4}, 0.5);
    make->End(adapts ? "Affine with an adapter" : "Affine of two maps",
              [=](const DeviceOperations& by, const Tensors& in) {
                Linear linear({in[1], in[2]}, {in[3], in[4]});
                if (adapts) {
                  linear.Adapt({.down = {Tensor(), in[5]},
                                .up = {Tensor(), in[6]},
                                .scale = 2,
                                .dropout = rate,
                                .site = 3});
                }
                const AdapterDropout dropout(tokens, 42, 7);
                return by.Affine(in[0], linear);
              });
  }
}

void AddHeads(CaseMaker* make) {
  const PackedTokens tokens = make->tokens();
  const HeadShape shape{4, 2, make->width() / 2 * 2};
  for (const NormKind& kind : kNormKinds) {
    for (const bool turns : {false, true}) {
      make->AddActivations(shape.qkv_width());
      const auto query_norm = make->AddNorm(kind, shape.head_width);
      const auto key_norm = make->AddNorm(turns ? kind : kNormKinds[4], shape.head_width);
      make->End(fmt::format("RotateHeads {}, {}", turns, kind.Name()),
                [=](const DeviceOperations& by, const Tensors& in) {
                  Rotary rotary = turns ? RotaryOf(shape.head_width, in[0].dtype()) : Rotary();
                  rotary.cosines = MovedTo(rotary.cosines, in[0].device());
                  rotary.sines = MovedTo(rotary.sines, in[0].device());
                  return by.RotateHeads(in[0], tokens, shape, query_norm(in), key_norm(in), rotary);
                });
    }
  }
}

// Every mask, with and without bias and cap, and heads that share keys in every way.
void AddAttention(CaseMaker* make) {
  const PackedTokens tokens = make->tokens();
  const Dropout drop = make->Drop(5);
  for (int turn = 0; turn < 24; ++turn) {
    const HeadShape shape{4, int64_t{1} << turn % 3, make->width()};
    const AttentionRule rule{.scale = 0.3,
                             .causal = turn % 2 == 1,
                             .window = turn / 2 % 3 * 2,
                             .soft_cap = turn / 6 % 2 == 1 ? 1.5 : 0.0};
    const bool biased = turn / 12 == 1;
    make->AddActivations(shape.qkv_width());
    if (biased) make->Add({8, shape.heads}, 2);
    make->End(fmt::format("Attention {}", turn),
              [=](const DeviceOperations& by, const Tensors& in) {
                const RelativeBias bias{.table = biased ? in[1] : Tensor(), .max_distance = 6};
                return by.Attention(in[0], tokens, shape, rule, bias, drop);
              });
  }
  const HeadShape shape{3, 3, make->width()};
  make->AddActivations(shape.qkv_width());
  make->End("SelfAttention", [=](const DeviceOperations& by, const Tensors& in) {
    const double scale = 1 / std::sqrt(static_cast<double>(shape.head_width));
    return by.Attention(in[0], tokens, shape, {.scale = scale}, {}, drop);
  });
}

void AddPooling(CaseMaker* make) {
  for (const Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLastToken, Pooling::kMax,
                                Pooling::kMeanSqrtLen, Pooling::kWeightedMean}) {
    for (const bool has_prompts : {false, true}) {
      PackedTokens tokens = make->tokens();
      if (has_prompts) {
        tokens.prompt_tokens = MovedTo(Of<int32_t>({4}, {1, 1, 2, 3}), tokens.ids.device());
      }
      make->AddActivations(make->width());
      make->End(fmt::format("Pool {}, {}", static_cast<int>(pooling), has_prompts),
                [=](const DeviceOperations& by, const Tensors& in) {
                  return by.Pool(in[0], tokens, pooling);
                });
    }
  }
}

}  // namespace

std::vector<ReferenceCase> ReferenceCases(Device device) {
  std::vector<ReferenceCase> cases;
  for (const int64_t width : {5, 16}) {
    for (const double rate : {0.0, 0.3}) {
      CaseMaker make(&cases, width, rate, device);
      AddEmbeddings(&make);
      AddMaps(&make);
      AddFeedForward(&make);
      AddNormalizedMaps(&make);
      AddAdapters(&make, rate);
      AddHeads(&make);
      AddAttention(&make);
      if (rate == 0) AddPooling(&make);
    }
  }
  return cases;
}

namespace {

class Loops final : public DeviceOperations {
 public:
  Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                       const LayerNorm& norm, const Dropout& dropout,
                       DType activation) const override {
    return reference::EmbeddingNorm(tokens, tables, norm, dropout, activation);
  }
  Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
               const Dropout& dropout, DType activation) const override {
    return reference::Embed(tokens, tables, scale, dropout, activation);
  }
  Tensor Affine(const Tensor& x, const Linear& linear) const override {
    return reference::Affine(x, linear);
  }
  Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                    const LayerNorm& norm, const PackedTokens& tokens,
                    const Dropout& dropout) const override {
    return reference::AffineNorm(x, residual, linear, norm, tokens, dropout);
  }
  Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down,
                         Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                         const Dropout& dropout) const override {
    return reference::FeedForwardNorm(x, up, down, activation, norm, tokens, dropout);
  }
  Tensor Normalize(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                   const Dropout& dropout) const override {
    return reference::Normalize(x, norm, tokens, dropout);
  }
  Tensor NormAffine(const Tensor& x, const Norm& norm, const Linear& linear) const override {
    return reference::NormAffine(x, norm, linear);
  }
  Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                   const Norm& out_norm, const PackedTokens& tokens,
                   const Dropout& dropout) const override {
    return reference::AffineAdd(x, residual, linear, out_norm, tokens, dropout);
  }
  Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                        const Dropout& inner_dropout, const Dropout& dropout) const override {
    return reference::FeedForwardAdd(x, layer, tokens, inner_dropout, dropout);
  }
  Tensor RotateHeads(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                     const Norm& query_norm, const Norm& key_norm,
                     const Rotary& rotary) const override {
    return reference::RotateHeads(qkv, tokens, shape, query_norm, key_norm, rotary);
  }
  Tensor Attention(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const AttentionRule& rule, const RelativeBias& bias,
                   const Dropout& dropout) const override {
    return reference::Attention(qkv, tokens, shape, rule, bias, dropout);
  }
  Tensor Pool(const Tensor& x, const PackedTokens& tokens, Pooling pooling) const override {
    return reference::Pool(x, tokens, pooling);
  }
  Tensor NormalizeRows(const Tensor& x) const override { return tensor::NormalizeRows(x); }
};

}  // namespace

const DeviceOperations& ReferenceLoops() {
  static const Loops loops;
  return loops;
}

}  // namespace tandem::tensor

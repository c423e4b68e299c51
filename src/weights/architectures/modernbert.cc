// ModernBERT (Warner et al. 2024), as transformers' ModernBertModel computes it: pre-norm layers
// with LayerNorms and gated feed-forward, rotary positions, and windows in most layers. Layer 0
// normalises nothing before attention, because the embeddings are normalised.
#include <fmt/format.h>

#include <cmath>

#include "weights/architecture.h"
#include "weights/settings/activation_key.h"
#include "weights/settings/layer_kinds.h"
#include "weights/settings/rotary_settings.h"
#include "weights/settings/settings_file.h"
#include "weights/spec_builder.h"

namespace tandem::weights {
namespace {

constexpr IntegerKey kVocabulary{"vocab_size", "rows of the word table"};
constexpr IntegerKey kHidden{"hidden_size", "channels of a token"};
constexpr IntegerKey kLayers{"num_hidden_layers", "layers", 1, kMaxLayers};
constexpr IntegerKey kHeads{"num_attention_heads", "attention heads; a divisor of hidden_size"};
constexpr IntegerKey kInner{"intermediate_size", "inner width of feed-forward layers"};
constexpr IntegerKey kPositions{"max_position_embeddings", "most tokens of a text", 1, kMaxSize,
                                8192};
constexpr IntegerKey kLocal{
    "local_attention", "window of sliding layers: a token reads those at most half as far away", 2,
    kMaxSize, 128};
constexpr IntegerKey kEvery{"global_attn_every_n_layers",
                            "in older files: each of so many layers reads all tokens", 1,
                            kMaxLayers, 3};
constexpr ChoiceKey kActivation{"hidden_activation", "activation of feed-forward layers",
                                kActivationSpellings, "gelu"};
constexpr NumberKey kEpsilon{"norm_eps", "epsilon of layer norms", 0, 1, 1e-5};
constexpr BooleanKey kNormBias{"norm_bias", "layer norms have biases"};
constexpr BooleanKey kAttentionBias{"attention_bias", "linear maps of attention have biases"};
constexpr BooleanKey kInnerBias{"mlp_bias", "linear maps of feed-forward layers have biases"};
constexpr NumberKey kEmbeddingDropout{"embedding_dropout", "dropout of embeddings", 0, 0.99, 0};
constexpr NumberKey kAttentionDropout{
    "attention_dropout", "dropout of attention probabilities and of what attention adds", 0, 0.99,
    0};
constexpr NumberKey kInnerDropout{"mlp_dropout", "dropout of inner values of feed-forward layers",
                                  0, 0.99, 0};
constexpr NumberKey kGlobalBase{"global_rope_theta",
                                "in older files: base of rotary positions of layers that read all",
                                1, 1e12, 160'000};
constexpr NumberKey kLocalBase{"local_rope_theta",
                               "in older files: base of rotary positions of sliding layers", 1,
                               1e12, 10'000};

constexpr ConfigKey kKeys[] = {&kVocabulary,
                               &kHidden,
                               &kLayers,
                               &kHeads,
                               &kInner,
                               &kPositions,
                               &kLocal,
                               &kLayerTypes,
                               &kEvery,
                               &kRopeParameters,
                               &kRopeScaling,
                               &kGlobalBase,
                               &kLocalBase,
                               &kActivation,
                               &kEpsilon,
                               &kNormBias,
                               &kAttentionBias,
                               &kInnerBias,
                               &kEmbeddingDropout,
                               &kAttentionDropout,
                               &kInnerDropout};

struct Biases {
  bool norm, attention, inner;
};

LayerSpec Layer(SpecBuilder* build, const EncoderSpec& spec, const Biases& biases, int64_t index) {
  const int64_t hidden = spec.hidden_size, inner = spec.intermediate_size;
  const std::string layer = fmt::format("{}{}.", spec.layer_prefix, index);
  LayerSpec made;
  if (index > 0) made.attention_norm = build->Norm(layer + "attn_norm", hidden, biases.norm);
  made.query_key_value = build->Linear(layer + "attn.Wqkv", 3 * hidden, hidden, biases.attention);
  made.attention.scale = 1 / std::sqrt(static_cast<double>(spec.head_width));
  made.attention_output = build->Linear(layer + "attn.Wo", hidden, hidden, biases.attention);
  made.feed_forward_norm = build->Norm(layer + "mlp_norm", hidden, biases.norm);
  made.up = build->Linear(layer + "mlp.Wi", 2 * inner, hidden, biases.inner);
  made.down = build->Linear(layer + "mlp.Wo", hidden, inner, biases.inner);
  return made;
}

EncoderSpec ReadSizes(const Settings& config) {
  EncoderSpec spec;
  spec.vocabulary_size = Read(config, kVocabulary);
  spec.hidden_size = Read(config, kHidden);
  spec.heads = spec.key_value_heads = Read(config, kHeads);
  spec.head_width = HeadWidth(config, kHeads.name, kHidden.name, spec);
  if (spec.head_width % 2 != 0) {
    config.Fail(kHeads.name, fmt::format("a number of heads of even width (hidden_size is {})",
                                         spec.hidden_size));
  }
  spec.intermediate_size = Read(config, kInner);
  spec.max_positions = Read(config, kPositions);
  spec.pre_norm = true;
  spec.norm_epsilon = Read(config, kEpsilon);
  spec.activation = HiddenActivationFrom(Read(config, kActivation));
  spec.gated = true;
  spec.dropout = {.embedding = Read(config, kEmbeddingDropout),
                  .attention = Read(config, kAttentionDropout),
                  .attention_output = Read(config, kAttentionDropout),
                  .inner = Read(config, kInnerDropout)};
  return spec;
}

EncoderSpec ReadModernBert(const Settings& config) {
  EncoderSpec spec = ReadSizes(config);
  const Biases biases{Read(config, kNormBias), Read(config, kAttentionBias),
                      Read(config, kInnerBias)};
  const int64_t layers = Read(config, kLayers), every = Read(config, kEvery);
  const std::vector<bool> sliding =
      ReadSlidingLayers(config, layers, [&](int64_t i) { return i % every != 0; });
  spec.rotaries = {ReadRotary(config, {"full_attention", kGlobalBase.name, kGlobalBase.fallback},
                              spec.head_width),
                   ReadRotary(config, {"sliding_attention", kLocalBase.name, kLocalBase.fallback},
                              spec.head_width)};
  SpecBuilder build(&spec);
  spec.embedding.word =
      build.Table("embeddings.tok_embeddings.weight", spec.vocabulary_size, spec.hidden_size);
  spec.embedding.norm = build.Norm("embeddings.norm", spec.hidden_size, biases.norm);
  spec.layer_prefix = "layers.";
  spec.layers_key = kLayers.name;
  for (int64_t i = 0; i < layers; ++i) {
    const bool slides = sliding[static_cast<size_t>(i)];
    spec.layers.push_back(Layer(&build, spec, biases, i));
    spec.layers.back().attention.window = slides ? Read(config, kLocal) / 2 : 0;
    spec.layers.back().attention.rotary = slides ? 1 : 0;
  }
  spec.final_norm = build.Norm("final_norm", spec.hidden_size, biases.norm);
  return spec;
}

constexpr std::string_view kModelTypes[] = {"modernbert"};
constexpr std::string_view kPrefixes[] = {"model."};

}  // namespace

extern const Architecture kModernBert{
    .name = "modernbert",
    .summary = "pre-norm encoder with rotary positions and windows, 8,192 tokens: ModernBERT, GTE",
    .source = "Warner et al. 2024",
    .tokenizers = "byte-level BPE",
    .model_types = kModelTypes,
    .prefixes = kPrefixes,
    .keys = [] { return std::span<const ConfigKey>(kKeys); },
    .read = ReadModernBert,
};

}  // namespace tandem::weights

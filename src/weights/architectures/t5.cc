// The encoder of T5 (Raffel et al. 2020) and T5 1.1 (Shazeer 2020), as transformers' T5EncoderModel
// computes it: pre-norm layers with RMS norms, no positions but a bias of scores by relative
// position, which all layers share, and scores that are not scaled. A decoder's tensors in the
// folder are carried through.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "weights/architecture.h"
#include "weights/settings/activation_key.h"
#include "weights/settings/settings_file.h"
#include "weights/spec_builder.h"

namespace tandem::weights {
namespace {

// Nothing in the model limits a text; this keeps positions and products small integers.
constexpr int64_t kMaxPositions = int64_t{1} << 20;

constexpr IntegerKey kVocabulary{"vocab_size", "rows of the word table"};
constexpr IntegerKey kHidden{"d_model", "channels of a token"};
constexpr IntegerKey kLayers{"num_layers", "layers of the encoder", 1, kMaxLayers};
constexpr IntegerKey kHeads{"num_heads", "attention heads"};
constexpr IntegerKey kHeadWidth{"d_kv", "channels of a head", 1, kMaxSize, 64};
constexpr IntegerKey kInner{"d_ff", "inner width of feed-forward layers"};
constexpr IntegerKey kPositions{
    "n_positions", "where texts are cut unless another file says so; no limit of the model", 1,
    kMaxPositions, 512};
constexpr IntegerKey kBuckets{"relative_attention_num_buckets", "rows of the relative bias", 4,
                              kMaxSize, 32};
constexpr IntegerKey kMaxDistance{"relative_attention_max_distance",
                                  "tokens that are farther away share a row", 2, kMaxSize, 128};
constexpr NumberKey kEpsilon{"layer_norm_epsilon", "epsilon of RMS norms", 0, 1, 1e-6};
constexpr NumberKey kDropout{"dropout_rate", "dropout of embeddings, attention, layers and output",
                             0, 0.99, 0.1};
constexpr OtherKey kProjection{
    "feed_forward_proj",
    "activation of feed-forward layers; \"gated-\" before it: gated (T5 1.1: gated-gelu, by tanh)"};

constexpr ConfigKey kKeys[] = {&kVocabulary, &kHidden,  &kLayers,  &kHeads,
                               &kHeadWidth,  &kInner,   &kBuckets, &kMaxDistance,
                               &kPositions,  &kEpsilon, &kDropout, &kProjection};

// "relu", "gated-gelu", "gated-silu", ...
void ReadProjection(const Settings& config, EncoderSpec* spec) {
  constexpr std::string_view kGated = "gated-";
  const std::string text = config.String(kProjection.name).value_or("relu");
  std::string_view name = text;
  spec->gated = name.starts_with(kGated);
  if (spec->gated) name.remove_prefix(kGated.size());
  const auto& known = kActivationSpellings;
  if (std::find(std::begin(known), std::end(known), name) == std::end(known)) {
    config.Fail(kProjection.name,
                fmt::format("one of {}, or one of them after \"gated-\",", fmt::join(known, ", ")));
  }
  // T5 1.1 says "gated-gelu" and means the form by tanh.
  spec->activation =
      spec->gated && name == "gelu" ? HiddenActivation::kGeluTanh : HiddenActivationFrom(name);
}

LayerSpec Layer(SpecBuilder* build, const EncoderSpec& spec, const std::string& layer) {
  const int64_t hidden = spec.hidden_size, inner = spec.intermediate_size;
  const int64_t heads = spec.heads * spec.head_width;
  const std::string self = layer + "layer.0.SelfAttention.";
  const std::string dense = layer + "layer.1.DenseReluDense.";
  LayerSpec made;
  made.query_key_value = build->Stacked(
      {{self + "q", heads}, {self + "k", heads}, {self + "v", heads}}, hidden, false);
  made.attention_output = build->Linear(self + "o", hidden, heads, false);
  made.attention_norm = build->Norm(layer + "layer.0.layer_norm", hidden, false);
  made.up = spec.gated
                ? build->Stacked({{dense + "wi_0", inner}, {dense + "wi_1", inner}}, hidden, false)
                : build->Linear(dense + "wi", inner, hidden, false);
  made.down = build->Linear(dense + "wo", hidden, inner, false);
  made.feed_forward_norm = build->Norm(layer + "layer.1.layer_norm", hidden, false);
  return made;
}

EncoderSpec ReadSizes(const Settings& config) {
  EncoderSpec spec;
  spec.vocabulary_size = Read(config, kVocabulary);
  spec.hidden_size = Read(config, kHidden);
  spec.heads = spec.key_value_heads = Read(config, kHeads);
  spec.head_width = Read(config, kHeadWidth);
  spec.intermediate_size = Read(config, kInner);
  spec.max_positions = kMaxPositions;
  spec.default_tokens = Read(config, kPositions);
  spec.pre_norm = true;
  spec.norm = NormKind::kRms;
  spec.norm_epsilon = Read(config, kEpsilon);
  ReadProjection(config, &spec);
  const double dropout = Read(config, kDropout);
  spec.dropout = {.embedding = dropout,
                  .attention = dropout,
                  .attention_output = dropout,
                  .feed_forward_output = dropout,
                  .inner = dropout,
                  .final = dropout};
  return spec;
}

EncoderSpec ReadT5(const Settings& config) {
  EncoderSpec spec = ReadSizes(config);
  const int64_t buckets = Read(config, kBuckets), max_distance = Read(config, kMaxDistance);
  if (max_distance <= buckets / 4) {
    config.Fail(kMaxDistance.name,
                fmt::format("more than a quarter of {} {}", kBuckets.name, buckets));
  }
  SpecBuilder build(&spec);
  spec.embedding.word = build.Table("shared.weight", spec.vocabulary_size, spec.hidden_size,
                                    {"encoder.embed_tokens.weight"});
  spec.layer_prefix = "encoder.block.";
  spec.layers_key = kLayers.name;
  spec.relative_bias = {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
                        max_distance};
  build.Table(spec.relative_bias->name + ".weight", buckets, spec.heads);
  const int64_t layers = Read(config, kLayers);
  for (int64_t i = 0; i < layers; ++i) {
    spec.layers.push_back(Layer(&build, spec, fmt::format("{}{}.", spec.layer_prefix, i)));
  }
  spec.final_norm = build.Norm("encoder.final_layer_norm", spec.hidden_size, false);
  return spec;
}

constexpr std::string_view kModelTypes[] = {"t5"};
constexpr std::string_view kPrefixes[] = {"transformer."};

}  // namespace

extern const Architecture kT5{
    .name = "t5",
    .summary =
        "pre-norm encoder with relative position bias: T5, T5 1.1, Flan-T5, sentence-t5, GTR",
    .source = "Raffel et al. 2020; Shazeer 2020",
    .tokenizers = "Unigram",
    .model_types = kModelTypes,
    .prefixes = kPrefixes,
    .keys = [] { return std::span<const ConfigKey>(kKeys); },
    .read = ReadT5,
};

}  // namespace tandem::weights

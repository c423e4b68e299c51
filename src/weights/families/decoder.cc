#include "weights/families/decoder.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "weights/settings/activation_key.h"
#include "weights/settings/layer_kinds.h"
#include "weights/settings/rotary_settings.h"
#include "weights/settings/settings_file.h"
#include "weights/spec_builder.h"

namespace tandem::weights {

DecoderKeys::DecoderKeys(const DecoderVariant& variant)
    : activation{variant.activation_key, "activation of feed-forward layers", kActivationSpellings,
                 variant.activation} {
  positions.fallback = variant.max_positions;
  key_value_heads.otherwise = heads.name;
  if (variant.key_value_heads > 0) key_value_heads.fallback = variant.key_value_heads;
  head_width.otherwise = "hidden_size / num_attention_heads";
  if (variant.head_width > 0) head_width.fallback = variant.head_width;
}

std::vector<ConfigKey> DecoderKeys::All(const DecoderVariant& variant) const {
  std::vector<ConfigKey> all = {
      &vocabulary, &hidden,    &layers,     &heads,   &key_value_heads,  &head_width,
      &inner,      &positions, &activation, &epsilon, &attention_dropout};
  if (variant.attention_bias_key) all.emplace_back(&attention_bias);
  if (variant.feed_forward_bias_key) all.emplace_back(&feed_forward_bias);
  for (const ConfigKey key : {ConfigKey(&kRopeParameters), ConfigKey(&kRopeScaling),
                              ConfigKey(&base), ConfigKey(&is_causal)}) {
    all.push_back(key);
  }
  if (variant.windows != WindowRule::kNone) all.emplace_back(&window);
  if (variant.windows == WindowRule::kUpperLayers) {
    all.insert(all.end(), {&use_window, &first_window, &kLayerTypes});
  }
  if (variant.windows == WindowRule::kPattern) all.insert(all.end(), {&pattern, &kLayerTypes});
  return all;
}

namespace {

int64_t KeyValueHeads(const Settings& config, const DecoderKeys& keys, int64_t heads) {
  // null: as many as query heads, also in families that have another default.
  const bool as_heads = !keys.key_value_heads.fallback || config.IsNull(keys.key_value_heads.name);
  const int64_t count = as_heads && !config.Has(keys.key_value_heads.name)
                            ? heads
                            : Read(config, keys.key_value_heads);
  if (heads % count != 0) {
    config.Fail(keys.key_value_heads.name,
                fmt::format("a divisor of {} {}", keys.heads.name, heads));
  }
  return count;
}

int64_t HeadWidthOf(const Settings& config, const DecoderKeys& keys, const EncoderSpec& spec) {
  const bool stated = keys.head_width.fallback || config.Has(keys.head_width.name);
  const int64_t width = stated ? Read(config, keys.head_width)
                               : HeadWidth(config, keys.heads.name, keys.hidden.name, spec);
  if (width % 2 != 0) {
    config.Fail(
        stated ? keys.head_width.name : keys.heads.name,
        fmt::format("heads of an even number of channels, not {}, for rotary positions,", width));
  }
  return width;
}

// Returns how far a token may read with sliding_window w in transformers: causal, the w - 1 before
// it; bidirectional, w on each side.
int64_t Distance(const Settings& config, const DecoderKeys& keys, bool causal) {
  const int64_t window = Read(config, keys.window);
  return causal ? window - 1 : window;
}

// Says which layers slide, by the variant's rule.
std::vector<bool> SlidingLayers(const Settings& config, const DecoderVariant& variant,
                                const DecoderKeys& keys) {
  const auto layers = static_cast<size_t>(Read(config, keys.layers));
  if (variant.windows == WindowRule::kAllLayers) {
    return std::vector<bool>(layers, !config.IsNull(keys.window.name));
  }
  if (variant.windows == WindowRule::kNone) return std::vector<bool>(layers, false);
  const bool any = Read(config, keys.use_window) && !config.IsNull(keys.window.name);
  const int64_t first = Read(config, keys.first_window);
  std::vector<bool> sliding = ReadSlidingLayers(config, static_cast<int64_t>(layers),
                                                [&](int64_t i) { return any && i >= first; });
  for (const bool slides : sliding) {
    if (slides && !any) {
      config.Fail(keys.use_window.name, "true, because layer_types names sliding_attention,");
    }
  }
  return sliding;
}

LayerSpec Layer(SpecBuilder* build, const EncoderSpec& spec, const DecoderVariant& variant,
                const std::string& layer, const std::array<bool, 3>& biases) {
  const auto [qkv_bias, output_bias, inner_bias] = biases;
  const int64_t hidden = spec.hidden_size, inner = spec.intermediate_size;
  const int64_t queries = spec.heads * spec.head_width;
  const int64_t keys = spec.key_value_heads * spec.head_width;
  const std::string self = layer + "self_attn.";
  LayerSpec made;
  made.attention_norm = build->Norm(layer + "input_layernorm", hidden, false);
  made.query_key_value =
      build->Stacked({{self + "q_proj", queries}, {self + "k_proj", keys}, {self + "v_proj", keys}},
                     hidden, qkv_bias);
  if (variant.head_norms) {
    made.query_norm = build->Norm(self + "q_norm", spec.head_width, false);
    made.key_norm = build->Norm(self + "k_norm", spec.head_width, false);
  }
  made.attention_output = build->Linear(self + "o_proj", hidden, queries, output_bias);
  const NormSpec second = build->Norm(layer + "post_attention_layernorm", hidden, false);
  if (variant.output_norms) {
    made.attention_output_norm = second;
    made.feed_forward_norm = build->Norm(layer + "pre_feedforward_layernorm", hidden, false);
    made.feed_forward_output_norm =
        build->Norm(layer + "post_feedforward_layernorm", hidden, false);
  } else {
    made.feed_forward_norm = second;
  }
  made.up = build->Stacked({{layer + "mlp.gate_proj", inner}, {layer + "mlp.up_proj", inner}},
                           hidden, inner_bias);
  made.down = build->Linear(layer + "mlp.down_proj", hidden, inner, inner_bias);
  return made;
}

}  // namespace

EncoderSpec ReadDecoderSizes(const Settings& config, const DecoderVariant& variant) {
  const DecoderKeys keys(variant);
  EncoderSpec spec;
  spec.vocabulary_size = Read(config, keys.vocabulary);
  spec.hidden_size = Read(config, keys.hidden);
  spec.heads = Read(config, keys.heads);
  spec.key_value_heads = KeyValueHeads(config, keys, spec.heads);
  spec.head_width = HeadWidthOf(config, keys, spec);
  spec.intermediate_size = Read(config, keys.inner);
  spec.max_positions = Read(config, keys.positions);
  spec.pre_norm = true;
  spec.norm = NormKind::kRms;
  spec.norm_epsilon = Read(config, keys.epsilon);
  spec.activation = HiddenActivationFrom(Read(config, keys.activation));
  spec.gated = true;
  spec.dropout = {.attention = Read(config, keys.attention_dropout)};
  spec.layer_prefix = "layers.";
  spec.layers_key = keys.layers.name;
  return spec;
}

void AddDecoderLayers(const Settings& config, const DecoderVariant& variant,
                      const std::vector<AttentionSpec>& attention, EncoderSpec* spec) {
  const DecoderKeys keys(variant);
  const bool stated = variant.attention_bias_key && Read(config, keys.attention_bias);
  const std::array<bool, 3> biases = {
      stated || variant.query_key_value_bias, stated,
      variant.feed_forward_bias_key && Read(config, keys.feed_forward_bias)};
  SpecBuilder build(spec);
  spec->embedding.word =
      build.Table("embed_tokens.weight", spec->vocabulary_size, spec->hidden_size);
  for (size_t i = 0; i < attention.size(); ++i) {
    const std::string layer = fmt::format("{}{}.", spec->layer_prefix, i);
    spec->layers.push_back(Layer(&build, *spec, variant, layer, biases));
    spec->layers.back().attention = attention[i];
  }
  spec->final_norm = build.Norm("norm", spec->hidden_size, false);
}

EncoderSpec ReadDecoder(const Settings& config, const DecoderVariant& variant) {
  const DecoderKeys keys(variant);
  EncoderSpec spec = ReadDecoderSizes(config, variant);
  spec.rotaries = {ReadRotary(config, {.base_key = keys.base.name}, spec.head_width)};
  const bool causal = Read(config, keys.is_causal);
  std::vector<AttentionSpec> attention;
  for (const bool slides : SlidingLayers(config, variant, keys)) {
    attention.push_back({.scale = 1 / std::sqrt(static_cast<double>(spec.head_width)),
                         .causal = causal,
                         .window = slides ? Distance(config, keys, causal) : 0,
                         .rotary = 0});
  }
  AddDecoderLayers(config, variant, attention, &spec);
  return spec;
}

}  // namespace tandem::weights

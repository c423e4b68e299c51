// Gemma 3's text model (Gemma Team 2025) and EmbeddingGemma (Vera et al. 2025), as transformers'
// Gemma3TextModel computes them: norms multiply by 1 + weight and are also behind attention and
// feed-forward, embeddings are scaled, most layers read a window and have a rotary base of their
// own. EmbeddingGemma is bidirectional (use_bidirectional_attention).
#include <cmath>

#include "weights/families/decoder.h"
#include "weights/settings/layer_kinds.h"
#include "weights/settings/rotary_settings.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr DecoderVariant kGemma3Variant{.activation_key = "hidden_activation",
                                        .activation = "gelu_pytorch_tanh",
                                        .max_positions = 131'072,
                                        .key_value_heads = 4,
                                        .head_width = 256,
                                        .attention_bias_key = true,
                                        .head_norms = true,
                                        .output_norms = true,
                                        .windows = WindowRule::kPattern};

constexpr NumberKey kQueryScale{"query_pre_attn_scalar", "scores are divided by its square root",
                                1e-6, 1e9, 256};
constexpr BooleanKey kBidirectional{"use_bidirectional_attention",
                                    "a token reads tokens on both sides, half a window each"};
constexpr NumberKey kBase{"rope_theta",
                          "in older files: base of rotary positions of layers that read all", 1,
                          1e12, 1'000'000};
constexpr NumberKey kLocalBase{"rope_local_base_freq",
                               "in older files: base of rotary positions of sliding layers", 1,
                               1e12, 10'000};
constexpr OtherKey kSoftCap{"attn_logit_softcapping",
                            "must be null: transformers does not compute it for Gemma 3"};

std::vector<ConfigKey> Keys() {
  static const DecoderKeys keys(kGemma3Variant);
  std::vector<ConfigKey> all = keys.All(kGemma3Variant);
  std::erase(all, ConfigKey(&keys.base));
  all.insert(all.end(), {&kBase, &kLocalBase, &kQueryScale, &kBidirectional, &kSoftCap});
  return all;
}

// How far away the tokens are that a sliding layer reads, as transformers computes it.
int64_t Distance(int64_t window, bool halved, bool is_causal) {
  if (halved) return window / 2 + (is_causal ? 0 : 1);
  return is_causal ? window - 1 : window;
}

EncoderSpec ReadGemma3(const Settings& config) {
  const DecoderKeys keys(kGemma3Variant);
  EncoderSpec spec = ReadDecoderSizes(config, kGemma3Variant);
  if (config.Has(kSoftCap.name)) config.Fail(kSoftCap.name, "null (the only supported value)");
  spec.norm = NormKind::kRmsPlusOne;
  // transformers keeps it as a float.
  spec.embedding.scale = static_cast<float>(std::sqrt(static_cast<double>(spec.hidden_size)));
  spec.rotaries = {
      ReadRotary(config, {"full_attention", kBase.name, kBase.fallback}, spec.head_width),
      ReadRotary(config,
                 {"sliding_attention", kLocalBase.name, kLocalBase.fallback,
                  /*scaled=*/false},
                 spec.head_width)};
  const bool both_sides = Read(config, kBidirectional), is_causal = Read(config, keys.is_causal);
  const int64_t pattern = Read(config, keys.pattern);
  std::vector<AttentionSpec> attention;
  for (const bool slides : ReadSlidingLayers(config, Read(config, keys.layers),
                                             [&](int64_t i) { return (i + 1) % pattern != 0; })) {
    attention.push_back(
        {.scale = 1 / std::sqrt(Read(config, kQueryScale)),
         .causal = is_causal && !both_sides,
         .window = slides ? Distance(Read(config, keys.window), both_sides, is_causal) : 0,
         .rotary = slides ? 1 : 0});
  }
  AddDecoderLayers(config, kGemma3Variant, attention, &spec);
  return spec;
}

constexpr std::string_view kModelTypes[] = {"gemma3_text"};

}  // namespace

extern const Architecture kGemma3{
    .name = "gemma3",
    .summary = "decoder with norms around each layer and windows: Gemma 3 (text), EmbeddingGemma",
    .source = "Gemma Team 2025; Vera et al. 2025",
    .tokenizers = "BPE with byte fallback",
    .model_types = kModelTypes,
    .prefixes = kDecoderPrefixes,
    .keys =
        [] {
          static const std::vector<ConfigKey> all = Keys();
          return std::span<const ConfigKey>(all);
        },
    .read = ReadGemma3,
    .decoder = true,
};

}  // namespace tandem::weights

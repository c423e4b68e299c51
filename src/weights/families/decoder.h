// The parts that the decoders of the Llama family share: pre-norm layers with RMS norms and gated
// feed-forward, rotary positions, and queries that share heads of keys and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "weights/architecture.h"

namespace tandem::weights {

// Says how config.json says which layers read a window of tokens.
enum class WindowRule {
  kNone,
  kAllLayers,    // all, where sliding_window is a number
  kUpperLayers,  // use_sliding_window, max_window_layers, layer_types
  kPattern,      // sliding_window_pattern, layer_types; two rotary bases
};

// Says how a family differs from the others. Defaults are those of its configuration class in
// transformers.
struct DecoderVariant {
  std::string_view activation_key = "hidden_act";
  std::string_view activation = "silu";
  int64_t max_positions = 0;
  int64_t key_value_heads = 0;         // 0: as many as heads
  int64_t head_width = 0;              // 0: hidden_size / num_attention_heads
  bool attention_bias_key = false;     // config.json says whether attention has biases
  bool query_key_value_bias = false;   // where it does not say so
  bool feed_forward_bias_key = false;  // config.json says whether feed-forward has biases
  bool head_norms = false;             // q_norm and k_norm
  bool output_norms = false;           // of what attention and feed-forward add
  WindowRule windows = WindowRule::kNone;
};

// The keys that a variant reads.
struct DecoderKeys {
  explicit DecoderKeys(const DecoderVariant& variant);

  IntegerKey vocabulary{"vocab_size", "rows of the word table"};
  IntegerKey hidden{"hidden_size", "channels of a token"};
  IntegerKey layers{"num_hidden_layers", "layers", 1, kMaxLayers};
  IntegerKey heads{"num_attention_heads", "query heads"};
  IntegerKey key_value_heads{"num_key_value_heads",
                             "heads of keys and values; a divisor of num_attention_heads"};
  IntegerKey head_width{"head_dim", "channels of a head; even"};
  IntegerKey inner{"intermediate_size", "inner width of feed-forward layers"};
  IntegerKey positions{"max_position_embeddings", "most tokens of a text"};
  ChoiceKey activation;
  NumberKey epsilon{"rms_norm_eps", "epsilon of RMS norms", 0, 1, 1e-6};
  NumberKey attention_dropout{"attention_dropout", "dropout of attention probabilities", 0, 0.99,
                              0};
  BooleanKey attention_bias{"attention_bias", "linear maps of attention have biases"};
  BooleanKey feed_forward_bias{"mlp_bias", "linear maps of feed-forward layers have biases"};
  // transformers makes a decoder bidirectional by this key from release 5.2 on.
  BooleanKey is_causal{"is_causal", "a token reads only tokens up to itself", true};
  NumberKey base{"rope_theta", "base of rotary positions, in older files", 1, 1e12, 10'000};
  IntegerKey window{"sliding_window",
                    "tokens that a token reads, itself included; bidirectional: on each side", 2,
                    kMaxSize, 4096};
  BooleanKey use_window{"use_sliding_window", "whether any layer reads a window"};
  IntegerKey first_window{"max_window_layers", "the first layer that reads a window", 0, kMaxLayers,
                          28};
  IntegerKey pattern{"sliding_window_pattern",
                     "in older files: each of so many layers reads all tokens", 1, kMaxLayers, 6};

  // Pointers into this.
  std::vector<ConfigKey> All(const DecoderVariant& variant) const;
};

// All but layers, rotary positions and tensors.
EncoderSpec ReadDecoderSizes(const Settings& config, const DecoderVariant& variant);

// Adds the tables, layers and norms of a spec that has its sizes; `attention` says how each layer
// attends.
void AddDecoderLayers(const Settings& config, const DecoderVariant& variant,
                      const std::vector<AttentionSpec>& attention, EncoderSpec* spec);

// Llama, Mistral, Qwen: ReadDecoderSizes, one base of rotary positions, windows by the variant's
// rule, and AddDecoderLayers.
EncoderSpec ReadDecoder(const Settings& config, const DecoderVariant& variant);

// Keys and reader of a variant, as an entry of the catalogue has them. Its name must be its own in
// the whole program: g++ 14 takes the instances for local constants of the same name in two files
// for one function.
template <const DecoderVariant& kVariant>
std::span<const ConfigKey> KeysOfDecoder() {
  static const DecoderKeys keys(kVariant);
  static const std::vector<ConfigKey> all = keys.All(kVariant);
  return all;
}
template <const DecoderVariant& kVariant>
EncoderSpec ReadDecoderOf(const Settings& config) {
  return ReadDecoder(config, kVariant);
}

// Prefixes of their tensors in files.
inline constexpr std::string_view kDecoderPrefixes[] = {"model."};

}  // namespace tandem::weights

// Describes as data what an encoder computes and with which tensors: an architecture's file makes
// it from config.json, and model/encoders/transformer.cc computes it. So a new architecture needs
// no code that knows tensors.
//
// H hidden, F inner width of feed-forward layers, V vocabulary, P positions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weights/safetensors/safetensors.h"

namespace tandem::weights {

// A tensor that the encoder needs: its canonical name (that of the architecture's plain model class
// in transformers) and shape.
struct EncoderTensor {
  std::string name;
  Shape shape;
  std::vector<std::string> aliases;  // other canonical names that files have for it
  const TensorView* view = nullptr;  // F32, F16 or BF16, of that shape; its name is the file's
};

enum class NormKind {
  kLayerNorm,
  kRms,
  kRmsPlusOne,  // multiplies by 1 + weight
};

// NAME.weight [H] and, with a bias, NAME.bias [H]. An empty name: there is no normalisation.
struct NormSpec {
  std::string name;
  bool bias = false;
};

// One linear map whose outputs are stacked from NAME.weight [out, in] and, with biases, NAME.bias
// [out] of each name.
struct LinearSpec {
  std::vector<std::string> names;
  bool bias = false;
};

enum class HiddenActivation {
  kGelu,      // by the error function
  kGeluTanh,  // by tanh
  kRelu,
  kSilu,
};

// Rotary positions: channels c and c + width / 2 of a head turn by position *
// inverse_frequencies[c].
struct RotarySpec {
  std::vector<float>
      inverse_frequencies;  // [head_width / 2], as transformers computes them in float
  double factor = 1;        // cosines and sines are multiplied by it
  std::string text;         // "base 10000", for settings and people
};

// A table [buckets, heads] of what is added to scores by the distance of query and key.
struct RelativeBiasSpec {
  std::string name;  // NAME.weight
  int64_t max_distance = 128;
};

struct AttentionSpec {
  double scale = 1;     // of q k^T
  bool causal = false;  // a token reads only tokens up to itself
  int64_t window = 0;   // and only tokens at most so far away; 0: all
  double soft_cap = 0;  // scores become cap tanh(score / cap); 0: they stay
  int rotary = -1;      // index into EncoderSpec::rotaries; -1: nothing is turned
};

struct LayerSpec {
  // It follows attention's residual sum (post-norm) or precedes attention (pre-norm, optional).
  NormSpec attention_norm;
  LinearSpec query_key_value;
  NormSpec query_norm, key_norm;  // of each head's row, before positions; usually missing
  AttentionSpec attention;
  LinearSpec attention_output;
  NormSpec attention_output_norm;  // pre-norm only: of what is added to the residual
  // It is placed as attention_norm is for attention.
  NormSpec feed_forward_norm;
  LinearSpec up;  // gated: [2F, H], the half that is activated first
  LinearSpec down;
  NormSpec feed_forward_output_norm;
};

struct EmbeddingSpec {
  std::string word;             // the table [V, H]; with ".weight"
  std::string position, type;   // tables of positions and token types; empty: none
  int64_t position_offset = 0;  // row of position 0 in the position table
  // The id of a token that takes no position: it reads the row before that of position 0, and the
  // tokens after it go on counting as if it were not there.
  std::optional<int32_t> unplaced_id;
  NormSpec norm;
  double scale = 1;  // of the sum
};

// Rates of config.json; none where the architecture drops nothing at that place.
struct DropoutSpec {
  std::optional<double> embedding;            // of the embeddings
  std::optional<double> attention;            // of attention probabilities
  std::optional<double> attention_output;     // of what an attention layer adds
  std::optional<double> feed_forward_output;  // of what a feed-forward layer adds
  std::optional<double> inner;                // of a feed-forward layer's inner values
  std::optional<double> final;                // of the encoder's output
};

struct EncoderSpec {
  std::string architecture;  // the catalogue's name, "bert"
  std::string model_type;    // as config.json spells it, "xlm-roberta"
  int64_t vocabulary_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;  // F
  int64_t heads = 0, key_value_heads = 0, head_width = 0;
  int64_t max_positions = 0;   // a text has at most this many tokens
  int64_t default_tokens = 0;  // where no file says where texts are cut; 0: at max_positions
  // Says whether layers normalise what they read; otherwise the sum of what they read and add.
  bool pre_norm = false;
  NormKind norm = NormKind::kLayerNorm;
  double norm_epsilon = 1e-12;
  HiddenActivation activation = HiddenActivation::kGelu;
  bool gated = false;
  EmbeddingSpec embedding;
  std::vector<RotarySpec> rotaries;
  std::optional<RelativeBiasSpec> relative_bias;  // of every layer
  std::vector<LayerSpec> layers;
  std::string layer_prefix;  // layer 3's tensors are "encoder.layer." "3." ...
  std::string layers_key;    // of config.json: how many layers there are
  NormSpec final_norm;
  DropoutSpec dropout;

  // The tensors of all of the above, in a fixed order.
  std::vector<EncoderTensor> tensors;
};

// "gelu", "gelu_tanh", "relu", "silu".
std::string_view HiddenActivationName(HiddenActivation activation);

// "post-norm, layer norm, epsilon 1e-12".
std::string NormText(const EncoderSpec& spec);

// "causal, window 63, scale 0.125, rotary base 10000". A window is how far away a token may be.
std::string AttentionText(const EncoderSpec& spec, const AttentionSpec& attention);

// Returns the settings that decide an embedding besides the tensors, as lines of text, for
// fingerprints and messages.
std::string SpecText(const EncoderSpec& spec);

}  // namespace tandem::weights

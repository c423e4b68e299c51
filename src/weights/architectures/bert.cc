// BERT (Devlin et al. 2019), as transformers' BertModel computes it: word, position and type
// embeddings, then layers of self-attention and feed-forward, each followed by
// LayerNorm(x + dropout(f(x))). The pooler is not part of it.
#include <fmt/format.h>

#include <cmath>

#include "weights/architecture.h"
#include "weights/settings_file.h"
#include "weights/spec_builder.h"

namespace tandem::weights {
namespace {

constexpr IntegerKey kVocabulary{"vocab_size", "rows of the word table"};
constexpr IntegerKey kHidden{"hidden_size", "channels of a token"};
constexpr IntegerKey kLayers{"num_hidden_layers", "layers", 1, kMaxLayers};
constexpr IntegerKey kHeads{"num_attention_heads", "attention heads; a divisor of hidden_size"};
constexpr IntegerKey kInner{"intermediate_size", "inner width of feed-forward layers"};
constexpr IntegerKey kPositions{"max_position_embeddings", "rows of the position table"};
constexpr IntegerKey kTypes{"type_vocab_size", "rows of the token type table", 1, kMaxSize, 2};
constexpr std::string_view kActivations[] = {"gelu"};
constexpr ChoiceKey kActivation{"hidden_act", "activation of feed-forward layers", kActivations,
                                "gelu"};
constexpr NumberKey kEpsilon{"layer_norm_eps", "epsilon of layer norms", 0, 1, 1e-12};
constexpr NumberKey kHiddenDropout{"hidden_dropout_prob", "dropout of embeddings and layers", 0,
                                   0.99, 0.1};
constexpr NumberKey kAttentionDropout{"attention_probs_dropout_prob",
                                      "dropout of attention probabilities", 0, 0.99, 0.1};
constexpr std::string_view kPositionKinds[] = {"absolute"};
constexpr ChoiceKey kPositionKind{"position_embedding_type", "how positions enter", kPositionKinds,
                                  "absolute"};
constexpr BooleanKey kDecoder{"is_decoder", "must be false", false};
constexpr BooleanKey kCross{"add_cross_attention", "must be false", false};

constexpr ConfigKey kKeys[] = {
    &kVocabulary,       &kHidden,       &kLayers,     &kHeads,   &kInner,
    &kPositions,        &kTypes,        &kActivation, &kEpsilon, &kHiddenDropout,
    &kAttentionDropout, &kPositionKind, &kDecoder,    &kCross};

LayerSpec Layer(SpecBuilder* build, const EncoderSpec& spec, const std::string& layer) {
  const int64_t hidden = spec.hidden_size;
  const std::string self = layer + "attention.self.";
  LayerSpec made;
  made.query_key_value = build->Stacked(
      {{self + "query", hidden}, {self + "key", hidden}, {self + "value", hidden}}, hidden, true);
  made.attention.scale = 1 / std::sqrt(static_cast<double>(spec.head_width));
  made.attention_output = build->Linear(layer + "attention.output.dense", hidden, hidden, true);
  made.attention_norm = build->Norm(layer + "attention.output.LayerNorm", hidden, true);
  made.up = build->Linear(layer + "intermediate.dense", spec.intermediate_size, hidden, true);
  made.down = build->Linear(layer + "output.dense", hidden, spec.intermediate_size, true);
  made.feed_forward_norm = build->Norm(layer + "output.LayerNorm", hidden, true);
  return made;
}

EncoderSpec ReadBert(const Settings& config) {
  // Variants that compute something else with the same tensors.
  Read(config, kPositionKind);
  for (const BooleanKey* key : {&kDecoder, &kCross}) {
    if (Read(config, *key)) config.Fail(key->name, "false (an encoder)");
  }
  EncoderSpec spec;
  spec.vocabulary_size = Read(config, kVocabulary);
  spec.hidden_size = Read(config, kHidden);
  const int64_t layers = Read(config, kLayers);
  spec.heads = spec.key_value_heads = Read(config, kHeads);
  spec.intermediate_size = Read(config, kInner);
  spec.max_positions = Read(config, kPositions);
  const int64_t types = Read(config, kTypes);
  Read(config, kActivation);
  spec.norm_epsilon = Read(config, kEpsilon);
  spec.dropout.embedding = spec.dropout.hidden = Read(config, kHiddenDropout);
  spec.dropout.attention = Read(config, kAttentionDropout);
  if (spec.hidden_size % spec.heads != 0) {
    config.Fail(kHeads.name, fmt::format("a divisor of hidden_size {}", spec.hidden_size));
  }
  spec.head_width = spec.hidden_size / spec.heads;
  SpecBuilder build(&spec);
  spec.embedding.word =
      build.Table("embeddings.word_embeddings.weight", spec.vocabulary_size, spec.hidden_size);
  spec.embedding.position =
      build.Table("embeddings.position_embeddings.weight", spec.max_positions, spec.hidden_size);
  spec.embedding.type =
      build.Table("embeddings.token_type_embeddings.weight", types, spec.hidden_size);
  spec.embedding.norm = build.Norm("embeddings.LayerNorm", spec.hidden_size, true);
  for (int64_t i = 0; i < layers; ++i) {
    spec.layers.push_back(Layer(&build, spec, fmt::format("encoder.layer.{}.", i)));
  }
  return spec;
}

constexpr std::string_view kModelTypes[] = {"bert"};
constexpr std::string_view kPrefixes[] = {"bert."};

}  // namespace

extern const Architecture kBert{
    .name = "bert",
    .summary = "post-norm encoder with learned positions: MiniLM, BGE, E5, GTE",
    .source = "Devlin et al. 2019",
    .model_types = kModelTypes,
    .prefixes = kPrefixes,
    .keys = kKeys,
    .read = ReadBert,
};

}  // namespace tandem::weights

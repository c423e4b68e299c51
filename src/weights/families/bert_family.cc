#include "weights/families/bert_family.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "weights/settings/activation_key.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr IntegerKey kVocabulary{"vocab_size", "rows of the word table"};
constexpr IntegerKey kHidden{"hidden_size", "channels of a token"};
constexpr IntegerKey kLayers{"num_hidden_layers", "layers", 1, kMaxLayers};
constexpr IntegerKey kHeads{"num_attention_heads", "attention heads; a divisor of hidden_size"};
constexpr IntegerKey kInner{"intermediate_size", "inner width of feed-forward layers"};
constexpr IntegerKey kPositions{"max_position_embeddings", "rows of the position table"};
constexpr IntegerKey kTypes{"type_vocab_size", "rows of the token type table", 1, kMaxSize, 2};
constexpr ChoiceKey kActivation{"hidden_act", "activation of feed-forward layers",
                                kActivationSpellings, "gelu"};
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

const PostNormNames kNames{.query = "attention.self.query",
                           .key = "attention.self.key",
                           .value = "attention.self.value",
                           .output = "attention.output.dense",
                           .output_norm = "attention.output.LayerNorm",
                           .up = "intermediate.dense",
                           .down = "output.dense",
                           .norm = "output.LayerNorm"};

// Variants that compute something else with the same tensors.
void CheckIsEncoder(const Settings& config) {
  Read(config, kPositionKind);
  for (const BooleanKey* key : {&kDecoder, &kCross}) {
    if (Read(config, *key)) config.Fail(key->name, "false (an encoder)");
  }
}

void AddEmbeddings(SpecBuilder* build, int64_t positions, int64_t types, EncoderSpec* spec) {
  EmbeddingSpec& embedding = spec->embedding;
  const int64_t hidden = spec->hidden_size;
  embedding.word = build->Table("embeddings.word_embeddings.weight", spec->vocabulary_size, hidden);
  embedding.position = build->Table("embeddings.position_embeddings.weight", positions, hidden);
  embedding.type = build->Table("embeddings.token_type_embeddings.weight", types, hidden);
  embedding.norm = build->Norm("embeddings.LayerNorm", hidden, true);
}

}  // namespace

std::span<const ConfigKey> BertFamilyKeys() { return kKeys; }

EncoderSpec ReadBertFamily(const Settings& config, const BertVariant& variant) {
  CheckIsEncoder(config);
  EncoderSpec spec;
  spec.vocabulary_size = Read(config, kVocabulary);
  spec.hidden_size = Read(config, kHidden);
  const int64_t layers = Read(config, kLayers);
  spec.heads = spec.key_value_heads = Read(config, kHeads);
  spec.intermediate_size = Read(config, kInner);
  const int64_t positions = Read(config, kPositions);
  spec.max_positions = positions - variant.position_offset;
  if (spec.max_positions < 1) {
    config.Fail(kPositions.name, fmt::format("more than {}, which precede the first position,",
                                             variant.position_offset));
  }
  const int64_t types = Read(config, kTypes);
  spec.activation = HiddenActivationFrom(Read(config, kActivation));
  spec.norm_epsilon = Read(config, kEpsilon);
  const double dropout = Read(config, kHiddenDropout);
  spec.dropout = {.embedding = dropout,
                  .attention = Read(config, kAttentionDropout),
                  .attention_output = dropout,
                  .feed_forward_output = dropout};
  spec.head_width = HeadWidth(config, kHeads.name, kHidden.name, spec);
  SpecBuilder build(&spec);
  AddEmbeddings(&build, positions, types, &spec);
  spec.embedding.position_offset = variant.position_offset;
  spec.layer_prefix = "encoder.layer.";
  spec.layers_key = kLayers.name;
  AddPostNormLayers(&build, layers, kNames, &spec);
  return spec;
}

void AddPostNormLayers(SpecBuilder* build, int64_t layers, const PostNormNames& names,
                       EncoderSpec* spec) {
  const int64_t hidden = spec->hidden_size, inner = spec->intermediate_size;
  for (int64_t i = 0; i < layers; ++i) {
    const std::string layer = fmt::format("{}{}.", spec->layer_prefix, i);
    LayerSpec made;
    made.query_key_value = build->Stacked(
        {{layer + names.query, hidden}, {layer + names.key, hidden}, {layer + names.value, hidden}},
        hidden, true);
    made.attention.scale = 1 / std::sqrt(static_cast<double>(spec->head_width));
    made.attention_output = build->Linear(layer + names.output, hidden, hidden, true);
    made.attention_norm = build->Norm(layer + names.output_norm, hidden, true);
    made.up = build->Linear(layer + names.up, inner, hidden, true);
    made.down = build->Linear(layer + names.down, hidden, inner, true);
    made.feed_forward_norm = build->Norm(layer + names.norm, hidden, true);
    spec->layers.push_back(std::move(made));
  }
}

}  // namespace tandem::weights

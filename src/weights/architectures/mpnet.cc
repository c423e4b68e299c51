// MPNet (Song et al. 2020), as transformers' MPNetModel computes it: BERT with a bias of scores by
// relative position, which all layers share, and positions from row 2 of their table, where
// padding tokens inside a text take none.
#include "weights/families/bert_family.h"
#include "weights/settings/activation_key.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

// transformers computes with these, whatever config.json says.
constexpr int32_t kPadding = 1;
constexpr int64_t kBuckets = 32;
constexpr int64_t kMaxDistance = 128;

constexpr IntegerKey kVocabulary{"vocab_size", "rows of the word table"};
constexpr IntegerKey kHidden{"hidden_size", "channels of a token"};
constexpr IntegerKey kLayers{"num_hidden_layers", "layers", 1, kMaxLayers};
constexpr IntegerKey kHeads{"num_attention_heads", "attention heads; a divisor of hidden_size"};
constexpr IntegerKey kInner{"intermediate_size", "inner width of feed-forward layers"};
constexpr IntegerKey kPositions{"max_position_embeddings",
                                "rows of the position table, two more than a text has tokens", 3};
constexpr IntegerKey kBucketRows{"relative_attention_num_buckets", "rows of the relative bias",
                                 kBuckets, kBuckets, kBuckets};
constexpr ChoiceKey kActivation{"hidden_act", "activation of feed-forward layers",
                                kActivationSpellings, "gelu"};
constexpr NumberKey kEpsilon{"layer_norm_eps", "epsilon of layer norms", 0, 1, 1e-12};
constexpr NumberKey kHiddenDropout{"hidden_dropout_prob", "dropout of embeddings and layers", 0,
                                   0.99, 0.1};
constexpr NumberKey kAttentionDropout{"attention_probs_dropout_prob",
                                      "dropout of attention probabilities", 0, 0.99, 0.1};

constexpr ConfigKey kKeys[] = {&kVocabulary, &kHidden,        &kLayers,          &kHeads,
                               &kInner,      &kPositions,     &kBucketRows,      &kActivation,
                               &kEpsilon,    &kHiddenDropout, &kAttentionDropout};

const PostNormNames kNames{.query = "attention.attn.q",
                           .key = "attention.attn.k",
                           .value = "attention.attn.v",
                           .output = "attention.attn.o",
                           .output_norm = "attention.LayerNorm",
                           .up = "intermediate.dense",
                           .down = "output.dense",
                           .norm = "output.LayerNorm"};

EncoderSpec ReadSizes(const Settings& config) {
  EncoderSpec spec;
  spec.vocabulary_size = Read(config, kVocabulary);
  spec.hidden_size = Read(config, kHidden);
  spec.heads = spec.key_value_heads = Read(config, kHeads);
  spec.intermediate_size = Read(config, kInner);
  spec.max_positions = Read(config, kPositions) - kPadding - 1;
  Read(config, kBucketRows);
  spec.activation = HiddenActivationFrom(Read(config, kActivation));
  spec.norm_epsilon = Read(config, kEpsilon);
  const double dropout = Read(config, kHiddenDropout);
  spec.dropout = {.embedding = dropout,
                  .attention = Read(config, kAttentionDropout),
                  .attention_output = dropout,
                  .feed_forward_output = dropout};
  spec.head_width = HeadWidth(config, kHeads.name, kHidden.name, spec);
  return spec;
}

EncoderSpec ReadMpnet(const Settings& config) {
  EncoderSpec spec = ReadSizes(config);
  SpecBuilder build(&spec);
  const int64_t hidden = spec.hidden_size;
  spec.embedding.word =
      build.Table("embeddings.word_embeddings.weight", spec.vocabulary_size, hidden);
  spec.embedding.position = build.Table("embeddings.position_embeddings.weight",
                                        spec.max_positions + kPadding + 1, hidden);
  spec.embedding.position_offset = kPadding + 1;
  spec.embedding.unplaced_id = kPadding;
  spec.embedding.norm = build.Norm("embeddings.LayerNorm", hidden, true);
  spec.relative_bias = {"encoder.relative_attention_bias", kMaxDistance};
  build.Table(spec.relative_bias->name + ".weight", kBuckets, spec.heads);
  spec.layer_prefix = "encoder.layer.";
  spec.layers_key = kLayers.name;
  const int64_t layers = Read(config, kLayers);
  AddPostNormLayers(&build, layers, kNames, &spec);
  return spec;
}

constexpr std::string_view kModelTypes[] = {"mpnet"};
constexpr std::string_view kPrefixes[] = {"mpnet."};

}  // namespace

extern const Architecture kMpnet{
    .name = "mpnet",
    .summary = "BERT with a relative position bias that all layers share: all-mpnet-base-v2",
    .source = "Song et al. 2020",
    .tokenizers = "WordPiece",
    .model_types = kModelTypes,
    .prefixes = kPrefixes,
    .keys = [] { return std::span<const ConfigKey>(kKeys); },
    .read = ReadMpnet,
};

}  // namespace tandem::weights

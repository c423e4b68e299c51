// DistilBERT (Sanh et al. 2019), as transformers' DistilBertModel computes it: BERT without token
// types, and without dropout of what attention adds.
#include "weights/families/bert_family.h"
#include "weights/settings/activation_key.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr IntegerKey kVocabulary{"vocab_size", "rows of the word table"};
constexpr IntegerKey kHidden{"dim", "channels of a token"};
constexpr IntegerKey kLayers{"n_layers", "layers", 1, kMaxLayers};
constexpr IntegerKey kHeads{"n_heads", "attention heads; a divisor of dim"};
constexpr IntegerKey kInner{"hidden_dim", "inner width of feed-forward layers"};
constexpr IntegerKey kPositions{"max_position_embeddings", "rows of the position table", 1,
                                kMaxSize, 512};
constexpr ChoiceKey kActivation{"activation", "activation of feed-forward layers",
                                kActivationSpellings, "gelu"};
constexpr NumberKey kDropout{"dropout", "dropout of embeddings and feed-forward layers", 0, 0.99,
                             0.1};
constexpr NumberKey kAttentionDropout{"attention_dropout", "dropout of attention probabilities", 0,
                                      0.99, 0.1};

constexpr ConfigKey kKeys[] = {&kVocabulary, &kHidden,     &kLayers,  &kHeads,           &kInner,
                               &kPositions,  &kActivation, &kDropout, &kAttentionDropout};

const PostNormNames kNames{.query = "attention.q_lin",
                           .key = "attention.k_lin",
                           .value = "attention.v_lin",
                           .output = "attention.out_lin",
                           .output_norm = "sa_layer_norm",
                           .up = "ffn.lin1",
                           .down = "ffn.lin2",
                           .norm = "output_layer_norm"};

EncoderSpec ReadDistilBert(const Settings& config) {
  EncoderSpec spec;
  spec.vocabulary_size = Read(config, kVocabulary);
  spec.hidden_size = Read(config, kHidden);
  const int64_t layers = Read(config, kLayers);
  spec.heads = spec.key_value_heads = Read(config, kHeads);
  spec.intermediate_size = Read(config, kInner);
  spec.max_positions = Read(config, kPositions);
  spec.activation = HiddenActivationFrom(Read(config, kActivation));
  const double dropout = Read(config, kDropout);
  spec.dropout = {.embedding = dropout,
                  .attention = Read(config, kAttentionDropout),
                  .feed_forward_output = dropout};
  spec.head_width = HeadWidth(config, kHeads.name, kHidden.name, spec);
  SpecBuilder build(&spec);
  spec.embedding.word =
      build.Table("embeddings.word_embeddings.weight", spec.vocabulary_size, spec.hidden_size);
  spec.embedding.position =
      build.Table("embeddings.position_embeddings.weight", spec.max_positions, spec.hidden_size);
  spec.embedding.norm = build.Norm("embeddings.LayerNorm", spec.hidden_size, true);
  spec.layer_prefix = "transformer.layer.";
  spec.layers_key = kLayers.name;
  AddPostNormLayers(&build, layers, kNames, &spec);
  return spec;
}

constexpr std::string_view kModelTypes[] = {"distilbert"};
constexpr std::string_view kPrefixes[] = {"distilbert."};

}  // namespace

extern const Architecture kDistilBert{
    .name = "distilbert",
    .summary = "half of BERT, without token types: DistilBERT, TAS-B",
    .source = "Sanh et al. 2019",
    .tokenizers = "WordPiece; Unigram or byte-level BPE in some languages",
    .model_types = kModelTypes,
    .prefixes = kPrefixes,
    .keys = [] { return std::span<const ConfigKey>(kKeys); },
    .read = ReadDistilBert,
};

}  // namespace tandem::weights

// A model folder as names, shapes, bytes and settings: sentence-transformers' (before and after its
// release 5.4) or a plain Hugging Face one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weights/encoder_spec.h"
#include "weights/folders/model_files.h"
#include "weights/modules/head_module.h"
#include "weights/safetensors/safetensors.h"
#include "weights/safetensors/weight_files.h"
#include "weights/settings/tokenizer_settings.h"

namespace tandem::weights {

struct TandemFile;

enum class Similarity { kCosine, kDot };
std::string_view SimilarityName(Similarity similarity);  // "cosine", "dot"
std::optional<Similarity> SimilarityFromName(std::string_view name);

struct ModelFolder {
  std::filesystem::path path;
  // The folder of config.json and the weights: `path` or one below it (`0_Transformer`).
  std::filesystem::path encoder_path;
  ModelFiles files;  // of `path`, and what was read of them
  ModelFiles encoder_files() const { return files.At(encoder_path); }
  bool has_modules = false;  // false: plain Hugging Face folder (ReadModelFolder)

  EncoderSpec encoder;  // its tensors are all present, of the right shape and type
  // The value that SetCausal set, to be written to config.json; none leaves config.json's own.
  std::optional<bool> is_causal;
  // The number of layers that KeepLayers left, to be written to config.json; none: all.
  std::optional<int64_t> kept_layers;
  std::set<const TensorView*> dropped_tensors;  // of the other layers; they are not written
  std::vector<HeadModule> head;  // after the encoder, in order; exactly one Pooling, the first
  int64_t embedding_width = 0;   // E, after the head

  TokenizerSettings tokenizer;  // its max_tokens is always set

  // The prompts of config_sentence_transformers.json, and "query" and "document", which every model
  // has for sentence-transformers: empty where the file does not give them.
  std::map<std::string, std::string> prompts;
  std::string default_prompt_name;  // empty: none; one of `prompts`
  // The prompts that texts get unless the caller gives others: those named "query" and "document".
  // sentence-transformers' encode_query and encode_document use the same two. They never use other
  // names ("passage", "corpus") or `default_prompt_name`, because these two are always there.
  const std::string& query_prompt() const { return prompts.at("query"); }
  const std::string& document_prompt() const { return prompts.at("document"); }
  // The name of a prompt that other programs give to documents ("passage", "corpus") where the file
  // has no prompt named "document"; empty: there is none.
  std::string unused_document_prompt;
  Similarity similarity = Similarity::kCosine;
  // Embeddings are cut to so many leading numbers unless the caller wants others; as the file says,
  // possibly more than there are.
  std::optional<int64_t> truncate_dim;

  std::shared_ptr<const WeightFiles> weights;
  // The tensors that it does not use (pooler, position_ids, heads of other tasks). They are carried
  // through when the folder is written.
  std::vector<const TensorView*> carried_tensors;

  // The encoder's tensor of that canonical name; throws std::out_of_range for a name that no
  // encoder of this configuration has.
  const EncoderTensor& tensor(std::string_view name) const;
  // Parameters of encoder and modules, without carried tensors.
  int64_t parameter_count() const;
};

// Makes a decoder causal or bidirectional, whatever its config.json says. A plain folder then pools
// as one whose config.json says it (and says so with a Note). Throws UsageError for an encoder that
// cannot be so.
void SetCausal(ModelFolder* folder, bool is_causal);

// The name of AddProjection's module.
inline constexpr const char* kProjectionFolder = "projection";

// Adds a new Dense module without bias and activation at the end of the head, or before a Normalize
// that ends the head. The module has no weights yet: the caller that writes the folder gives
// "projection/linear.weight".
void AddProjection(ModelFolder* folder, int64_t width);

// Puts the modules that `from`/modules.json lists, as the folder of a PEFT adapter may, in place of
// what follows the encoder; without that file nothing changes. Says whether they have a Dense
// module more than before and the last one is a projection (as AddProjection's), which is called
// kProjectionFolder then. Throws ModelError.
bool TakeModules(const ModelFiles& from, ModelFolder* folder);

// Puts what the folder of a PEFT adapter says of the whole model in place of the folder's: prompts,
// similarity and truncate_dim, where it has a config_sentence_transformers.json, and lengths
// (TakeLengths). Throws ModelError.
void TakeSettings(const ModelFiles& from, ModelFolder* folder, TandemFile* file);

// The Pooling module of a folder; there is exactly one.
const Pooling& PoolingOf(const ModelFolder& folder);

// The changes to a folder's pooling; none: the folder's own value.
struct PoolingChange {
  std::optional<PoolingMode> mode;
  std::optional<bool> include_prompt;
};

// Changes the folder's pooling. Throws ModelError where the embeddings then have another width than
// a Dense module after it takes (the folder pools by several modes).
void ChangePooling(ModelFolder* folder, const PoolingChange& change);

// Warns where folder.unused_document_prompt is one; for callers that give documents the folder's
// own prompt.
void WarnOfUnusedDocumentPrompt(const ModelFolder& folder);

struct ReadOptions {
  // A sequence classifier is read as the plain folder of its encoder, without the map that gives
  // labels; otherwise it is an error (RefuseCrossEncoder).
  bool of_classifier = false;
};

// Reads and checks everything but the tokenizer; tensors stay mapped, nothing is copied. Throws
// ModelError naming file and key or tensor: no folder, no model in it, unsupported architecture,
// module, pooling or activation (with the supported ones), wrong or missing tensors, weights only
// as a pickle. A plain folder is pooled by the last token where config.json names a causal language
// model ("LlamaForCausalLM") that is not made bidirectional (`is_causal`), by the mean otherwise,
// as sentence-transformers 6.2 does; a Note says which.
ModelFolder ReadModelFolder(const ModelFiles& files, const ReadOptions& options = {});

}  // namespace tandem::weights

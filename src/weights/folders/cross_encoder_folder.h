// A folder of a cross-encoder, as sentence-transformers' CrossEncoder saves and loads it, or as
// transformers saves a sequence classifier: names, shapes, bytes and settings.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weights/classification_head.h"
#include "weights/encoder_spec.h"
#include "weights/safetensors/weight_files.h"
#include "weights/settings/tokenizer_settings.h"

namespace tandem::weights {

struct CrossEncoderFolder {
  std::filesystem::path path;
  std::filesystem::path encoder_path;  // of config.json and the weights
  EncoderSpec encoder;                 // its tensors are all present, of the right shape and type
  ClassificationSpec head;             // likewise
  TokenizerSettings tokenizer;
  // Pairs with more tokens are cut: what the tokenizer's settings say, at most the encoder's
  // positions.
  size_t max_tokens = 0;
  bool token_types = false;  // the encoder tells the two texts apart by token types
  std::string prompt;        // stands before the first text: the one of `default_prompt_name`
  // The function that CrossEncoder.predict applies to the logits, by the last part of its name:
  // "Sigmoid", "Identity", ...; Sigmoid for one label and Identity for more where the folder does
  // not say it.
  std::string activation;
  std::shared_ptr<const WeightFiles> weights;

  int64_t parameter_count() const;
};

// Says whether the folder holds a cross-encoder: config_sentence_transformers.json says so, or,
// where there is no such file, modules.json neither and config.json's "architectures" names a
// sequence classifier. It is false for a path that is no model folder at all.
bool IsCrossEncoder(const ModelFiles& files);

// Throws ModelError for a folder of a cross-encoder, which makes no embeddings: says what to do.
void RefuseCrossEncoder(const ModelFiles& files);

// Reads and checks everything but the tokenizer; tensors stay mapped. Throws ModelError as
// ReadModelFolder does, and for a classifier whose head is not known (with those that are).
CrossEncoderFolder ReadCrossEncoderFolder(const ModelFiles& files);

}  // namespace tandem::weights

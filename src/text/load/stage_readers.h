// Makes the stages of a tokenizer from the components of tokenizer.json, with one table for each
// kind of component (read_*.cc). A further component is a file of its own and one line in its
// table. Only source files of this room include it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/load/json_view.h"
#include "text/models/subword_model.h"
#include "text/models/vocabulary.h"
#include "text/normalizers/normalizer.h"
#include "text/post_processors/post_processor.h"
#include "text/pre_tokenizers/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace tandem::text {

// Each throws ModelError where the component is not supported, naming it and those that are.
// Nothing stands for `null`.
std::unique_ptr<const Normalizer> ReadNormalizer(const std::optional<JsonView>& view,
                                                 const TokenizerOptions& options);
// `keep_bytes`: what ByteLevel would write last in byte-level characters stays as it is.
std::unique_ptr<const PreTokenizer> ReadPreTokenizer(const std::optional<JsonView>& view,
                                                     bool keep_bytes);
// Says whether the last pre-tokenizer is ByteLevel.
bool EndsWithByteLevel(const std::optional<JsonView>& view);
// A model's vocabulary and merges are in `model`, and what else it needs in `options`: mostly the
// same object.
struct ModelViews {
  const JsonView& model;
  const JsonView& options;
};
// Adds the model's tokens to `vocabulary`, which is empty. `words_are_bytes`: words have not been
// written in byte-level characters, in which the vocabulary is spelled. Only BPE understands that.
std::unique_ptr<const SubwordModel> ReadModel(const ModelViews& views, bool words_are_bytes,
                                              Vocabulary* vocabulary);
// The model's "type", or what the file's fields say that it is.
std::string_view ModelType(const JsonView& view);
// The ids are not checked yet.
SpecialTokens ReadPostProcessor(const std::optional<JsonView>& view);

}  // namespace tandem::text

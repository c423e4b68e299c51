// Makes the stages of a tokenizer from the components of tokenizer.json, with one table for each
// kind of component (read_*.cc). A further component is a file of its own and one line in its
// table. For source files of this room only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "text/json_view.h"
#include "text/normalizer.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/subword_model.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace tandem::text {

// Each throws ModelError where the component is not supported, naming it and those that are.
// Nothing stands for `null`.
std::unique_ptr<const Normalizer> ReadNormalizer(const std::optional<JsonView>& view,
                                                 const TokenizerOptions& options);
std::unique_ptr<const PreTokenizer> ReadPreTokenizer(const std::optional<JsonView>& view);
// Adds the model's tokens to `vocabulary`, which is empty.
std::unique_ptr<const SubwordModel> ReadModel(const JsonView& view, Vocabulary* vocabulary);
// The ids are not checked yet.
SpecialTokens ReadPostProcessor(const std::optional<JsonView>& view);

}  // namespace tandem::text

// Counts the tokens that a model makes of documents, without loading its weights.
#pragma once

#include <filesystem>

#include "commands/pairs/pairs_command.h"
#include "documents/passages/passages.h"

namespace tandem::app {

// Makes a cutter for the passages that `options` ask for, by the tokenizer, the document prompt and
// the length of the model's folder. Throws UsageError for passages that the model would cut, or
// that leave no room for a text; ModelError.
documents::PassageCutter CutterFor(const PairsOptions& options);

}  // namespace tandem::app

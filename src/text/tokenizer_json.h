// Reading `tokenizer.json`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/pipeline_tokenizer.h"

namespace tandem::text {

// The stages that a `tokenizer.json` describes; its padding and truncation are left alone. `json`
// is the file's content, `file` its name in errors. Throws ModelError when the file is damaged,
// contradicts itself, or has a component that is not supported.
TokenizerStages ReadTokenizerJson(std::string_view json, const std::string& file,
                                  const TokenizerOptions& options = {});

}  // namespace tandem::text

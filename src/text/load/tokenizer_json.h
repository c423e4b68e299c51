// Reading `tokenizer.json`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/load/folder_tokens.h"
#include "text/pipeline_tokenizer.h"

namespace tandem::text {

// The stages that a `tokenizer.json` describes; of its padding and truncation, the direction of
// truncation alone is read. `json` is the file's content, `file` its name in errors. Throws
// ModelError when the file is damaged, contradicts itself, or has a component that is not
// supported.
TokenizerStages ReadTokenizerJson(std::string_view json, const std::string& file,
                                  const TokenizerOptions& options = {});

// The stages that transformers makes of it with `folder`, whose arguments take the file's tokens.
TokenizerStages ReadTokenizerJson(std::string_view json, const std::string& file,
                                  const TokenizerOptions& options, FolderClass* folder);

}  // namespace tandem::text

// A tokenizer from a bare `vocab.txt`, as BERT models had before tokenizer.json.
#pragma once

#include <string>
#include <string_view>

#include "text/load/folder_tokens.h"
#include "text/pipeline_tokenizer.h"

namespace tandem::text {

// One token per line of `text`, the line number its id; `file` is its name in errors. It is read as
// BertTokenizer or MPNetTokenizer reads it (text/classes/class_parts.h), as BertTokenizer where
// `folder` names no class. Throws ModelError for another class, and where the unknown token or one
// that stands around texts is not in the vocabulary.
TokenizerStages ReadVocabFile(std::string_view text, const std::string& file,
                              const TokenizerOptions& options, FolderClass* folder);

}  // namespace tandem::text

// A tokenizer from a bare `vocab.txt`, as BERT models had before tokenizer.json.
#pragma once

#include <filesystem>

#include "text/pipeline_tokenizer.h"

namespace tandem::text {

// One token per line, the line number its id. tokenizer_config.json says `do_lower_case` (default
// true), `strip_accents` (default: as lower-casing), `tokenize_chinese_chars` (default true) and
// the names of the special tokens, for which special_tokens_map.json is asked next. Of the special
// tokens [UNK], [CLS] and [SEP] must be in the vocabulary; the others are looked for in texts where
// they are. Throws ModelError.
TokenizerStages ReadVocabFile(const std::filesystem::path& folder,
                              const TokenizerOptions& options = {});

}  // namespace tandem::text

// The flags of commands that load a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::app {

class Flags;  // cli/flags.h

struct ModelFlags {
  std::string model;                       // folder
  std::optional<size_t> max_query_tokens;  // none: the folder's; 0: the encoder's limit
  std::optional<size_t> max_document_tokens;
  std::optional<int64_t> dimensions;  // none: the folder's truncate_dim; 0: full width
  // The name of one of the folder's prompts, or a text (weights::ChoosePrompt); none: the folder's
  // prompt "query" or "document".
  std::optional<std::string> prompt;
  bool prompts_documents = false;  // whether `prompt` is for documents instead of queries
};

// Adds --embeddings: a folder of kept embeddings (embeddings/layouts/kept.h), or one of parts
// (embeddings/layouts/parts.h).
void AddEmbeddingsFlag(Flags& flags, std::string& folder);
// Adds --embeddings for folders of parts only.
void AddPartsFlag(Flags& flags, std::string& folder);

// Adds --no-cache.
void AddCacheFlag(Flags& flags, bool& no_cache);
// The cache (base/files/cache_folder.h) unless --no-cache is given; empty: none.
std::filesystem::path CacheUnless(bool no_cache);
// The end of a message on work that was stopped: what the cache keeps of it; "" without a cache.
std::string KeptInCache(bool no_cache);

// Adds --max-query-tokens, --max-document-tokens and --dimensions; the command adds --model itself.
void AddLengthFlags(Flags& flags, ModelFlags& model);
// Adds these flags but --max-query-tokens, for commands that encode only documents.
void AddDocumentLengthFlags(Flags& flags, ModelFlags& model);

// Adds --prompt for `texts`: "queries", "the texts".
void AddPromptFlag(Flags& flags, ModelFlags& model, std::string_view texts);

}  // namespace tandem::app

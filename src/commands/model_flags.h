// Flags of commands that load a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::app {

class Flags;  // cli/flags.h

struct ModelFlags {
  std::string model;                       // folder
  std::optional<size_t> max_query_tokens;  // none: the folder's; 0: what the encoder takes
  std::optional<size_t> max_document_tokens;
  std::optional<int64_t> dimensions;  // none: the folder's truncate_dim; 0: whole embeddings
  // The name of one of the folder's prompts, or a text (weights::ChoosePrompt); none: the folder's
  // prompt "query" or "document".
  std::optional<std::string> prompt;
  bool prompts_documents = false;  // whether `prompt` is for documents, not for queries
};

// --embeddings: the folder of embeddings/layouts/kept.h, or one of parts
// (embeddings/layouts/parts.h).
void AddEmbeddingsFlag(Flags& flags, std::string& folder);
// The same for parts alone.
void AddPartsFlag(Flags& flags, std::string& folder);

// --max-query-tokens, --max-document-tokens and --dimensions; --model is the command's own.
void AddLengthFlags(Flags& flags, ModelFlags& model);
// The same without --max-query-tokens, where only documents are encoded.
void AddDocumentLengthFlags(Flags& flags, ModelFlags& model);

// --prompt, for `texts`: "queries", "the texts".
void AddPromptFlag(Flags& flags, ModelFlags& model, std::string_view texts);

}  // namespace tandem::app

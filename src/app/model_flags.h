// Flags of commands that load a model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tandem::app {

class Flags;  // app/flags.h

struct ModelFlags {
  std::string model;                       // folder
  std::optional<size_t> max_query_tokens;  // none: the folder's; 0: what the encoder takes
  std::optional<size_t> max_document_tokens;
};

// --embeddings: the folder of search/kept_embeddings.h.
void AddEmbeddingsFlag(Flags& flags, std::string& folder);

// --max-query-tokens and --max-document-tokens; --model is the command's own.
void AddLengthFlags(Flags& flags, ModelFlags& model);

}  // namespace tandem::app

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

// --max-query-tokens and --max-document-tokens; --model is the command's own.
void AddLengthFlags(Flags& flags, ModelFlags& model);

}  // namespace tandem::app

// Flags that commands over indexes share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/params.h"
#include "data/metadata.h"
#include "data/text_input.h"
#include "index/vector_index.h"

namespace tandem::app {

class Flags;  // app/flags.h

// Where documents come from (data/text_input.h).
struct DocumentFlags {
  std::vector<std::string> inputs;
  std::string format = "auto";
  std::string id_field = "_id";
  std::string text_field = "text";
};

// The argument `documents`, --format, --id-field and --text-field.
void AddDocumentFlags(Flags& flags, DocumentFlags& documents);

data::TextInputOptions InputOptionsOf(const DocumentFlags& documents,
                                      const std::vector<data::MetadataField>& fields);

// --memory, as bytes. Throws UsageError.
uint64_t MemoryOf(const std::string& text);

// The defaults of `kind`, changed by flags "m=32". Throws UsageError for what is no parameter of
// the kind and for a value that it cannot have.
config::Params KindParamsOf(const index::IndexKindInfo& kind, const std::vector<std::string>& set);

}  // namespace tandem::app

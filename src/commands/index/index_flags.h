// Flags that commands over indexes share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/params.h"
#include "index/vector_index.h"

namespace tandem::app {

class Flags;  // cli/flags.h

// The argument `documents`.
void AddDocumentsArgument(Flags& flags, std::vector<std::string>& documents);

// --memory, as bytes. Throws UsageError.
uint64_t MemoryOf(const std::string& text);

// The defaults of `kind`, changed by flags "m=32" and, where the kind has one, by the wished
// recall. Throws UsageError for what is no parameter of the kind and for a value that it cannot
// have.
config::Params KindParamsOf(const index::IndexKindInfo& kind, const std::vector<std::string>& set,
                            std::optional<double> recall);

}  // namespace tandem::app

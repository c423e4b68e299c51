// The flags that commands about indexes share.
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

// Adds the argument `documents`.
void AddDocumentsArgument(Flags& flags, std::vector<std::string>& documents);

// Adds --no-cache.
void AddDocumentCacheFlag(Flags& flags, bool& no_cache);

// Returns the value of --memory in bytes. Throws UsageError.
uint64_t MemoryOf(const std::string& text);

// Returns the default parameters of `kind`, changed by flags such as "m=32" and, if the kind has a
// target recall, by the given one. Throws UsageError for a parameter that the kind does not have
// and for a value out of range.
config::Params KindParamsOf(const index::IndexKindInfo& kind, const std::vector<std::string>& set,
                            std::optional<double> recall);

}  // namespace tandem::app

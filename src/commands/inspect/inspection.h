// Collects what `tandem inspect` shows, once for both of its formats.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/json/json.h"
#include "data/lines/line_rules.h"

namespace tandem::app {

// Returns an object of scalars, objects of scalars, and lists of scalars or of objects. Its first
// key, "kind", is one of those in docs/cli/inspect.md. Throws ModelError for a model that cannot be
// read, DataError for broken data, UsageError for a path that does not exist or is of no known
// kind. `rules` say what training lines mean; a run is read on so many threads.
Json Inspect(const std::filesystem::path& path, const data::LineRules& rules, int threads);

// Prints to stdout: with "json" the object as it is, with "text" lines and tables.
void PrintInspection(const Json& inspection, std::string_view format);

}  // namespace tandem::app

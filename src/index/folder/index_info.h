// The description of an index, from its index.json alone.
#pragma once

#include <filesystem>

#include "index/document_index.h"
#include "index/folder/manifest.h"

namespace tandem::index {

// `resident_bytes` is what searching would keep in memory, as the kinds estimate it.
IndexInfo InfoOf(const std::filesystem::path& folder, const Manifest& manifest);

}  // namespace tandem::index

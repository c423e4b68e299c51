// A copy of the model in the index, so that the index can be moved and searched alone.
#pragma once

#include <filesystem>

#include "index/folder/manifest.h"

namespace tandem::index {

// Copies what Tandem reads of the model folder (settings, tokenizer, safetensors) into the index
// and names it in `manifest`: files and path. The copy of an index that is there stays: its folder
// has another generation. Throws OutputError.
void CopyModel(const std::filesystem::path& folder, const std::filesystem::path& model,
               Manifest* manifest, int threads);

}  // namespace tandem::index

// A copy of the model in the index, so that the index can be moved and searched alone.
#pragma once

#include <filesystem>

#include "index/manifest.h"

namespace tandem::index {

// Copies what Tandem reads of the model folder (settings, tokenizer, safetensors) into the index
// and names it in `manifest`: files and path. `before` is the index that `folder` has now, whose
// copy stays. Throws OutputError.
void CopyModel(const std::filesystem::path& folder, const std::filesystem::path& model,
               const Manifest& before, Manifest* manifest, int threads);

}  // namespace tandem::index

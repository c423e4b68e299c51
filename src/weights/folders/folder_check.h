// Says whether there is a folder where a model is expected.
#pragma once

#include <filesystem>

namespace tandem::weights {

// Throws ModelError unless `path` is a folder. Where it looks like a model's name on the Hugging
// Face hub ("BAAI/bge-small-en-v1.5"), the message says how to fetch that model.
void CheckIsFolder(const std::filesystem::path& path);

}  // namespace tandem::weights

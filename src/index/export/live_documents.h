// The documents of an index one by one, without those that were removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "data/texts/metadata.h"
#include "index/folder/manifest.h"

namespace tandem::index {

// Views are valid until the next document.
struct LiveDocument {
  std::string_view id;
  std::string_view text;                          // "" where the index keeps none
  std::span<const float> vector;                  // [E], of length 1 where the similarity is cosine
  std::span<const data::MetadataValue> metadata;  // [fields], as the manifest has them
};

// Calls `body` for each document, segment by segment, each in the order in which its documents were
// added. Reads mapped files, whose pages are given back: memory does not grow with the documents.
// Throws DataError, and whatever `body` throws.
void ForLiveDocuments(const std::filesystem::path& folder, const Manifest& manifest,
                      const std::function<void(const LiveDocument&)>& body);

}  // namespace tandem::index

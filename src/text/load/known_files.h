// Loading a tokenizer from a folder of which the caller has read some files already.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace tandem::text {

// The bytes of a file that the caller has read; null for any other, which is read here.
using KnownFiles = std::function<const std::string*(const std::filesystem::path& path)>;

// LoadTokenizer (text/tokenizer.h), by what is known of the files beside tokenizer.json.
std::unique_ptr<const Tokenizer> LoadTokenizer(const std::filesystem::path& folder,
                                               const TokenizerOptions& options,
                                               const KnownFiles& known);

}  // namespace tandem::text

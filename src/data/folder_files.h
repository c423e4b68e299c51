// Advises which file to give if a folder is given where a file is expected.
#pragma once

#include <filesystem>
#include <string>

namespace tandem::data {

// "; give one of its files: dev.jsonl, train.jsonl". It is empty where no file of the folder looks
// like data.
std::string FilesInstead(const std::filesystem::path& folder);

}  // namespace tandem::data

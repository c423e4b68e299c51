// What a folder holds, for tests of whether it changes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/files/files.h"

namespace tandem {

// Paths and bytes of all files in a folder.
inline std::map<std::string, std::string> FilesOf(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).native()] = ReadFile(entry.path());
  }
  return files;
}

}  // namespace tandem

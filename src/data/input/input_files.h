// The files that a user means by files, folders and patterns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/texts/text_role.h"

namespace tandem::data {

enum class TextFormat { kJsonLines, kTsv, kLines };
// Gives the name that flags use: "jsonl", "tsv", "lines".
std::string_view TextFormatName(TextFormat format);

struct InputFile {
  std::filesystem::path path;  // "-": standard input
  TextFormat format = TextFormat::kJsonLines;
  // Says whether it can be read again from its start: no pipe, no standard input.
  bool is_regular = false;
  uint64_t bytes = 0;       // of a regular file
  int64_t modified_ns = 0;  // its time of change
};

// `inputs`, `format` and `role` as in TextInputOptions. Throws UsageError where a pattern matches
// nothing, for "-" given twice and for an unknown format, and DataError for a file that is not
// there or cannot be read and for a folder without texts.
std::vector<InputFile> FindInputFiles(const std::vector<std::string>& inputs,
                                      std::string_view format, TextRole role);

}  // namespace tandem::data

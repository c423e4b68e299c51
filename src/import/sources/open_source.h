// Opens a file as rows.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "data/warnings.h"
#include "import/row_source.h"

namespace tandem::import_data {

struct SourceOptions {
  std::string_view format = "auto";  // csv, tsv, jsonl, json
  std::optional<char> delimiter;     // of csv; none: the file's start tells
  bool quotes = true;                // of csv and tsv
  int64_t header_line = 1;           // as in data::TableOptions
};

// "auto" goes by the name: .csv, .tsv, .tab, .jsonl, .ndjson, .json (each also with .gz); of any
// other name, by the first character: "{" begins JSON lines and "[" a JSON array, everything else
// is CSV. A .json file is lines or one array, by its first character.
//
// `warnings` must outlive the source. Throws UsageError for a folder (with the command that makes
// pairs of documents), a name that says that it is a workbook, a document or a Parquet file, and
// what cannot be read twice; DataError for what the file's first bytes show to be no text.
std::unique_ptr<RowSource> OpenSource(const std::filesystem::path& path,
                                      const SourceOptions& options, data::Warnings& warnings);

// Makers of the two kinds; OpenSource chooses.
std::unique_ptr<RowSource> MakeTableSource(const std::filesystem::path& path,
                                           const SourceOptions& options, data::Warnings& warnings);
std::unique_ptr<RowSource> MakeJsonLinesSource(const std::filesystem::path& path,
                                               data::Warnings& warnings);
std::unique_ptr<RowSource> MakeJsonArraySource(const std::filesystem::path& path,
                                               data::Warnings& warnings);

}  // namespace tandem::import_data

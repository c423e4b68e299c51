// The metadata of a segment's documents: a column for each field.
//
// Field n (from 0) of numbers is "field-n.numbers", float64 [N], not a number where a document
// lacks the field. One of strings is a text column "field-n" and "field-n.present", a bit a row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/texts/metadata.h"
#include "index/segments/column_files.h"

namespace tandem::index {

// Bits of rows in words of 64: bit (row % 64) of word row / 64.
inline size_t BitWords(size_t rows) { return (rows + 63) / 64; }
inline bool BitOf(std::span<const uint64_t> words, size_t row) {
  return (words[row / 64] >> (row % 64)) & 1;
}

// The files of all fields.
std::vector<std::string> MetadataFiles(const std::vector<data::MetadataField>& fields);

class MetadataWriter {
 public:
  // Throws OutputError, here and below.
  MetadataWriter(const std::filesystem::path& folder,
                 const std::vector<data::MetadataField>& fields);
  ~MetadataWriter();
  // Adds one value for each field; none where there are no fields.
  void Add(std::span<const data::MetadataValue> values);
  void Commit();

 private:
  struct Column;
  std::vector<std::unique_ptr<Column>> columns_;
};

class MetadataColumns {
 public:
  // Throws DataError where the files have not the size that `rows` rows need.
  MetadataColumns(const std::filesystem::path& folder,
                  const std::vector<data::MetadataField>& fields, size_t rows);

  data::MetadataValue Value(size_t row, size_t field) const;

 private:
  struct Column {
    std::optional<ArrayFile<double>> numbers;
    std::optional<ArrayFile<uint64_t>> present;
    std::optional<TextColumn> texts;
  };
  std::vector<Column> columns_;
};

}  // namespace tandem::index

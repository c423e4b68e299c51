// A table with a line of names: CSV and TSV files.
//
//   TableReader table(path, {}, warnings);
//   CsvRow row;
//   while (table.Next(&row)) ...  // row.fields[i] is of table.columns()[i]
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tables/csv_rows.h"
#include "data/warnings.h"

namespace tandem::data {

struct TableOptions {
  // Not given: a file called .tsv or .tab (also with .gz) has tabs; of any other, the start decides
  // among comma, semicolon, tab and bar (data/tables/csv_dialect.h).
  std::optional<char> delimiter;
  bool quotes = true;
  // The line of the file whose row names the columns; rows before it are passed over. 0: there are
  // no names, and the columns are called 1, 2, 3, ...
  int64_t header_line = 1;
};

class TableReader {
 public:
  // Opens a plain or gzip file, or standard input for "-", and reads the names. Throws DataError
  // for what is no text in UTF-8 (a workbook, UTF-16), a file without a row, names that come
  // twice, and names that are not UTF-8. A name that is missing is "#3" for the third column. A
  // byte order mark and a line "sep=;" are counted and passed over. `warnings` must outlive the
  // reader.
  TableReader(const std::filesystem::path& path, const TableOptions& options, Warnings& warnings);

  const std::string& file() const { return file_; }
  const CsvDialect& dialect() const { return dialect_; }
  const std::vector<std::string>& columns() const { return columns_; }

  // The next row, valid until the next call; false at the end. A row of blanks alone is passed over
  // and counted, as a blank line is. A row with another number of fields than there are names, and
  // one that repeats the names, have a problem.
  bool Next(CsvRow* row);

 private:
  void ReadNames(const TableOptions& options);
  bool RepeatsNames(const CsvRow& row) const;

  std::string file_;
  Warnings& warnings_;
  CsvDialect dialect_;
  std::unique_ptr<CsvRows> rows_;
  std::vector<std::string> columns_;
  bool has_names_ = true;
  // Without names, the first row was read to count the columns, and is the next one.
  bool has_first_ = false;
  CsvRow first_;
};

// "comma", "semicolon", "tab", "bar", or the character in quotes.
std::string DelimiterName(char delimiter);

// Says whether a path is called as tables are: .csv, .tsv, .tab, also with .gz.
bool IsTablePath(const std::filesystem::path& path);

}  // namespace tandem::data

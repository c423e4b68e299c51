// Rows of a table as text: CSV (RFC 4180) and tab-separated values.
//
// libcsv finds fields and rows. What it is told here makes of them what Python's csv module and
// pandas.read_csv make of the same file, or marks the row as one that they read in another way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/input/byte_source.h"

namespace tandem::data {

// How the fields of a file are told apart.
struct CsvDialect {
  char delimiter = ',';
  // A field that begins with a quote ends at the next one that is not doubled, whatever stands
  // between. Without: quotes are characters as all others.
  bool quotes = true;
};

struct CsvRow {
  std::span<const std::string_view> fields;
  int64_t line = 0;      // on which it begins, from 1
  std::string_view raw;  // as it stands in the file, without the end of its last line
  // Why nobody should use the fields: bytes that are not UTF-8, a NUL, characters after a closing
  // quote. "": they are as Python reads them.
  std::string problem;
  std::string_view problem_kind;  // "rows with a NUL byte": by which they are counted
};

class CsvRows {
 public:
  // A row that is longer has a quote that never closes; it must not fill the memory.
  static constexpr size_t kMaxRowBytes = size_t{1} << 24;
  static constexpr size_t kMaxFields = 1000;

  // `file` is what messages call it. The first line that `source` gives is `first_line`.
  CsvRows(std::unique_ptr<ByteSource> source, std::string file, const CsvDialect& dialect,
          int64_t first_line = 1);
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;
  ~CsvRows();

  // The next row, valid until the next call; false at the end. Lines without a character are no
  // rows. A row ends at LF, CR LF or CR outside of quotes; those inside stay as they are. A quote
  // in a field that does not begin with one is a character. Throws DataError naming the line on
  // which the quote began for one that never closes and for rows above kMaxRowBytes, and what the
  // source throws.
  bool Next(CsvRow* row);

  uint64_t blank_lines() const { return blank_lines_; }

 private:
  struct Parser;  // keeps libcsv out of this header

  bool Refill();
  std::string_view NextPiece(bool* ends_line);
  void Feed(std::string_view piece);
  void EndLine();
  bool Finish(CsvRow* row);
  void Give(CsvRow* row);
  void AddProblem(std::string_view kind, std::string problem);
  [[noreturn]] void ThrowOpenQuote() const;

  std::unique_ptr<ByteSource> source_;
  std::string file_;
  CsvDialect dialect_;
  std::unique_ptr<Parser> parser_;

  std::vector<char> buffer_;  // [begin_, end_) is not consumed yet
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  bool finished_ = false;

  int64_t line_;           // the next one
  int64_t row_line_ = 0;   // on which the row begins
  int64_t open_line_ = 0;  // on which the quote began that is open at the end of a line
  size_t open_field_ = 0;
  std::string raw_;       // of the row, with its line ends
  std::string replaced_;  // a piece without quotes
  std::string problem_;
  std::string_view problem_kind_;
  std::vector<std::string_view> fields_;
  uint64_t blank_lines_ = 0;
};

}  // namespace tandem::data

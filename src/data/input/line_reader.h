// Lines of a text file, plain or gzip-compressed, with their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/input/byte_source.h"
#include "data/warnings.h"

namespace tandem::data {

// The bytes that some programs write before a file's UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Makes lines of what is no file of lines: rows of a table as JSON (data/tables/table_lines.h).
class LineMaker {
 public:
  virtual ~LineMaker() = default;
  // Sets the next line and the number of the file's line that it comes from; false at the end.
  // Throws DataError.
  virtual bool Next(std::string* line, int64_t* number) = 0;
};

// A line ends at \n; the last one needs none. A byte order mark at the start, \r before \n and
// blank lines are no part of the data: the reader drops and counts them.
class LineReader {
 public:
  // Bytes after a line that simdjson may read, though it does not use them.
  static constexpr size_t kPadding = 64;

  // Opens a plain or gzip file (told by its first bytes), or standard input for "-". Throws
  // DataError when it cannot be opened, is a folder, or is called .gz but is no gzip file.
  // `warnings` must outlive the reader.
  LineReader(const std::filesystem::path& path, Warnings& warnings);
  // Reads `bytes`, which must outlive the reader, under the name `file`; line `first_line` of it is
  // their first.
  LineReader(std::string file, std::string_view bytes, Warnings& warnings, int64_t first_line = 1);
  // Gives the lines that `maker` makes of `file`.
  LineReader(std::string file, std::unique_ptr<LineMaker> maker, Warnings& warnings);

  // The next line that is not blank; valid until the next call and followed by kPadding readable
  // bytes. False at the end. Throws DataError for a broken gzip stream, for lines above 256 MiB,
  // and for a file whose first bytes are those of another kind (NoTextProblem).
  bool Next(std::string_view* line);
  // Does what Next does, but a blank line counts as any other.
  bool NextWithBlank(std::string_view* line);

  int64_t line_number() const { return line_number_; }  // of the line that Next gave, from 1
  bool has_line_end() const { return has_line_end_; }   // false for a last line that lacks it
  const std::string& file() const { return file_; }
  Warnings& warnings() { return *warnings_; }

  // A DataError at the current line, to be thrown.
  DataError Error(std::string_view message, std::string_view id = {}) const {
    return DataError(file_, line_number_, id, message);
  }

 private:
  bool NextRaw(std::string_view* line);
  bool MakeLine(std::string_view* line);
  bool Refill();

  std::string file_;
  Warnings* warnings_;
  std::unique_ptr<LineMaker> maker_;  // else of source_
  std::string made_;                  // the last line that it made, and padding
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;  // [begin_, end_) is not consumed yet; kPadding bytes after end_
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  bool has_line_end_ = false;
  int64_t line_number_ = 0;
};

}  // namespace tandem::data

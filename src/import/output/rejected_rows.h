// The rows that nothing was made of: each in a file with its reason, all counted by kind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "import/row_source.h"

namespace tandem::import_data {

// Rows of one kind: "rows without a query".
struct RejectedKind {
  std::string kind;
  uint64_t rows = 0;
  std::string first_file;
  std::string first_line;  // "3", of an array "1, element 7"
  std::string first_reason;
};

class RejectedRows {
 public:
  // Rows go to `path`, a line of JSON each, {"file", "line", "reason", "row"}, of an array also
  // "element", where bytes that are
  // not UTF-8 are U+FFFD. The file is there once Commit was called, and only if there was a row.
  // An empty path: rows are only counted.
  explicit RejectedRows(std::filesystem::path path) : path_(std::move(path)) {}

  void Add(const Row& row);
  void Commit();

  uint64_t count() const { return count_; }
  const std::vector<RejectedKind>& kinds() const { return kinds_; }  // in order of first occurrence

 private:
  std::filesystem::path path_;
  std::unique_ptr<AtomicFile> file_;  // from the first row on
  uint64_t count_ = 0;
  std::vector<RejectedKind> kinds_;
  std::string line_;
};

}  // namespace tandem::import_data

// Columns of a segment: texts of any length, or numbers, one a row.
//
// NAME.bytes holds the texts one after another, NAME.ends the uint64 [N] at which each ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"

namespace tandem::index {

// The names of a column's files.
std::vector<std::string> TextColumnFiles(std::string_view name);

class TextColumnWriter {
 public:
  // Throws OutputError, here and below.
  TextColumnWriter(const std::filesystem::path& folder, std::string_view name);
  void Add(std::string_view text);
  // Flushes both files and puts them under their names.
  void Commit();
  uint64_t bytes() const { return end_; }

 private:
  AtomicFile bytes_;
  AtomicFile ends_;
  uint64_t end_ = 0;
};

class TextColumn {
 public:
  // Throws DataError where the files have not the size that `rows` texts need.
  TextColumn(const std::filesystem::path& folder, std::string_view name, size_t rows);

  // Throws DataError where the ends contradict each other: they are checked when they are read,
  // since there may be very many.
  std::string_view operator[](size_t row) const;
  uint64_t bytes() const { return bytes_.bytes().size(); }
  void ReleasePages() const;

 private:
  std::filesystem::path path_;
  MappedFile bytes_;
  MappedFile ends_file_;
  std::span<const uint64_t> ends_;
};

// A file that is an array of T, mapped. Throws DataError where it has not `count` of them.
template <typename T>
class ArrayFile {
 public:
  ArrayFile(const std::filesystem::path& path, size_t count);
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(file_.bytes().data()), count_};
  }
  void ReleasePages() const { file_.ReleasePages(); }

 private:
  MappedFile file_;
  size_t count_;
};

// Returns the bytes of `values` as a file holds them.
template <typename T>
std::string_view BytesOf(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace tandem::index

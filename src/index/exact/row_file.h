// The file of an exact kind: what its searches need beside the float32 rows.
//
// A header of 64 bytes, then the rows in the kind's own form, then, for kinds that have them, a
// float for each row. Little-endian; each part begins at a cache line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/files.h"
#include "index/vector_index.h"

namespace tandem::index {

// Numbers that bound the errors of a kind's scores. Each is a length, the greatest of any row.
struct RowBounds {
  double longest = 0;   // of the float32 rows
  double residual = 0;  // of what the kind's rows lack, in units of the row's scale if it has one
  double codes = 0;     // of the codes, for kinds that have them
};

struct RowFileShape {
  std::string_view kind;  // at most 8 bytes
  size_t row_bytes = 0;   // in the kind's form; 0: the file has no rows
  bool scales = false;    // whether there is a float for each row
};

// Encodes one row of floats for a kind. Fills `row` [row_bytes] and `scale`; raises `bounds` where
// the row exceeds them.
using EncodeStoredRow =
    std::function<void(const float* from, std::byte* row, float* scale, RowBounds& bounds)>;

// Writes folder/NAME: in one pass over the rows, on all threads, in memory of some megabytes and of
// the scales. Throws NumericError for a row that is not finite, Interrupted, and OutputError.
void WriteRowFile(const std::filesystem::path& path, const RowFileShape& shape,
                  const VectorRows& rows, const BuildOptions& options,
                  const EncodeStoredRow& encode);

// A mapped file. Throws DataError where it is not the file of these rows and this shape.
class RowFile {
 public:
  RowFile(const std::filesystem::path& path, const RowFileShape& shape, const VectorRows& rows);
  const RowBounds& bounds() const { return bounds_; }
  const char* rows() const { return rows_; }       // [rows, row_bytes]
  const float* scales() const { return scales_; }  // [rows]; null: there are none

 private:
  MappedFile file_;
  RowBounds bounds_;
  const char* rows_;
  const float* scales_;
};

}  // namespace tandem::index

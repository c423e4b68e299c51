// A matrix in a .npy file that may take several processes to write (base/files/part_file.h,
// base/files/npy.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/files/npy.h"
#include "base/files/part_file.h"

namespace tandem {

// While it is written, NAME.part is a .npy file as well, of no rows. Throws what PartFile throws.
class ResumableNpy {
 public:
  // Where row `rows` of a file stands.
  static uint64_t OffsetOf(uint64_t rows, size_t columns) {
    return kNpyHeaderBytes + rows * columns * sizeof(float);
  }

  // Rows that an earlier process wrote stay until KeepRows. `columns` is E in float32 [N, E].
  ResumableNpy(const std::filesystem::path& path, size_t columns)
      : file_(path), columns_(columns) {}

  // Keeps the first `rows` rows, which must be there; to be called before the first Append.
  void KeepRows(uint64_t rows);
  // Takes the room that so many rows need (PartFile::TakeRoom).
  void TakeRoom(uint64_t rows) { file_.TakeRoom(OffsetOf(rows, columns_)); }
  // Appends whole rows: `values.size()` must be a multiple of `columns`.
  void Append(std::span<const float> values);
  void Sync() { file_.Sync(); }
  // Writes the number of rows and returns when all has reached the disk, under the name NAME.part.
  void Complete();
  // Gives the completed file its name.
  void Commit() { file_.Commit(); }
  // Removes what was written, when the matrix is destroyed.
  void Discard() { file_.CutTo(0); }

 private:
  PartFile file_;
  size_t columns_;
  uint64_t rows_ = 0;
};

}  // namespace tandem

// A matrix in a .npy file that may take several processes to write (embeddings/layouts/part_file.h,
// embeddings/layouts/npy.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "embeddings/blocks.h"
#include "embeddings/layouts/npy.h"
#include "embeddings/layouts/part_file.h"

namespace tandem::embeddings {

// While it is written, NAME.part is a .npy file as well, with no rows. Throws what PartFile throws.
class NpyFile {
 public:
  static RowPlace PlaceOf(size_t columns) { return {.start = kNpyHeaderBytes, .columns = columns}; }

  // Rows that an earlier process wrote stay until KeepRows. `columns` is E in float32 [N, E].
  NpyFile(const std::filesystem::path& path, size_t columns)
      : file_(path), block_file_{file_.descriptor(), file_.part(), PlaceOf(columns)} {}

  // Keeps the first `rows` rows, which must be there; to be called before the first Write.
  void KeepRows(uint64_t rows);
  // Takes the room that so many rows need (PartFile::TakeRoom).
  void TakeRoom(uint64_t rows) { file_.TakeRoom(block_file_.place.OffsetOf(rows)); }
  // Writes the next block (BlockFile::Write) and returns its hash.
  uint64_t Write(std::span<const float> values);
  // Writes the number of rows and returns when all has reached the disk, under the name NAME.part.
  void Complete();
  // Gives the completed file its name.
  void Commit() { file_.Commit(); }
  // Removes what was written, when the matrix is destroyed.
  void Discard() { file_.CutTo(0); }

 private:
  PartFile file_;
  BlockFile block_file_;
  uint64_t rows_ = 0;
};

}  // namespace tandem::embeddings

// The vectors of an index's segment while they are made: a file of rows without a header, filled in
// order, so that a process may end at any moment and the next one goes on after the last whole
// block.
//
//   NAME.f32       float32 [N, E]
//   NAME.blocks    a hash of each block (embeddings/blocks.h)
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/files/file_parts.h"
#include "embeddings/blocks.h"

namespace tandem::embeddings {

struct StagedShape {
  size_t rows = 0;
  size_t width = 0;  // E
  size_t block_rows = 4096;
};

class StagedRows {
 public:
  // Takes the room for all rows at once, so that a disk that is too small shows before anything is
  // encoded; of a file that is there already, keeps the blocks up to the first one that is missing
  // or altered, for which it reads them on so many threads. `path` ends in ".f32". Throws
  // OutputError.
  StagedRows(const std::filesystem::path& path, const StagedShape& shape, int threads = 1);

  // Rows that are there: those of whole blocks.
  size_t whole_rows() const { return whole_rows_; }
  // The next block: `values` float32 [block_rows, E], fewer rows in the last. Returns when they
  // have reached the disk. Throws OutputError.
  void Append(std::span<const float> values);

 private:
  void TakeRoom();

  std::filesystem::path path_;
  BlockShape shape_;
  uint64_t bytes_;
  FileDescriptor values_;
  FileDescriptor hashes_;
  EqualBlocks blocks_;
  size_t whole_rows_ = 0;
};

}  // namespace tandem::embeddings

// vectors.f32 while it is filled: block after block, each on the disk before the next, so that a
// process may end at any moment and the next one goes on behind the last whole block.
//
// Beside it is vectors.blocks, uint64 a block: a hash of the block's bytes, written once these have
// reached the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "index/segments/segment.h"

namespace tandem::index {

struct VectorFileShape {
  size_t rows = 0;
  size_t width = 0;
  size_t block_rows = 4096;

  uint64_t bytes() const { return uint64_t{rows} * width * sizeof(float); }
};

class VectorFile {
 public:
  // Takes the room for all rows at once, so that a disk that is too small shows before anything is
  // encoded; of a file that is there already, keeps the blocks up to the first one that is missing
  // or altered. Throws OutputError.
  VectorFile(const std::filesystem::path& folder, const VectorFileShape& shape);
  VectorFile(const VectorFile&) = delete;
  VectorFile& operator=(const VectorFile&) = delete;
  ~VectorFile();

  // Rows that are there: those of whole blocks.
  size_t whole_rows() const { return whole_rows_; }
  // The next block: `values` float32 [block_rows, E], fewer rows in the last. Returns when they
  // have reached the disk. Throws OutputError.
  void Append(std::span<const float> values);

 private:
  void TakeRoom();
  size_t CountWholeRows() const;

  std::filesystem::path path_;
  VectorFileShape shape_;
  int vectors_ = -1;
  int blocks_ = -1;
  size_t whole_rows_ = 0;
};

}  // namespace tandem::index

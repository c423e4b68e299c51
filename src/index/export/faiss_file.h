// A file of FAISS's own: a flat index by inner product, which faiss.read_index reads (1.6 and
// later).
//
// FAISS's writer takes an index that is whole in memory. What it writes of a flat one is a header
// and the rows (write_index_header and write_index of faiss/impl/index_write.cpp, 1.7.3):
//
//   char[4] "IxFI"; int32 E; int64 N; int64 2^20, twice, which nobody reads; uint8 1, it is
//   trained; int32 0, the inner product; uint64 N * E; float32 [N, E]
//
// so that it is written row by row here. Bytes are little-endian, as FAISS writes them on machines
// that are so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/files/files.h"

namespace tandem::index {

class FaissFlatFile {
 public:
  // A file of `rows` rows of `width` numbers. Throws OutputError.
  FaissFlatFile(const std::filesystem::path& path, uint64_t rows, size_t width);
  void Write(std::span<const float> row);  // [width]
  // To be called after the last row.
  void Commit() { file_.Commit(); }

 private:
  AtomicFile file_;
};

}  // namespace tandem::index

// A file of embeddings that is filled block by block and never used unless it is what it says.
//
// Little-endian; R rows of E columns, in blocks of B rows, the last one shorter:
//
//   [0, 4096)          lines of text, filled up with line ends: "tandem embeddings 1", what decides
//                      the embeddings (EmbeddingLayout::source), "rows R", "columns E", "block B"
//   [4096, S)          uint64 a block: a hash of its number and bytes; 0 while it is not written. S
//                      is the next multiple of 4096
//   [S, S + 4 R E)     float32 [R, E]
//
// A block's hash is written after the block has reached the disk, so that a process may end at any
// moment: the next one goes on with the blocks that are missing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/files.h"

namespace tandem::search {

struct EmbeddingLayout {
  std::string source;  // lines, each with its end; at most 3 KB
  size_t rows = 0;
  size_t columns = 0;
  size_t block_rows = 1;
  int threads = 1;  // that check blocks

  size_t blocks() const { return (rows + block_rows - 1) / block_rows; }
  size_t rows_of(size_t block) const { return std::min(block_rows, rows - block * block_rows); }
};

// The rows of a complete file, in the file's pages.
struct MappedEmbeddings {
  MappedFile file;
  std::span<const float> values;  // [R, E]
};

// Reads every block once and compares its hash; memory is one block a thread. Nothing where there
// is no such file, where it has another layout, or where a block is missing or altered.
std::optional<MappedEmbeddings> ReadEmbeddings(const std::filesystem::path& path,
                                               const EmbeddingLayout& layout);

// How many rows of the file are in whole blocks: 0 where there is none, or one of another layout.
// Reads every block that has been written.
size_t WholeRows(const std::filesystem::path& path, const EmbeddingLayout& layout);

// Throws OutputError where an EmbeddingWriter could not make the file: its folder, or the one in
// which that would be made, cannot be written, or has less room than the file needs. Writes
// nothing.
void CheckRoom(const std::filesystem::path& path, const EmbeddingLayout& layout);

// Fills a file. One process at a time does: it holds a lock (flock) that the kernel drops with the
// process. Where the file system has no locks, several processes write the same bytes.
class EmbeddingWriter {
 public:
  // Makes the file at its full size, or opens the one that is there and keeps its whole blocks. A
  // file that is cut short, of another source, or with altered blocks is said (Warn) and what is
  // wrong is made again. Waits where another process fills the file (Note); `waiting` is called
  // several times a second then and may throw. Throws OutputError where the file cannot be made,
  // before anything is encoded where the disk is too small.
  EmbeddingWriter(std::filesystem::path path, EmbeddingLayout layout,
                  const std::function<void()>& waiting = {});
  EmbeddingWriter(const EmbeddingWriter&) = delete;
  EmbeddingWriter& operator=(const EmbeddingWriter&) = delete;
  ~EmbeddingWriter();

  bool has(size_t block) const { return has_[block]; }
  size_t kept_rows() const;  // in blocks that were there already

  // `values` float32 [rows_of(block), E]. Returns when they have reached the disk.
  void Write(size_t block, std::span<const float> values);

 private:
  void Open(const std::function<void()>& waiting);
  bool Take();  // false: another file must be made

  std::filesystem::path path_;
  EmbeddingLayout layout_;
  int descriptor_ = -1;
  std::vector<bool> has_;
  std::vector<bool> kept_;
};

}  // namespace tandem::search

// A file of the cache: embeddings that are filled in block by block, in any order, and never used
// unless they are what the file says.
//
// Little-endian; R rows of E columns, in blocks of B rows, the last one shorter:
//
//   [0, 4096)          lines of text, filled up with line ends: "tandem embeddings 3", the
//                      provenance, "rows R", "columns E", "block B"
//   [4096, S)          a numbered table of hashes (embeddings/blocks.h), and then the counts
//                      of each block's texts, int64 [blocks, 6] (EncodeCounts::Numbers). S is the
//                      next multiple of 4096
//   [S, S + 4 R E)     float32 [R, E]
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/files/file_parts.h"
#include "embeddings/blocks.h"
#include "embeddings/encode_counts.h"
#include "embeddings/mapped_rows.h"
#include "embeddings/provenance.h"

namespace tandem::embeddings {

struct CacheLayout {
  Provenance provenance;  // at most 3 KB
  BlockShape shape;
  size_t columns = 0;  // E
  int threads = 1;     // that check blocks
};

// The rows of a complete file, which is marked as used (cache_room.h). Reads every block once and
// compares its hash. Gives nothing where there is no such file, where it has another layout, or
// where a block is missing or altered.
std::optional<MappedRows> ReadCacheFile(const std::filesystem::path& path,
                                        const CacheLayout& layout);

// The counts of the file's texts, such as those that were cut, as the process knew them that
// encoded them: of a complete file, which ReadCacheFile gives. Zeros where they cannot be read.
EncodeCounts CountsOf(const std::filesystem::path& path, const CacheLayout& layout);

// Says how many rows of the file are in whole blocks: 0 where there is none, or one of another
// layout. Reads every block that has been written.
size_t WholeRowsOf(const std::filesystem::path& path, const CacheLayout& layout);

// The lines at a file's beginning, from the provenance on to "block B" (a fact a line, NAME VALUE);
// none where it is no file of the cache. Whether its rows are whole, they do not say.
std::optional<Provenance> HeaderLinesOf(const std::filesystem::path& path);

// Throws OutputError where a CacheFileWriter could not make the file: its folder, or the one in
// which that would be made, cannot be written, or has less room than the file needs. Writes
// nothing.
void CheckRoom(const std::filesystem::path& path, const CacheLayout& layout);

// Fills a file. One process at a time does, as long as it holds the lock (OpenLocked). Where the
// file system has no locks, several processes write the same bytes.
class CacheFileWriter {
 public:
  // Makes the file at its full size, or opens the one that is there and keeps its whole blocks. A
  // file that is cut short, of another provenance, or with altered blocks is said (Warn) and what
  // is wrong is made again. Waits where another process fills the file (Note); `waiting` is called
  // several times a second then and may throw. A new file takes the place of those in its folder
  // that are unused longest where all would have more than `limit` bytes (cache_room.h; Note).
  // Throws OutputError where the file cannot be made, before anything is encoded where the disk or
  // the limit is too small.
  CacheFileWriter(std::filesystem::path path, CacheLayout layout,
                  const std::function<void()>& waiting = {},
                  uint64_t limit = std::numeric_limits<uint64_t>::max());

  bool has(size_t block) const { return states_[block] == BlockState::kWhole; }
  // Rows in blocks that were there already, and the counts of their texts.
  size_t kept_rows() const { return kept_rows_; }
  const EncodeCounts& kept_counts() const { return kept_counts_; }

  // `values` float32 [rows_of(block), E], `counts` those of its texts. Returns when the block
  // counts. Throws OutputError; the block is then none that the file has.
  void Write(size_t block, std::span<const float> values, const EncodeCounts& counts = {});
  // Reads a block that the file has to `values` [rows_of(block), E]; false where it cannot be read.
  bool Read(size_t block, std::span<float> values) const;

 private:
  void Open(const std::function<void()>& waiting);
  bool Take();  // false: another file must be made
  void TakeRoom() const;

  std::filesystem::path path_;
  CacheLayout layout_;
  uint64_t limit_;
  FileDescriptor file_;
  std::vector<BlockState> states_;
  size_t kept_rows_ = 0;
  EncodeCounts kept_counts_;
};

}  // namespace tandem::embeddings

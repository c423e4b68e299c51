// A text file in blocks of whole lines, so that several threads parse it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/input/byte_source.h"
#include "data/input/line_reader.h"
#include "data/warnings.h"

namespace tandem::data {

struct TextBlock {
  size_t index = 0;         // 0, 1, 2, ... in the order of the file
  int64_t first_line = 1;   // where its first line stands in the file
  std::vector<char> bytes;  // whole lines; the file's last one needs no line end
};

// Large enough that handing one out costs nothing, small enough that all threads have some.
inline constexpr size_t kTextBlockBytes = size_t{1} << 20;

// Several threads may take blocks at the same time.
class TextBlocks {
 public:
  // Opens as LineReader does, and throws what it throws. Blocks have about `block_bytes`, or one
  // line that is longer.
  explicit TextBlocks(const std::filesystem::path& path, size_t block_bytes = kTextBlockBytes);

  // Fills `block`, whose memory is used again; false at the end, also of a file without bytes.
  // Throws DataError for a broken gzip stream and for lines above 256 MiB: `block->index` is then
  // that of the block that could not be read, and there are no further ones.
  bool Next(TextBlock* block);

  // Says whether the last block was taken.
  bool ended();
  const std::string& file() const { return file_; }

 private:
  // Reads `size` bytes more into `bytes`, or what is left.
  void Fill(std::vector<char>& bytes, size_t size);

  std::string file_;
  size_t block_bytes_;
  std::mutex mutex_;  // of what follows
  std::unique_ptr<ByteSource> source_;
  std::vector<char> rest_;  // read, and not in a block yet
  size_t next_index_ = 0;
  int64_t next_line_ = 1;
  bool at_end_ = false;  // of the source
};

// Gives a reader of each block of `blocks` to `parse`, on up to `threads` threads, the caller's
// included. The reader counts lines as in the whole file. What `parse` throws, or reading does,
// ends it: the first failure in the order of the file is thrown, and `warnings` has what the blocks
// before it and its own counted. So only speed depends on the number of threads.
void ParseBlocks(TextBlocks& blocks, int threads, Warnings& warnings,
                 const std::function<void(size_t index, LineReader& reader)>& parse);

}  // namespace tandem::data

// Reads standard input in blocks of whole lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::app {

// Reads a descriptor in blocks, so that an endless input needs constant memory (a block grows only
// for a line that is longer than the block). Bytes are handed out as soon as they have arrived; a
// caller does not wait for a full block.
class LineBlocks {
 public:
  LineBlocks(int descriptor, size_t block_bytes) : descriptor_(descriptor), wanted_(block_bytes) {}

  // Returns the next lines without their "\n", at least one; they are valid until the next call. A
  // last line without "\n" counts. Returns false at the end of the input. Throws DataError if it
  // cannot be read.
  bool Next(std::vector<std::string_view>* lines);

 private:
  // Reads once; returns false at the end of the input.
  bool ReadMore();
  bool IsMoreReady() const;

  int descriptor_;
  size_t wanted_;
  std::string buffer_;
  size_t filled_ = 0;    // bytes of buffer_ that were read
  size_t consumed_ = 0;  // bytes among these that were handed out
  bool ended_ = false;
};

}  // namespace tandem::app

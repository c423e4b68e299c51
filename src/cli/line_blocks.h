// Standard input in blocks of whole lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::app {

// Reads a descriptor in blocks, so that an endless input needs constant memory (a block grows only
// for a line longer than it). Bytes that have come are handed out at once; nobody waits for a full
// block.
class LineBlocks {
 public:
  LineBlocks(int descriptor, size_t block_bytes) : descriptor_(descriptor), wanted_(block_bytes) {}

  // The next lines without their "\n", at least one; valid until the next call. A last line without
  // "\n" counts. False at the end of the input. Throws DataError when it cannot be read.
  bool Next(std::vector<std::string_view>* lines);

 private:
  // Reads once; false at the end of the input.
  bool ReadMore();
  bool IsMoreReady() const;

  int descriptor_;
  size_t wanted_;
  std::string buffer_;
  size_t filled_ = 0;    // bytes of buffer_ that were read
  size_t consumed_ = 0;  // of them, those handed out
  bool ended_ = false;
};

}  // namespace tandem::app

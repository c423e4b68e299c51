// The one way in which rows of embeddings reach a file: block by block, each of them whole or not
// there.
//
// A block is written at its place and has reached the disk before its hash is kept, in a table
// (EqualBlocks) or in a journal (embeddings/layouts/npy_journal.h). So a process may end at any
// moment: the next one goes on with the blocks that have no hash, or other bytes than their hash
// says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tandem::embeddings {

// The place where rows of float32 stand in a file, one after the other; little-endian.
struct RowPlace {
  uint64_t start = 0;  // the byte at which row 0 begins
  size_t columns = 0;  // E

  uint64_t OffsetOf(uint64_t row) const { return start + row * columns * sizeof(float); }
};

// Says whether a file has `size` bytes at `offset`: `hash` becomes their BlockHash. `bytes` is
// memory for them that callers keep for the next call.
bool HashOf(int descriptor, uint64_t offset, uint64_t size, std::string* bytes, uint64_t* hash);

// A file's rows. The descriptor stays the caller's; `path` names the file in errors.
struct BlockFile {
  int descriptor = -1;
  std::filesystem::path path;
  RowPlace place;

  // Writes whole rows, of which the first is row `first_row` of the file. Returns the BlockHash of
  // their bytes when these have reached the disk. Throws OutputError; std::logic_error where
  // `values` are no whole rows.
  uint64_t Write(uint64_t first_row, std::span<const float> values) const;
};

// Blocks of equally many rows; the last one may be shorter.
struct BlockShape {
  size_t rows = 0;
  size_t block_rows = 1;

  size_t blocks() const { return (rows + block_rows - 1) / block_rows; }
  size_t first_row(size_t block) const { return std::min(rows, block * block_rows); }
  size_t rows_of(size_t block) const { return first_row(block + 1) - first_row(block); }
};

// The hashes of equal blocks, in the file of their rows or in another one: uint64 a block, 0 while
// it is not written.
struct HashTable {
  int descriptor = -1;
  uint64_t start = 0;  // the byte at which it begins
  // Says whether hashes are of a block's number too, so that blocks that change places are altered.
  bool numbered = false;
};

enum class BlockState : uint8_t { kMissing, kAltered, kWhole };

class EqualBlocks {
 public:
  EqualBlocks(BlockFile file, BlockShape shape, HashTable table)
      : file_(std::move(file)), shape_(shape), table_(table) {}

  // Reads every block that has been written once and compares it with its hash, on so many threads;
  // memory is one block a thread.
  std::vector<BlockState> States(int threads) const;
  // `values` float32 [rows_of(block), E]. Returns when the block counts. Throws OutputError;
  // std::logic_error for a block of another size.
  void Write(size_t block, std::span<const float> values) const;

 private:
  uint64_t OffsetOf(size_t block) const { return table_.start + block * sizeof(uint64_t); }
  // Returns the table's entry for a block whose bytes have this hash.
  uint64_t EntryOf(size_t block, uint64_t hash) const;
  BlockState StateOf(size_t block, std::string* bytes) const;

  BlockFile file_;
  BlockShape shape_;
  HashTable table_;
};

// Says how many rows are in whole blocks.
size_t WholeRows(const std::vector<BlockState>& states, const BlockShape& shape);

}  // namespace tandem::embeddings

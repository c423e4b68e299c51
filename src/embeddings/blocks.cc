#include "embeddings/blocks.h"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/hashes/block_hash.h"
#include "base/process/threads.h"

namespace tandem::embeddings {

static_assert(std::endian::native == std::endian::little, "files of embeddings are little-endian");

bool HashOf(int descriptor, uint64_t offset, uint64_t size, std::string* bytes, uint64_t* hash) {
  bytes->resize(size);
  if (descriptor < 0 || !ReadPart(descriptor, offset, bytes->data(), size)) return false;
  *hash = BlockHash(*bytes);
  return true;
}

uint64_t BlockFile::Write(uint64_t first_row, std::span<const float> values) const {
  if (place.columns == 0 || values.size() % place.columns != 0) {
    throw std::logic_error("a block of embeddings has whole rows");
  }
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  if (!WritePart(descriptor, place.OffsetOf(first_row), bytes.data(), bytes.size()) ||
      ::fdatasync(descriptor) != 0) {
    throw OutputError(path.native(), "cannot be written", errno);
  }
  return BlockHash(bytes);
}

uint64_t EqualBlocks::EntryOf(size_t block, uint64_t hash) const {
  if (!table_.numbered) return std::max<uint64_t>(1, hash);
  const std::string_view bytes(reinterpret_cast<const char*>(&hash), sizeof hash);
  return std::max<uint64_t>(1, BlockHash(bytes, block));
}

BlockState EqualBlocks::StateOf(size_t block, std::string* bytes) const {
  uint64_t entry = 0, hash = 0;
  if (!ReadPart(table_.descriptor, OffsetOf(block), &entry, sizeof entry) || entry == 0) {
    return BlockState::kMissing;
  }
  const uint64_t from = file_.place.OffsetOf(shape_.first_row(block));
  const uint64_t to = file_.place.OffsetOf(shape_.first_row(block + 1));
  const bool there = HashOf(file_.descriptor, from, to - from, bytes, &hash);
  return there && EntryOf(block, hash) == entry ? BlockState::kWhole : BlockState::kAltered;
}

std::vector<BlockState> EqualBlocks::States(int threads) const {
  std::vector<BlockState> states(shape_.blocks());
  ParallelFor(states.size(), 1, threads, [&](size_t begin, size_t end) {
    std::string bytes;
    for (size_t block = begin; block < end; ++block) states[block] = StateOf(block, &bytes);
  });
  return states;
}

void EqualBlocks::Write(size_t block, std::span<const float> values) const {
  if (values.size() != shape_.rows_of(block) * file_.place.columns) {
    throw std::logic_error("a block of embeddings has another size");
  }
  const uint64_t entry = EntryOf(block, file_.Write(shape_.first_row(block), values));
  if (!WritePart(table_.descriptor, OffsetOf(block), &entry, sizeof entry)) {
    throw OutputError(file_.path.native(), "cannot be written", errno);
  }
}

size_t WholeRows(const std::vector<BlockState>& states, const BlockShape& shape) {
  size_t rows = 0;
  for (size_t block = 0; block < states.size(); ++block) {
    if (states[block] == BlockState::kWhole) rows += shape.rows_of(block);
  }
  return rows;
}

}  // namespace tandem::embeddings

#include "index/segments/vector_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/hashes/text_hash.h"

namespace tandem::index {
namespace {

constexpr const char* kBlocksName = "vectors.blocks";

int OpenForChange(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw OutputError(path.native(), "cannot be opened for writing", errno);
  return descriptor;
}

}  // namespace

VectorFile::VectorFile(const std::filesystem::path& folder, const VectorFileShape& shape)
    : path_(folder / kVectorsName), shape_(shape), vectors_(OpenForChange(path_)) {
  try {
    blocks_ = OpenForChange(folder / kBlocksName);
    TakeRoom();
    whole_rows_ = CountWholeRows();
  } catch (...) {
    ::close(vectors_);
    if (blocks_ >= 0) ::close(blocks_);
    throw;
  }
}

VectorFile::~VectorFile() {
  ::close(vectors_);
  ::close(blocks_);
}

void VectorFile::TakeRoom() {
  struct stat status {};
  if (::fstat(vectors_, &status) != 0) throw OutputError(path_.native(), "cannot be read", errno);
  if (static_cast<uint64_t>(status.st_size) == shape_.bytes()) return;
  if (::ftruncate(vectors_, 0) != 0 || ::ftruncate(blocks_, 0) != 0) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
  if (shape_.rows == 0) return;
  int error = ::posix_fallocate(vectors_, 0, static_cast<off_t>(shape_.bytes()));
  if (error == EOPNOTSUPP || error == EINVAL) {  // this file system takes no room ahead
    error = ::ftruncate(vectors_, static_cast<off_t>(shape_.bytes())) == 0 ? 0 : errno;
  }
  if (error == 0) return;
  // What was taken would stand in the way of whoever makes room.
  if (::ftruncate(vectors_, 0) != 0) error = error == 0 ? errno : error;
  throw OutputError(path_.native(),
                    fmt::format("cannot have the {} that the vectors of {} documents need",
                                FormatByteSize(shape_.bytes()), shape_.rows),
                    error);
}

size_t VectorFile::CountWholeRows() const {
  const size_t blocks = (shape_.rows + shape_.block_rows - 1) / shape_.block_rows;
  std::string bytes(shape_.block_rows * shape_.width * sizeof(float), '\0');
  for (size_t block = 0; block < blocks; ++block) {
    const size_t first = block * shape_.block_rows;
    const size_t rows = std::min(shape_.block_rows, shape_.rows - first);
    bytes.resize(rows * shape_.width * sizeof(float));
    uint64_t hash = 0;
    const bool whole =
        ReadPart(blocks_, block * sizeof hash, &hash, sizeof hash) &&
        ReadPart(vectors_, first * shape_.width * sizeof(float), bytes.data(), bytes.size()) &&
        TextHash(bytes) == hash;
    if (!whole) return first;
  }
  return shape_.rows;
}

void VectorFile::Append(std::span<const float> values) {
  const size_t rows = values.size() / shape_.width;
  if (whole_rows_ % shape_.block_rows != 0 ||
      rows != std::min(shape_.block_rows, shape_.rows - whole_rows_)) {
    throw std::logic_error("a block of vectors has another size");
  }
  const uint64_t hash =
      TextHash({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  const size_t block = whole_rows_ / shape_.block_rows;
  if (!WritePart(vectors_, whole_rows_ * shape_.width * sizeof(float), values.data(),
                 values.size_bytes()) ||
      ::fdatasync(vectors_) != 0 || !WritePart(blocks_, block * sizeof hash, &hash, sizeof hash)) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
  whole_rows_ += rows;
}

}  // namespace tandem::index

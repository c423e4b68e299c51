#include "embeddings/layouts/staged_rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "embeddings/open_file.h"

namespace tandem::embeddings {
namespace {

int OpenForChange(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw OutputError(path.native(), "cannot be opened for writing", errno);
  return descriptor;
}

}  // namespace

StagedRows::StagedRows(const std::filesystem::path& path, const StagedShape& shape, int threads)
    : path_(path),
      shape_{.rows = shape.rows, .block_rows = shape.block_rows},
      bytes_(RowPlace{.columns = shape.width}.OffsetOf(shape.rows)),
      values_(OpenForChange(path_)),
      hashes_(OpenForChange(std::filesystem::path(path_).replace_extension(".blocks"))),
      blocks_({values_.number(), path_, {.columns = shape.width}}, shape_,
              {.descriptor = hashes_.number()}) {
  TakeRoom();
  const std::vector<BlockState> states = blocks_.States(threads);
  const auto first = std::find_if(states.begin(), states.end(),
                                  [](BlockState state) { return state != BlockState::kWhole; });
  whole_rows_ = shape_.first_row(static_cast<size_t>(first - states.begin()));
}

void StagedRows::TakeRoom() {
  struct stat status {};
  if (::fstat(values_.number(), &status) != 0) {
    throw OutputError(path_.native(), "cannot be read", errno);
  }
  if (static_cast<uint64_t>(status.st_size) == bytes_) return;
  if (::ftruncate(values_.number(), 0) != 0 || ::ftruncate(hashes_.number(), 0) != 0) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
  int error = GiveSize(values_.number(), bytes_);
  if (error == 0) return;
  // Gives back the disk space that was taken, because it would be missing to whoever makes room.
  if (::ftruncate(values_.number(), 0) != 0) error = errno;
  throw OutputError(path_.native(),
                    fmt::format("cannot have the {} that the vectors of {} documents need",
                                FormatByteSize(bytes_), shape_.rows),
                    error);
}

void StagedRows::Append(std::span<const float> values) {
  const size_t block = whole_rows_ / shape_.block_rows;
  blocks_.Write(block, values);
  whole_rows_ += shape_.rows_of(block);
}

}  // namespace tandem::embeddings

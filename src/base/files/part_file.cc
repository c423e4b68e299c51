#include "base/files/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/files/files.h"

namespace tandem {
namespace {

// A descriptor of `part` that holds the lock, made where there is none.
int OpenLocked(const std::filesystem::path& path, const std::filesystem::path& part) {
  while (true) {
    const int descriptor = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) throw OutputError(path.native(), "cannot be created", errno);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor);
      throw UsageError(fmt::format("{}: another process writes it", part.native()));
    }
    if (IsStillAt(descriptor, part)) return descriptor;
    ::close(descriptor);
  }
}

}  // namespace

std::filesystem::path PartFile::PartOf(const std::filesystem::path& path) {
  return path.native() + ".part";
}

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)), part_(PartOf(path_)) {
  CheckCanBeFile(path_);
  descriptor_ = OpenLocked(path_, part_);
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) size_ = static_cast<uint64_t>(status.st_size);
}

PartFile::~PartFile() {
  if (descriptor_ < 0) return;
  if (size_ == 0) ::unlink(part_.c_str());
  ::close(descriptor_);
}

void PartFile::CutTo(uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw OutputError(part_.native(), "cannot be written", errno);
  }
  size_ = bytes;
}

void PartFile::TakeRoom(uint64_t bytes) {
  if (bytes <= size_) return;
  // The size stays that of what was written.
  if (::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return;
  const int error = errno;
  if (error != ENOSPC && error != EFBIG && error != EDQUOT) return;
  // What was taken would stand in the way of whoever makes room; failing to give it back is no
  // worse.
  if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) errno = error;
  throw OutputError(path_.native(),
                    fmt::format("cannot have the {} that it needs", FormatByteSize(bytes)), error);
}

void PartFile::Append(std::string_view bytes) {
  WriteAt(size_, bytes);
  size_ += bytes.size();
}

void PartFile::WriteAt(uint64_t offset, std::string_view bytes) {
  if (!WritePart(descriptor_, offset, bytes.data(), bytes.size())) {
    throw OutputError(part_.native(), "cannot be written", errno);
  }
}

void PartFile::Sync() {
  if (::fdatasync(descriptor_) != 0) throw OutputError(part_.native(), "cannot be written", errno);
}

void PartFile::Commit() {
  // Room beyond the end goes back.
  CutTo(size_);
  if (::fsync(descriptor_) != 0) throw OutputError(part_.native(), "cannot be written", errno);
  if (::rename(part_.c_str(), path_.c_str()) != 0) {
    throw OutputError(path_.native(), "cannot be put in place", errno);
  }
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace tandem

#include "embeddings/layouts/part_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/files/files.h"
#include "embeddings/open_file.h"

namespace tandem::embeddings {

std::filesystem::path PartFile::PartOf(const std::filesystem::path& path) {
  return path.native() + ".part";
}

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)), part_(PartOf(path_)) {
  CheckCanBeFile(path_);
  file_ = OpenLocked(part_, [this] {
    throw UsageError(fmt::format("{}: another process writes it", part_.native()));
  });
  if (descriptor() < 0) throw OutputError(path_.native(), "cannot be created", errno);
}

PartFile::~PartFile() {
  if (descriptor() >= 0 && Size() == 0) ::unlink(part_.c_str());
}

uint64_t PartFile::Size() const {
  struct stat status {};
  return ::fstat(descriptor(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

void PartFile::CutTo(uint64_t bytes) {
  if (::ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0) {
    throw OutputError(part_.native(), "cannot be written", errno);
  }
}

void PartFile::TakeRoom(uint64_t bytes) {
  const uint64_t size = Size();
  if (bytes <= size) return;
  int error = TakeRoomAhead(descriptor(), bytes);
  if (error == 0) return;
  // Gives back the disk space that was taken, because it would be missing to whoever makes room. It
  // does no further harm if this fails.
  if (::ftruncate(descriptor(), static_cast<off_t>(size)) != 0) error = errno;
  throw OutputError(path_.native(),
                    fmt::format("cannot have the {} that it needs", FormatByteSize(bytes)), error);
}

void PartFile::Append(std::string_view bytes) { WriteAt(Size(), bytes); }

void PartFile::WriteAt(uint64_t offset, std::string_view bytes) {
  if (!WritePart(descriptor(), offset, bytes.data(), bytes.size())) {
    throw OutputError(part_.native(), "cannot be written", errno);
  }
}

void PartFile::Sync() {
  if (::fdatasync(descriptor()) != 0) throw OutputError(part_.native(), "cannot be written", errno);
}

void PartFile::Commit() {
  // Room beyond the end goes back.
  CutTo(Size());
  if (::fsync(descriptor()) != 0) throw OutputError(part_.native(), "cannot be written", errno);
  if (::rename(part_.c_str(), path_.c_str()) != 0) {
    throw OutputError(path_.native(), "cannot be put in place", errno);
  }
  file_ = FileDescriptor();
}

}  // namespace tandem::embeddings

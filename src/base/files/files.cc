#include "base/files/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/files/temporary_paths.h"

namespace tandem {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;  // few system calls, little memory

int OpenForReading(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    throw DataError(path.native(), 0, "", fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  return descriptor;
}

struct stat StatOf(int descriptor, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw DataError(path.native(), 0, "", fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    throw DataError(path.native(), 0, "", "is a folder; a file was expected");
  }
  return status;
}

void WriteOrThrow(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
  if (!WriteAll(descriptor, bytes)) throw OutputError(path.native(), "cannot be written", errno);
}

}  // namespace

std::string ReadFile(const std::filesystem::path& path) {
  const FileDescriptor file(OpenForReading(path));
  const struct stat status = StatOf(file.number(), path);
  std::string bytes;
  bytes.reserve(static_cast<size_t>(status.st_size));
  char chunk[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.number(), chunk, sizeof chunk);
    if (count == 0) return bytes;
    if (count < 0) {
      if (errno == EINTR) continue;
      throw DataError(path.native(), 0, "",
                      fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    bytes.append(chunk, static_cast<size_t>(count));
  }
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const FileDescriptor file(OpenForReading(path));
  const struct stat status = StatOf(file.number(), path);
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (mapped == MAP_FAILED) {
    throw DataError(path.native(), 0, "",
                    fmt::format("cannot be mapped: {}", std::strerror(errno)));
  }
  data_ = static_cast<const char*>(mapped);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::ReleasePages() const {
  if (size_ > 0) ::madvise(const_cast<char*>(data_), size_, MADV_DONTNEED);  // a hint; may fail
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

void CheckCanBeFile(const std::filesystem::path& path) {
  std::error_code ignored;  // errors of the path show when it is opened
  if (std::filesystem::is_directory(path, ignored)) {
    throw OutputError(path.native(), "cannot be written as a file", EISDIR);
  }
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw OutputError(path.native(), "is no regular file, and is not replaced by one", EINVAL);
  }
}

std::optional<std::string> NameOfUnfinished(std::string_view name) {
  constexpr std::string_view kTemporary = ".tmp";
  const size_t end = name.rfind(kTemporary);
  if (end == name.npos) return std::nullopt;
  const std::string_view process = name.substr(end + kTemporary.size());
  if (process.empty() || process.find_first_not_of("0123456789") != process.npos) {
    return std::nullopt;
  }
  return std::string(name.substr(0, end));
}

void RemoveUnfinishedFiles(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (NameOfUnfinished(entry.path().filename().native())) {
      std::filesystem::remove(entry.path(), error);
    }
  }
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  CheckCanBeFile(path_);
  temporary_ = path_;
  temporary_ += fmt::format(".tmp{}", ::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw OutputError(path_.native(), "cannot be created", errno);
  AddTemporaryPath(temporary_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
  ForgetTemporaryPath(temporary_);
}

void AtomicFile::Flush() {
  WriteOrThrow(descriptor_, buffer_, path_);
  buffer_.clear();
}

void AtomicFile::Write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.append(bytes);
    return;
  }
  Flush();
  WriteOrThrow(descriptor_, bytes, path_);
}

void AtomicFile::WriteAt(size_t offset, std::string_view bytes) {
  Flush();
  if (!WritePart(descriptor_, offset, bytes.data(), bytes.size())) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
}

void AtomicFile::Commit() {
  Flush();
  if (::fsync(descriptor_) != 0) throw OutputError(path_.native(), "cannot be written", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw OutputError(path_.native(), "cannot be put in place", errno);
  }
  ForgetTemporaryPath(temporary_);
  ::close(descriptor_);
  descriptor_ = -1;
}

void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.Write(bytes);
  file.Commit();
}

void SyncFolder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw OutputError(folder.native(), "cannot be opened", errno);
  const int result = ::fsync(descriptor);
  const int error_number = errno;
  ::close(descriptor);
  // Some file systems have no way to flush a folder; that is no loss of data.
  if (result != 0 && error_number != EINVAL && error_number != EROFS) {
    throw OutputError(folder.native(), "cannot be flushed", error_number);
  }
}

void MakeFolder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw OutputError(path.native(), "cannot be made as a folder", error.value());
  if (!std::filesystem::is_directory(path)) {
    throw OutputError(path.native(), "cannot be made as a folder", ENOTDIR);
  }
}

}  // namespace tandem

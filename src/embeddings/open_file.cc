#include "embeddings/open_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace tandem::embeddings {

FileDescriptor OpenLocked(const std::filesystem::path& path, const std::function<void()>& busy) {
  while (true) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.number() < 0) return file;
    while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return file;  // no locks here
      busy();
    }
    // Another process may have put a file in its place, or taken the name away, meanwhile.
    if (IsStillAt(file.number(), path)) return file;
  }
}

bool IsFull(int error) { return error == ENOSPC || error == EFBIG || error == EDQUOT; }

int GiveSize(int descriptor, uint64_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  const int error = bytes == 0 ? EINVAL : ::posix_fallocate(descriptor, 0, size);
  if (error == 0 || IsFull(error)) return error;
  return ::ftruncate(descriptor, size) == 0 ? 0 : errno;
}

int TakeRoomAhead(int descriptor, uint64_t bytes) {
  if (::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return 0;
  return IsFull(errno) ? errno : 0;
}

}  // namespace tandem::embeddings

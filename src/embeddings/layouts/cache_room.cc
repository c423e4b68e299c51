#include "embeddings/layouts/cache_room.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>

#include "base/files/file_parts.h"

namespace tandem::embeddings {
namespace {

// Takes the name of a file away that no process fills. The lock is held meanwhile, so that nobody
// begins to: whoever waits for it looks again whether the file still has its name (OpenLocked).
bool RemoveUnlocked(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return false;
  const bool locked = ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK) return false;  // else there are no locks here
  return IsStillAt(file.number(), path) && ::unlink(path.c_str()) == 0;
}

}  // namespace

std::vector<CachedFile> CachedFilesIn(const std::filesystem::path& folder) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != kCacheSuffix) continue;
    std::error_code ignored;  // another process may have removed it meanwhile
    if (!at->is_regular_file(ignored)) continue;
    const uint64_t bytes = at->file_size(ignored);
    const auto used = ignored ? std::filesystem::file_time_type() : at->last_write_time(ignored);
    if (!ignored) files.push_back({at->path(), bytes, used});
  }
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  return files;
}

CacheRoom MakeRoom(const std::filesystem::path& folder, uint64_t bytes, uint64_t limit) {
  CacheRoom room;
  if (bytes > limit) return room;
  const std::vector<CachedFile> files = CachedFilesIn(folder);
  uint64_t held = 0;
  for (const CachedFile& file : files) held += file.bytes;
  for (const CachedFile& file : files) {
    if (held + bytes <= limit) break;
    if (!RemoveUnlocked(file.path)) continue;
    held -= file.bytes;
    room.freed += file.bytes;
    ++room.removed;
  }
  room.enough = held + bytes <= limit;
  return room;
}

void MarkUsed(const std::filesystem::path& path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

}  // namespace tandem::embeddings

// Room for a further file of the cache: the folder's files have a limit together, and those whose
// last use is longest ago go first.
//
// A file was last used when its time of modification says: whoever reads a file of the cache sets
// it (MarkUsed), because many file systems do not keep the time of reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace tandem::embeddings {

// How the names of the cache's files end. Other files in the folder are left alone.
inline constexpr const char* kCacheSuffix = ".embeddings";

struct CachedFile {
  std::filesystem::path path;
  uint64_t bytes = 0;
  std::filesystem::file_time_type used;
};

// The files of the cache in `folder`, those whose last use is longest ago first; equal times go by
// name. Empty where the folder cannot be read.
std::vector<CachedFile> CachedFilesIn(const std::filesystem::path& folder);

struct CacheRoom {
  bool enough = false;  // the limit leaves `bytes`
  size_t removed = 0;   // files
  uint64_t freed = 0;   // bytes of these
};

// Removes files until `bytes` more fit into `limit`, and no more than that: none where `bytes`
// alone are above the limit. A file that another process fills (it holds the lock) stays; one that
// is being read stays to its reader until that ends. Files that cannot be removed are left.
CacheRoom MakeRoom(const std::filesystem::path& folder, uint64_t bytes, uint64_t limit);

// Sets the time of the file's last use to now; nothing happens where that is not allowed.
void MarkUsed(const std::filesystem::path& path);

}  // namespace tandem::embeddings

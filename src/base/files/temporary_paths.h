// The files and folders of this process that are not complete yet, so that a process that is told
// to stop at once leaves none of them.
#pragma once

#include <filesystem>
#include <mutex>
#include <utility>

namespace tandem {

// Registers the path of a temporary file or folder, and takes it off again. Whoever makes the file
// removes it, too; this is for a process that ends without destructors.
void AddTemporaryPath(const std::filesystem::path& path);
void ForgetTemporaryPath(const std::filesystem::path& path);

// Registers a path while the object exists.
class TemporaryPath {
 public:
  explicit TemporaryPath(std::filesystem::path path) : path_(std::move(path)) {
    AddTemporaryPath(path_);
  }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  ~TemporaryPath() { ForgetTemporaryPath(path_); }

 private:
  std::filesystem::path path_;
};

// While the lock is held nothing is removed: for what must not stop in its middle, such as the two
// renames that put a folder in another's place.
std::unique_lock<std::mutex> KeepTemporaryPaths();

// Removes all registered files and folders, and lets no thread register or keep others afterwards:
// the caller must end the process next. Does not throw. Not for signal handlers: it takes locks.
void RemoveTemporaryPaths();

}  // namespace tandem

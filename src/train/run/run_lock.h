// A lock that lets only one process at a time train into a run folder.
#pragma once

#include <filesystem>

namespace tandem::train {

// While an object exists, no other process can make one for the same file. The kernel holds the
// lock (flock) and drops it when the process ends, however that happens; the file itself stays.
class RunLock {
 public:
  // Makes the file if it is missing and writes this process and its host into it. Throws UsageError
  // that names process and host if another process holds the lock, and OutputError if the file
  // cannot be made. Warns if the file system has no locks, and then holds none.
  explicit RunLock(const std::filesystem::path& file);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  int descriptor_ = -1;
};

}  // namespace tandem::train

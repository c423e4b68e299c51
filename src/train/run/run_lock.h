// One process at a time trains into a run folder.
#pragma once

#include <filesystem>

namespace tandem::train {

// While one is alive, no other process can make one of the same file. The kernel keeps the lock
// (flock) and drops it with the process, however that ends; the file itself stays.
class RunLock {
 public:
  // Makes the file where it is missing and writes this process and its host into it. Throws
  // UsageError that names process and host where another process holds the lock, OutputError for a
  // file that cannot be made. Warns where the file system knows no locks, and holds none then.
  explicit RunLock(const std::filesystem::path& file);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  int descriptor_ = -1;
};

}  // namespace tandem::train

// A folder that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <optional>

#include "base/files/temporary_paths.h"

namespace tandem {

// Files go to `staging()`, a hidden folder beside `path`; Commit flushes it and puts it in place,
// exchanging it with an existing folder in one step where the file system can. Without Commit the
// destructor removes it and what was at `path` stays. Throws OutputError.
class AtomicFolder {
 public:
  explicit AtomicFolder(std::filesystem::path path);
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  ~AtomicFolder();

  const std::filesystem::path& staging() const { return staging_; }
  void Commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path staging_;
  std::optional<TemporaryPath> registered_;
  bool committed_ = false;
};

}  // namespace tandem

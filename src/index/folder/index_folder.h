// Changing an index: one process at a time, and nothing that was there is lost.
//
// A change writes new files beside the old ones, in folders and under names that index.json does
// not have yet, then replaces index.json; what it no longer names is removed afterwards. Killed at
// any moment, the folder is the old index or the new one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/folder/manifest.h"

namespace tandem::index {

// The lock of those that change an index (flock): the kernel drops it with the process.
class IndexLock {
 public:
  // Makes the folder where it is not there. Throws UsageError where another process has the lock,
  // OutputError where the folder cannot be written. Where the file system has no locks, there is
  // none.
  explicit IndexLock(const std::filesystem::path& folder);
  IndexLock(const IndexLock&) = delete;
  IndexLock& operator=(const IndexLock&) = delete;
  ~IndexLock();

  // Removes its file and the folder, those of them that it made, where nothing else lies there.
  void Unmake();

 private:
  void Lock();

  std::filesystem::path folder_;
  bool made_folder_ = false;
  bool made_file_ = false;
  int descriptor_ = -1;
};

// What a change makes until index.json names it.
class UnfinishedChange {
 public:
  // Unless the change can be taken up again, all of it is removed where it does not come to its
  // end, and what `lock` made too. `lock` may be null, and else must outlive this.
  UnfinishedChange(bool can_go_on, IndexLock* lock) : can_go_on_(can_go_on), lock_(lock) {}
  UnfinishedChange(const UnfinishedChange&) = delete;
  UnfinishedChange& operator=(const UnfinishedChange&) = delete;
  ~UnfinishedChange();

  // Names a file or folder that is made or about to be.
  void Made(std::filesystem::path path) { made_.push_back(std::move(path)); }
  void Finish() { finished_ = true; }

 private:
  bool can_go_on_;
  IndexLock* lock_;
  bool finished_ = false;
  std::vector<std::filesystem::path> made_;
};

// Says whether there is an index.json.
bool IsIndex(const std::filesystem::path& folder);

// Throws UsageError where the folder holds anything that no index and no interrupted building of
// one would have there: an index must not be built among other files. Names alone are not trusted
// where neither the lock nor index.json is there.
void CheckOnlyIndexFiles(const std::filesystem::path& folder);

// Throws UsageError where the model's folder is in that of the index, such as the copy of the index
// that is to be replaced, which goes with it.
void CheckModelIsElsewhere(const std::filesystem::path& folder, const std::filesystem::path& model);

// Throws UsageError where there is an index and `replace` is false.
void CheckReplaceable(const std::filesystem::path& folder, bool replace);

// "segment-000004", "removed-000004.bits", "model-000004", "work-0123456789abcdef".
std::string SegmentName(uint64_t generation);
std::string RemovalName(uint64_t generation);
std::string ModelName(uint64_t generation);
std::string WorkName(uint64_t key);

// Removes what the index does not name: segments and marks of before, files that a segment needed
// while it was made. Files of other names stay. Errors are ignored: the next change tries again.
void RemoveUnnamed(const std::filesystem::path& folder, const Manifest& manifest);
// Removes the work of changes that did not come to their end.
void RemoveWork(const std::filesystem::path& folder);

}  // namespace tandem::index

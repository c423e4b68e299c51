#include "base/files/atomic_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"

namespace tandem {
namespace {

// "folder/" names the same folder as "folder".
std::filesystem::path WithoutTrailingSlash(std::filesystem::path path) {
  path = std::filesystem::absolute(path).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void SyncTree(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) SyncFolder(entry.path());
  }
  SyncFolder(folder);
}

void Rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw OutputError(to.native(), "cannot be put in place", errno);
  }
}

// Exchanges two names in one step; false where the file system cannot.
bool Exchange(const std::filesystem::path& a, const std::filesystem::path& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return false;
  throw OutputError(b.native(), "cannot be put in place", errno);
}

// Removes folders that killed processes left: ".NAME.tmpPID" of a process that is gone.
void RemoveLeftovers(const std::filesystem::path& parent, const std::string& prefix) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().native();
    if (!name.starts_with(prefix)) continue;
    pid_t process = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + prefix.size(), end, process);
    if (parsed.ec != std::errc() || parsed.ptr != end || process <= 0) continue;
    const bool gone = ::kill(process, 0) != 0 && errno == ESRCH;
    if (gone || process == ::getpid()) std::filesystem::remove_all(entry.path(), error);
  }
}

}  // namespace

AtomicFolder::AtomicFolder(std::filesystem::path path)
    : path_(WithoutTrailingSlash(std::move(path))) {
  const std::string prefix = fmt::format(".{}.tmp", path_.filename().native());
  RemoveLeftovers(path_.parent_path(), prefix);
  staging_ = path_.parent_path() / fmt::format("{}{}", prefix, ::getpid());
  registered_.emplace(staging_);
  MakeFolder(staging_);
}

AtomicFolder::~AtomicFolder() {
  if (committed_) return;
  std::error_code error;
  std::filesystem::remove_all(staging_, error);
}

void AtomicFolder::Commit() {
  SyncTree(staging_);
  const std::filesystem::path old = staging_.native() + ".old";
  std::unique_lock<std::mutex> lock = KeepTemporaryPaths();
  if (!std::filesystem::exists(path_)) {
    Rename(staging_, path_);
  } else if (!Exchange(staging_, path_)) {
    // Two steps: between them there is no folder of that name, but both are complete.
    Rename(path_, old);
    Rename(staging_, path_);
    staging_ = old;
  }
  lock.unlock();
  registered_.emplace(staging_);
  committed_ = true;
  SyncFolder(path_.parent_path());
  std::error_code error;
  std::filesystem::remove_all(staging_, error);  // now holds what was at path_ before
}

}  // namespace tandem

#include "index/folder/index_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/error.h"
#include "base/files/files.h"

namespace tandem::index {
namespace {

constexpr const char* kLockName = "lock";
constexpr std::string_view kSegmentPrefix = "segment-";
constexpr std::string_view kWorkPrefix = "work-";
constexpr std::string_view kModelPrefix = "model-";
constexpr std::string_view kTemporaryPrefix = "index.json.tmp";  // of an AtomicFile
constexpr size_t kGenerationDigits = 6;
constexpr size_t kKeyDigits = 16;

// Says whether `name` is the prefix and then `least` or more of `digits`.
bool IsNumbered(std::string_view name, std::string_view prefix, size_t least,
                std::string_view digits = "0123456789") {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return name.size() >= least && name.find_first_not_of(digits) == std::string_view::npos;
}

bool IsWork(std::string_view name) {
  return IsNumbered(name, kWorkPrefix, kKeyDigits, "0123456789abcdef");
}

// Whole names, not beginnings: what has another name may be its user's, and is never removed.
bool IsOurs(std::string_view name) {
  return name == kLockName || name == kManifestName || IsNumbered(name, kTemporaryPrefix, 1) ||
         IsNumbered(name, kSegmentPrefix, kGenerationDigits) ||
         IsNumbered(name, kModelPrefix, kGenerationDigits) || IsWork(name);
}

std::string FirstPart(const std::string& path) { return path.substr(0, path.find('/')); }

// Removes entries of `folder` that `keep` refuses.
template <typename Keep>
void RemoveOthers(const std::filesystem::path& folder, const Keep& keep) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!keep(entry.path().filename().native())) {
      std::filesystem::remove_all(entry.path(), error);
    }
  }
}

// Says whether `path` names the open file.
bool IsAt(int descriptor, const std::filesystem::path& path) {
  struct stat open = {}, named = {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

IndexLock::IndexLock(const std::filesystem::path& folder) : folder_(folder) {
  const std::filesystem::path path = folder / kLockName;
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    std::error_code error;
    made_folder_ = !std::filesystem::exists(folder, error);
    MakeFolder(folder);
    made_file_ = !std::filesystem::exists(path, error);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw OutputError(path.native(), "cannot be opened for writing", errno);
    Lock();
  } while (!IsAt(descriptor_, path));  // its owner has unmade it meanwhile
}

void IndexLock::Lock() {
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;  // no locks here
    ::close(descriptor_);
    throw UsageError(fmt::format(
        "{}: another process, or another call of this one, is changing this index; wait "
        "until it has ended",
        folder_.native()));
  }
}

void IndexLock::Unmake() {
  if (made_file_) ::unlink((folder_ / kLockName).c_str());
  if (made_folder_) ::rmdir(folder_.c_str());
}

IndexLock::~IndexLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

UnfinishedChange::~UnfinishedChange() {
  if (finished_ || can_go_on_) return;
  std::error_code ignored;
  for (const std::filesystem::path& path : made_) std::filesystem::remove_all(path, ignored);
  if (lock_ != nullptr) lock_->Unmake();
}

bool IsIndex(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / kManifestName, error);
}

void CheckOnlyIndexFiles(const std::filesystem::path& folder) {
  std::error_code error;
  const bool was_begun = IsIndex(folder) || std::filesystem::exists(folder / kLockName, error);
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().native();
    if (was_begun && IsOurs(name)) continue;
    throw UsageError(
        fmt::format("{}: holds {}, which belongs to no index; give a new folder for the index",
                    folder.native(), name));
  }
}

void CheckModelIsElsewhere(const std::filesystem::path& folder,
                           const std::filesystem::path& model) {
  std::error_code error;
  const std::filesystem::path within =
      std::filesystem::weakly_canonical(model, error)
          .lexically_relative(std::filesystem::weakly_canonical(folder, error));
  if (error || within.empty() || *within.begin() == "..") return;
  throw UsageError(fmt::format(
      "{}: the model lies in the folder of the index, where building removes what was before; "
      "--with-model copies it into the new index",
      model.native()));
}

void CheckReplaceable(const std::filesystem::path& folder, bool replace) {
  if (replace || !IsIndex(folder)) return;
  throw UsageError(fmt::format(
      "{}: is an index already; --replace builds it anew, `tandem index add` adds to it",
      folder.native()));
}

std::string SegmentName(uint64_t generation) {
  return fmt::format("{}{:06}", kSegmentPrefix, generation);
}
std::string RemovalName(uint64_t generation) {
  return fmt::format("removed-{:06}.bits", generation);
}
std::string ModelName(uint64_t generation) {
  return fmt::format("{}{:06}", kModelPrefix, generation);
}
std::string WorkName(uint64_t key) { return fmt::format("{}{:016x}", kWorkPrefix, key); }

void RemoveUnnamed(const std::filesystem::path& folder, const Manifest& manifest) {
  std::set<std::string> named = {kLockName, std::string(kManifestName)};
  for (const IndexFile& file : manifest.model_files) named.insert(FirstPart(file.name));
  for (const SegmentRecord& segment : manifest.segments) {
    named.insert(segment.name);
    std::set<std::string> files;
    for (const IndexFile& file : segment.files) files.insert(file.name);
    RemoveOthers(folder / segment.name,
                 [&](const std::string& name) { return files.contains(name); });
  }
  RemoveOthers(folder, [&](const std::string& name) {
    return !IsOurs(name) || IsWork(name) || named.contains(name);
  });
}

void RemoveWork(const std::filesystem::path& folder) {
  RemoveOthers(folder, [](const std::string& name) { return !IsWork(name); });
}

}  // namespace tandem::index

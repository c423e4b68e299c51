#include "base/files/temporary_paths.h"

#include <set>
#include <system_error>
#include <utility>

namespace tandem {
namespace {

// Never destroyed: a thread may remove the paths while the process exits.
struct Registry {
  std::mutex mutex;
  std::multiset<std::filesystem::path> paths;
};

Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

void AddTemporaryPath(const std::filesystem::path& path) {
  std::filesystem::path absolute = std::filesystem::absolute(path);
  const std::unique_lock lock(TheRegistry().mutex);
  TheRegistry().paths.insert(std::move(absolute));
}

void ForgetTemporaryPath(const std::filesystem::path& path) {
  const std::filesystem::path absolute = std::filesystem::absolute(path);
  const std::unique_lock lock(TheRegistry().mutex);
  const auto found = TheRegistry().paths.find(absolute);
  if (found != TheRegistry().paths.end()) TheRegistry().paths.erase(found);
}

std::unique_lock<std::mutex> KeepTemporaryPaths() { return std::unique_lock(TheRegistry().mutex); }

void RemoveTemporaryPaths() {
  TheRegistry().mutex.lock();  // for good
  for (const std::filesystem::path& path : TheRegistry().paths) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

}  // namespace tandem

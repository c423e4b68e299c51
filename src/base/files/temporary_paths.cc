#include "base/files/temporary_paths.h"

#include <chrono>
#include <set>
#include <system_error>
#include <thread>
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

// Another thread may put one more file into a folder while this one empties it; the next that it
// makes waits for the lock.
void RemoveWhileOthersWrite(const std::filesystem::path& path) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
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
  for (const std::filesystem::path& path : TheRegistry().paths) RemoveWhileOthersWrite(path);
}

}  // namespace tandem

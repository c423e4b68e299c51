#include "train/run/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"

namespace tandem::train {
namespace {

// Two states last only a moment: another process may test the lock when it starts, or may have
// taken it without having written its name yet. A few attempts wait for both to pass.
constexpr int kAttempts = 10;
constexpr auto kPause = std::chrono::milliseconds(50);

// Returns the name that the holder of the lock writes: "process 1234 on host.example".
std::string ThisProcess() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"an unknown host"};
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

std::string HolderIn(const std::filesystem::path& file) {
  std::string holder = ReadFile(file);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "another process" : holder;
}

enum class Attempt { kTaken, kHeld, kNoLocks };

Attempt TryLock(int descriptor, const std::filesystem::path& file) {
  for (int attempt = 1;; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return Attempt::kTaken;
    if (errno == EINTR) continue;
    if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) return Attempt::kNoLocks;
    if (errno != EWOULDBLOCK) throw OutputError(file.native(), "cannot be locked", errno);
    if (attempt >= kAttempts) return Attempt::kHeld;
    std::this_thread::sleep_for(kPause);
  }
}

void WriteHolder(int descriptor, const std::filesystem::path& file) {
  const std::string holder = ThisProcess() + "\n";
  const bool written =
      ::ftruncate(descriptor, 0) == 0 &&
      ::pwrite(descriptor, holder.data(), holder.size(), 0) == static_cast<ssize_t>(holder.size());
  if (!written) throw OutputError(file.native(), "cannot be written", errno);
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& file) {
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw OutputError(file.native(), "cannot be made", errno);
  try {
    switch (TryLock(descriptor_, file)) {
      case Attempt::kTaken:
        WriteHolder(descriptor_, file);
        break;
      case Attempt::kHeld:
        throw UsageError(fmt::format(
            "{}: {} is training in this folder; wait until it has ended or stop it, or give "
            "another --output",
            file.parent_path().native(), HolderIn(file)));
      case Attempt::kNoLocks:
        Warn(
            fmt::format("{}: the file system has no locks ({}); start no second process in this "
                        "run folder while this one runs",
                        file.native(), std::strerror(errno)));
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

RunLock::~RunLock() { ::close(descriptor_); }

}  // namespace tandem::train

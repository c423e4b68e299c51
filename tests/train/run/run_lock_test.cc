#include "train/run/run_lock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "base/files/files.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"

namespace tandem::train {
namespace {

// A process that takes the lock, says so through a pipe, and sleeps until it is killed.
class Holder {
 public:
  explicit Holder(const std::filesystem::path& file) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      const RunLock lock(file);
      const bool told = ::write(ends[1], "x", 1) == 1;
      while (told) ::pause();
      ::_exit(1);
    }
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
  }
  ~Holder() { Kill(); }
  void Kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  pid_t process() const { return process_; }

 private:
  pid_t process_ = -1;
};

std::string HostName() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

TEST(RunLock, OneProcessAtATimeAndTheOtherIsNamed) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "run.lock";
  Holder holder(file);
  ExpectError(
      [&] { RunLock lock(file); }, ExitCode::kUsage,
      {fmt::format("process {} on {} is training in this folder", holder.process(), HostName())});
  holder.Kill();  // nobody cleans up
  const RunLock lock(file);
  EXPECT_EQ(ReadFile(file), fmt::format("process {} on {}\n", ::getpid(), HostName()));
}

TEST(RunLock, IsFreeAgainWhenItsOwnerIsGone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "run.lock";
  { const RunLock lock(file); }
  const RunLock again(file);
}

TEST(RunLock, AFileThatCannotBeMadeIsAnError) {
  const TemporaryFolder folder;
  ExpectError([&] { RunLock lock(folder.path() / "none" / "run.lock"); }, ExitCode::kUsage,
              {"run.lock", "cannot be made"});
}

}  // namespace
}  // namespace tandem::train

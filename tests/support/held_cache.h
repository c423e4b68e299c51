// A cache whose files another process holds, so that a test meets the program while it scores.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {

// Takes the hash of its first block from every file of embeddings, and holds the files' locks: a
// process that wants the embeddings waits until this one is gone.
class HeldCache {
 public:
  explicit HeldCache(const std::filesystem::path& cache) {
    constexpr off_t kHashes = 4096;  // embeddings/layouts/cache_file.h
    for (const auto& entry : std::filesystem::directory_iterator(cache / "embeddings")) {
      const int file = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
      const uint64_t missing = 0;
      EXPECT_EQ(::pwrite(file, &missing, sizeof missing, kHashes), sizeof missing);
      EXPECT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
      files_.push_back(file);
    }
    EXPECT_FALSE(files_.empty());
  }
  HeldCache(const HeldCache&) = delete;
  HeldCache& operator=(const HeldCache&) = delete;
  ~HeldCache() {
    for (const int file : files_) ::close(file);
  }

 private:
  std::vector<int> files_;
};

// Runs the program until it waits for a HeldCache, and sends it `signal` there. A program that goes
// on waiting is killed after a minute.
inline ProgramResult InterruptTandem(const std::vector<std::string>& arguments, int signal) {
  const TemporaryFolder folder;
  const StandardStreams streams{
      .in = "/dev/null", .out = folder.path() / "out", .err = folder.path() / "err"};
  const pid_t child = StartTandem(arguments, streams);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  int status = 0;
  bool sent = false;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (!sent && std::filesystem::exists(streams.err) &&
        ReadFile(streams.err).find("waiting for another process") != std::string::npos) {
      ::kill(child, signal);
      sent = true;
    }
    if (std::chrono::steady_clock::now() > end) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(sent);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), ReadFile(streams.out),
          ReadFile(streams.err)};
}

}  // namespace tandem

#include "cli/process/signal_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"

namespace tandem::app {
namespace {

using Handler = void (*)(int);

Handler HandlerOf(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(SignalWatch, NotesASignalAndPutsBackWhatWasThere) {
  const Handler before = HandlerOf(SIGTERM);
  {
    const SignalWatch watch;
    EXPECT_EQ(SignalWatch::Received(), 0);
    std::raise(SIGTERM);
    EXPECT_EQ(SignalWatch::Received(), SIGTERM);
  }
  EXPECT_EQ(HandlerOf(SIGTERM), before);
}

// In a process of its own, which the second signal ends.
[[noreturn]] void GetTwoSignals(const std::filesystem::path& folder) {
  const CapturedMessages captured(ProgressView::kNone);
  const SignalWatch watch("a test");
  AtomicFile* const file = new AtomicFile(folder / "file");
  file->Write("begun");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // a block
  static_cast<void>(SignalWatch::Received());
  std::raise(SIGINT);
  while (captured.text().empty()) std::this_thread::yield();
  std::fputs(captured.text().c_str(), stderr);
  std::raise(SIGINT);
  while (true) ::pause();
}

TEST(SignalWatch, SaysThatItFinishesAndEndsAtTheSecondSignal) {
  const TemporaryFolder folder;
  EXPECT_EXIT(GetTwoSignals(folder.path()), testing::ExitedWithCode(130),
              "finishing a test \\(up to 1 s\\); again to stop at once");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// In a process of its own, whose work has not asked yet; with a share of 0 it tells none.
[[noreturn]] void GetASignalInAFirstBlock(double share) {
  const CapturedMessages captured(ProgressView::kNone);
  const SignalWatch watch("a test");
  std::this_thread::sleep_for(std::chrono::milliseconds(600));  // what is no part of the block
  SignalWatch::DoneOfPart(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  SignalWatch::DoneOfPart(share);
  std::raise(SIGINT);
  while (captured.text().empty()) std::this_thread::yield();
  std::fputs(captured.text().c_str(), stderr);
  std::_Exit(0);
}

TEST(SignalWatch, SaysHowLongAFirstBlockTakesFromTheShareThatIsDone) {
  EXPECT_EXIT(GetASignalInAFirstBlock(0.02), testing::ExitedWithCode(0),
              "finishing a test \\(up to [1-3][0-9] s\\); again to stop at once");  // 0.3 s / 0.02
  EXPECT_EXIT(GetASignalInAFirstBlock(0), testing::ExitedWithCode(0),
              "finishing a test; again to stop at once");
}

TEST(SignalWatch, LeavesIgnoredSignalsIgnored) {
  const Handler before = std::signal(SIGINT, SIG_IGN);
  {
    const SignalWatch watch;
    std::raise(SIGINT);
    EXPECT_EQ(SignalWatch::Received(), 0);
  }
  EXPECT_EQ(HandlerOf(SIGINT), SIG_IGN);
  std::signal(SIGINT, before);
}

}  // namespace
}  // namespace tandem::app
